"""What is wrong in a case file, as data; and how it is shown.

Its names are imported when they are first asked for: where nothing is wrong, nothing of this is needed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.diagnostics.diagnostic import CaseErrors, Diagnostic, Severity, Span
    from evalkit.diagnostics.snippet import render, render_all
    from evalkit.diagnostics.suggest import did_you_mean, nearest

__all__ = ["CaseErrors", "Diagnostic", "Severity", "Span", "did_you_mean", "nearest", "render", "render_all"]
_MODULES = {"render": "snippet", "render_all": "snippet", "did_you_mean": "suggest",
            "nearest": "suggest"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'diagnostic')}"), name)
