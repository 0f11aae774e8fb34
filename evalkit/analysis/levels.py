"""The levels of a case, from its suite inwards, and what each of them says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, overload

from attrs import frozen

from evalkit.syntax import nodes as n

__all__ = ["Levels", "Statement"]

Statement: TypeAlias = (
    n.About | n.UseProfile | n.UseNone | n.UseAgent | n.Prompt | n.Model | n.Agent | n.Setup | n.Check | n.Judge
    | n.Solution | n.Wrong | n.Toolchain | n.Profile | n.Define)
T = TypeVar("T")
U = TypeVar("U")


@frozen
class Levels:
    """The blocks that a case is made of, outermost first, each with the folder that its paths are relative to."""

    blocks: tuple[tuple[Path, Sequence[Statement]], ...]

    def all(self, kind: type[T]) -> list[tuple[Path, T]]:
        """The statements of a kind, of all levels, the outermost first."""
        return [(folder, statement) for folder, body in self.blocks for statement in body
                if isinstance(statement, kind)]

    @overload
    def innermost(self, kind: type[T], /) -> list[tuple[Path, T]]: ...
    @overload
    def innermost(self, kind: type[T], other: type[U], /) -> list[tuple[Path, T | U]]: ...
    def innermost(self, *kinds: type) -> list[tuple[Path, Any]]:
        """The statements of these kinds of the innermost level that has any."""
        for folder, body in reversed(self.blocks):
            level = [(folder, statement) for statement in body if isinstance(statement, kinds)]
            if level:
                return level
        return []
