"""evalkit: measures whether an AI coding agent does a job right.

The stages, in the order in which data flows (imports go the same way; a test enforces it)::

    syntax     text            -> nodes
    analysis   nodes           -> compiled cases
    plan       compiled cases  -> trials and their keys
    execute    trial           -> outcome (toolchain, workspace, agent)
    grade      outcome         -> verdict per check
    report     verdicts        -> records, tables
    dag        all of it       -> doit
"""

__version__ = "0.1.0"
