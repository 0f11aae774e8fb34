"""Transcripts of calls for tests, and cases that expect some."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from evalkit.analysis.model import CallsSpec, StateSpec
from evalkit.analysis.resolve import compile_units
from evalkit.diagnostics import render_all
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Ended, Message, ToolCall, ToolResult, Writer
from evalkit.syntax import Source, parse

__all__ = ["Made", "calls_of", "recorded", "state_of"]

Made: TypeAlias = tuple[Any, ...]
"""A call: its name (with `query` or `get` it only reads), its arguments, its answer, and what came of it."""


def _checks(folder: Path, statements: str) -> list[Any]:
    """The specs of the checks of a case with these statements."""
    suite = 'suite s { agent tools { registry "a:b" } }\n'
    files = []
    case = f'case it "Do." {{\nuse agent tools\n{statements}\n}}\n'
    for name, text in {"suite.eval": suite, "it.eval": case}.items():
        path = folder / "cases" / "s" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        file, errors = parse(Source(path, f"cases/s/{name}", text))
        assert "" == render_all(errors)
        files.append((path, file))
    units, _, errors = compile_units(folder, files)
    assert "" == render_all(errors)
    return [check.spec for check in units["it"][0].checks]


def calls_of(folder: Path, statements: str) -> CallsSpec:
    """What `expect` and `never` statements compile to."""
    return next(spec for spec in _checks(folder, statements) if isinstance(spec, CallsSpec))


def state_of(folder: Path, statement: str) -> StateSpec:
    """What a `check state` compiles to."""
    return next(spec for spec in _checks(folder, statement) if isinstance(spec, StateSpec))


def recorded(path: Path, *made: Made) -> Path:
    """A transcript with these calls, one after the other. The answer of one is its text, `{}` where none is given."""
    with path.open("wb") as sink:
        writer = Writer(sink, Redactor(()), "tools")
        writer.write(Message("user", "Do."))
        for number, (name, arguments, *rest) in enumerate(made):
            reads = name.startswith(("query", "get"))
            call = ToolCall(f"c{number}", name, arguments, tool="read" if reads else "other")
            writer.write(call)
            status: Any = rest[1] if len(rest) > 1 else "ok"
            if status != "missing":
                writer.write(ToolResult(call, status, ran=status == "ok", text=rest[0] if rest else "{}"))
        writer.write(Ended("end"))
    return path
