"""Nodes of a parsed source text, whatever its language: what is in them, and their texts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

__all__ = ["WRAPPED", "Slow", "bare", "has_child", "name_of", "string_of", "text_of", "walked", "within"]

WRAPPED = frozenset({"parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression",
                     "type_assertion"})
"""What stands around a value: brackets, and what TypeScript says of it."""


class Slow(Exception):
    """Reading took longer than it may: who wrote the text decides that."""


def walked(waiting: list[Any], deadline: float) -> Iterator[Any]:
    """The nodes of a list that is added to meanwhile, the last one first. Raises Slow."""
    count = 0
    while waiting:
        count += 1
        if not count % 1000 and time.monotonic() >= deadline:
            raise Slow
        yield waiting.pop()


def within(node: Any, *kinds: str) -> Iterator[Any]:
    """The nodes of these kinds in a node, itself included."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type in kinds:
            yield inner
        else:
            waiting.extend(reversed(inner.children))


def has_child(node: Any, kind: str) -> bool:
    return any(child.type == kind for child in node.children)


def bare(node: Any, *, once: bool = False) -> Any:
    """A value without what stands around it and changes nothing of it. once: without the outermost, and no `await`."""
    while node.type in WRAPPED or (node.type == "await_expression" and not once):
        inner = [child for child in node.named_children if child.type != "comment"]
        if not inner:
            break
        node = inner[-1 if node.type == "type_assertion" else 0]
        if once:
            break
    return node


def text_of(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace"))


def name_of(node: Any) -> str:
    """A name, be it quoted or not."""
    return string_of(node) if node.type == "string" else text_of(node)


def string_of(node: Any) -> str:
    """A string literal's text. Escapes stay as they are written: no module or API has one."""
    return "".join(text_of(child) for child in node.children
                   if child.type in ("string_fragment", "string_content", "escape_sequence"))
