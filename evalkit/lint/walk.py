"""Goes through syntax nodes, whatever kinds of them there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalkit.diagnostics import Span
from evalkit.values import Node, fields_of

__all__ = ["walk"]


def walk(node: object) -> Iterator[tuple[Any, Any]]:
    """`node` and every node below it, in the order of the text, each with the node that it is part of."""
    stack: list[tuple[Any, Any]] = [(node, None)]
    while stack:
        item, parent = stack.pop()
        if isinstance(item, tuple):
            stack.extend((part, parent) for part in reversed(item))
            continue
        yield item, parent
        for name in reversed(_parts(type(item))):
            value = getattr(item, name)
            if isinstance(value, tuple) or _parts(type(value)):
                stack.append((value, item))


_PARTS: dict[type, tuple[str, ...]] = {Span: ()}


def _parts(kind: type) -> tuple[str, ...]:
    """The fields of a class of nodes, but for its place; none of any other class."""
    parts = _PARTS.get(kind)
    if parts is None:
        parts = _PARTS[kind] = tuple(
            part.name for part in fields_of(kind) if part.name != "span") if issubclass(kind, Node) else ()
    return parts
