"""What every class of nodes is made by.

There are ninety of them, and attrs writes and compiles each method of each class whenever the compiler is imported,
which a run after a single edit waits for. So nodes have only what they need: they are frozen, they are made from their
fields, and each is equal to itself alone.
"""

from __future__ import annotations

from typing import TypeVar, dataclass_transform

import attrs

__all__ = ["node"]

T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True)
def node(kind: type[T]) -> type[T]:
    """Make a class of nodes of its annotations."""
    kind.__repr__ = _shown  # type: ignore[method-assign, assignment]
    return attrs.frozen(kind, eq=False, repr=False)


def _shown(value: attrs.AttrsInstance) -> str:
    kind = type(value)
    return f"{kind.__name__}({', '.join(f'{item.name}={getattr(value, item.name)!r}' for item in attrs.fields(kind))})"
