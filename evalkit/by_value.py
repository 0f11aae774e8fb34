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
    """Make instances of an attrs class equal where their fields are.

    What fields say of themselves holds: `eq=False` counts in nothing, `hash=False` in no hash, `repr=False` is not
    shown, `repr=SHOWN` is shown so.
    """
    fields = [field for field in attrs.fields(kind) if field.eq]  # type: ignore[arg-type]
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
    told = (f"{field.name}={(field.repr if callable(field.repr) else repr)(getattr(value, field.name))}"
            for field in attrs.fields(kind) if field.repr)
    return f"{kind.__name__}({', '.join(told)})"
