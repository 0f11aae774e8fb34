"""doit's entry to this project: `doit list`, `doit run case:NAME`.

The cases' tasks are made by evalkit's loader ([tool.doit] in pyproject.toml). Tasks of your own go below, as in any
dodo.py.
"""

DOIT_CONFIG = {"verbosity": 0}
