"""Diagnostics for programs: JSON, and the annotations of GitHub's checks.

Lines and columns are counted from 1, columns in characters; an end is the place behind the last character.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evalkit.diagnostics.diagnostic import Diagnostic, Span
from evalkit.diagnostics.snippet import in_order

__all__ = ["SCHEMA", "as_data", "as_github"]

SCHEMA = 1
"""The version of the JSON form; a change that an old reader cannot bear raises it."""


def as_data(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """Plain data: `{"schema": 1, "findings": [{code, severity, message, file, line, …, help, notes}]}`."""
    return {"schema": SCHEMA, "findings": [
        {"code": item.code, "severity": item.severity, "message": _clean(item.message), **_place(item.span),
         "help": _clean(item.help),
         "notes": [{"message": _clean(message), **_place(span)} for message, span in item.notes]}
        for item in in_order(diagnostics)]}


def _place(span: Span) -> dict[str, Any]:
    end_line, end_column = span.source.position(span.end)
    return {"file": span.source.shown, "line": span.line, "column": span.column,
            "end_line": end_line, "end_column": end_column}


def as_github(diagnostics: Iterable[Diagnostic], *, within: str = "") -> str:
    """A workflow command a diagnostic, one a line. `within`: the project's folder within the repository, or ""."""
    prefix = f"{within}/" if within else ""
    lines = []
    for item in in_order(diagnostics):
        places = {"file": f"{prefix}{item.span.source.shown}", "line": item.span.line, "col": item.span.column,
                  "title": item.code}
        notes = [f"{message}: {prefix}{span}" for message, span in item.notes]
        properties = ",".join(f"{name}={_property(str(value))}" for name, value in places.items())
        text = _escaped("\n".join([item.message, *notes, *([item.help] if item.help else [])]))
        lines.append(f"::{item.severity} {properties}::{text}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return _clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _clean(text: str) -> str:
    """Without halves of surrogate pairs (the name of a file that is not UTF-8 has them), which no output takes."""
    return text.encode("utf-8", "backslashreplace").decode()
