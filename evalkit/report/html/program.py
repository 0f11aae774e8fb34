"""What report.html is made of, but the run: its template, its style and the parts of its script, as files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["program", "program_files", "template"]

_FOLDER = Path(__file__).parent
_TEMPLATE, _STYLE = "templates/report.html.j2", "static/style.css"
_SCRIPTS = ("dom.js", "state.js", "matrix.js", "list.js", "diff.js", "talk.js", "search.js", "checks.js", "parts.js",
            "trial.js", "keys.js", "main.js")
"""The parts of the page's script, in their order."""


def program_files() -> list[str]:
    """Where all of it is: where one of them is another by now, so is the page."""
    return [f"{_FOLDER}/{name}" for name in (_TEMPLATE, _STYLE, "page.py", *(f"static/{name}" for name in _SCRIPTS))]


@cache
def template() -> str:
    return (_FOLDER / _TEMPLATE).read_text(encoding="utf-8")


@cache
def program() -> tuple[str, str]:
    """The page's script and its style."""
    parts = "\n".join((_FOLDER / "static" / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n', (_FOLDER / _STYLE).read_text(encoding="utf-8")
