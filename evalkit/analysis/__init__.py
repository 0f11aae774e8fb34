"""Nodes -> compiled cases: names resolved, levels merged, files found, regexes and placeholders checked.

Nothing is imported here: a command that only asks the index (index.py) starts without the compiler.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalkit.analysis.project import Project, load_project

__all__ = ["Project", "load_project"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from evalkit.analysis import project

        return getattr(project, name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
