"""What formatting must not change: the nodes of a file without their places, and its comments."""

from __future__ import annotations

from typing import Any

from evalkit.authoring.printer_tokens import tokens
from evalkit.diagnostics import Span
from evalkit.values import Node, fields_of

__all__ = ["comments", "meaning"]


def meaning(node: Any) -> Any:
    """A node as its class's name and its fields, without spans."""
    if isinstance(node, tuple | list):
        return [meaning(item) for item in node if not isinstance(item, Span)]
    if isinstance(node, Node):
        fields = {part.name: getattr(node, part.name) for part in fields_of(type(node))}
        return (type(node).__name__, {name: meaning(value) for name, value in fields.items()
                                      if not isinstance(value, Span)})
    return node


def comments(text: str) -> list[str]:
    """The comments of a file, in order."""
    return [token.value for token in tokens(text) if token.kind == "comment"]
