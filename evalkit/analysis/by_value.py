"""Equality, hash and form of frozen classes, without a method of its own for each.

attrs writes and compiles methods for every class whenever it is imported: 0.4 ms a class, and 0.1 ms of one without
them. So classes that every run after an edit imports have theirs from here.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

import attrs

__all__ = ["by_value"]

T = TypeVar("T")


def by_value(kind: type[T]) -> type[T]:
    """Make instances of an attrs class equal where their fields are. Fields with `hash=False` count in no hash."""
    fields = attrs.fields(kind)  # type: ignore[arg-type]
    state: Callable[[Any], Any] = attrgetter(*(field.name for field in fields))
    hashed: Callable[[Any], Any] = attrgetter(*(field.name for field in fields if field.hash is not False))

    def equals(self: Any, other: object) -> Any:
        return state(self) == state(other) if type(other) is type(self) else NotImplemented

    def digest(self: Any) -> int:
        return hash((kind.__name__, hashed(self)))

    kind.__eq__ = equals  # type: ignore[method-assign]
    kind.__hash__ = digest  # type: ignore[method-assign]
    kind.__repr__ = _shown  # type: ignore[method-assign]
    return kind


def _shown(value: Any) -> str:
    kind = type(value)
    return f"{kind.__name__}({', '.join(f'{item.name}={getattr(value, item.name)!r}' for item in attrs.fields(kind))})"
