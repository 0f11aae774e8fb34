"""Parse trees: what the parsers build and parse.py reads. Slim, since a file has hundreds of these."""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["Child", "Token", "Tree"]


class Token(str):
    """A piece of the text, with its terminal and the offset of its first character."""

    __slots__ = ("start_pos", "type")
    type: str
    start_pos: int

    @classmethod
    def of(cls, kind: str, text: str, start: int) -> Token:
        token = cls(text)
        token.type = kind
        token.start_pos = start
        return token


class Tree:
    """A rule with the parts that it keeps: no keywords and no signs. [start, end) is all that it was made of."""

    __slots__ = ("children", "data", "end", "start")

    def __init__(self, data: str, children: list[Child], start: int, end: int) -> None:
        self.data = data
        self.children = children
        self.start = start
        self.end = end


Child: TypeAlias = Tree | Token
