"""The levels of a unit, from its suite inwards, and what each of them says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, overload

from evalkit.diagnostics import Span
from evalkit.values import Value

__all__ = ["Block", "Level", "Levels", "Statement"]

Level: TypeAlias = Literal["suite", "profile", "case", "track", "arm"]
T = TypeVar("T")
U = TypeVar("U")


class Statement(Protocol):
    """Any node that can stand in a block."""

    @property
    def span(self) -> Span: ...


class Block(Value):
    """The statements of one level by their classes, and the folder that their paths are relative to."""

    level: Level
    folder: Path
    by_kind: dict[type, list[Any]]

    @classmethod
    def of(cls, level: Level, folder: Path, body: Iterable[Statement]) -> Block:
        by_kind: dict[type, list[Any]] = {}
        for statement in body:
            by_kind.setdefault(type(statement), []).append(statement)
        return cls(level, folder, by_kind)

    def all(self, kind: type[T]) -> list[T]:
        return self.by_kind.get(kind, [])


class Levels(Value):
    """The blocks that a unit is made of, outermost first. Not `whole`: one is missing, since its profile is unknown."""

    blocks: tuple[Block, ...]
    whole: bool = True

    def all(self, *kinds: type[T]) -> list[tuple[Path, T]]:
        """The statements of these kinds, of all levels, the outermost first."""
        return [(block.folder, statement) for block in self.blocks for kind in kinds for statement in block.all(kind)]

    @overload
    def last(self, kind: type[T], /) -> tuple[Path, T] | None: ...
    @overload
    def last(self, kind: type[T], other: type[U], /) -> tuple[Path, T | U] | None: ...
    def last(self, *kinds: type) -> tuple[Path, Any] | None:
        """The statement of these kinds that wins: that of the innermost level which has one."""
        for block in reversed(self.blocks):
            for kind in kinds:
                if found := block.by_kind.get(kind):
                    return block.folder, found[-1]
        return None

    @overload
    def innermost(self, kind: type[T], /) -> list[tuple[Path, T]]: ...
    @overload
    def innermost(self, kind: type[T], other: type[U], /) -> list[tuple[Path, T | U]]: ...
    def innermost(self, *kinds: type) -> list[tuple[Path, Any]]:
        """The statements of these kinds of the innermost level that has any."""
        for block in reversed(self.blocks):
            level = [(block.folder, statement) for kind in kinds for statement in block.by_kind.get(kind, ())]
            if level:
                return level
        return []
