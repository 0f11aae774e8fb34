"""Diagnostics are data: a stage returns all that it finds, one printer words and draws them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from evalkit.errors import UserError
from evalkit.values import Value

__all__ = ["CaseErrors", "Diagnostic", "Severity", "SourceLike", "Span"]

Severity: TypeAlias = Literal["error", "warning"]


class SourceLike(Protocol):
    """A text with a name: what a span points into and the printer draws from."""

    @property
    def path(self) -> Path: ...
    @property
    def shown(self) -> str: ...
    @property
    def text(self) -> str: ...
    def position(self, offset: int) -> tuple[int, int]: ...


class Span(Value):
    """A piece of a source, as character offsets [start, end)."""

    source: SourceLike
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line of the first character, counted from 1."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The column of the first character, counted from 1, in characters."""
        return self.source.position(self.start)[1]

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.shown}:{line}:{column}"


class Diagnostic(Value):
    """One thing that is wrong: where, what, and what would be right.

    The code says how bad it is: with an error (`E012`) a case cannot be used; with a warning (`W001`) it can, but what
    it measures is in doubt. `notes` may point at other places (the first of two equal names); `help` says what to do.
    """

    code: str
    message: str
    span: Span
    label: str = ""
    help: str = ""
    notes: tuple[tuple[str, Span], ...] = ()

    @property
    def severity(self) -> Severity:
        return "warning" if self.code.startswith("W") else "error"


class CaseErrors(UserError):
    """Case files that cannot be used, with every diagnostic that was found in them."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        count = len(diagnostics)
        super().__init__(f"{count} error{'' if count == 1 else 's'} in case files")
        self.diagnostics = tuple(diagnostics)
