"""Tokens -> statements and blocks, with the comments and the blank lines between them.

A statement ends at a line end or a `;`. A line end after a comma, or within an open `(` or `[`, is part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from attrs import define, field

from evalkit.authoring.printer_tokens import CannotFormat, Token

__all__ = ["Block", "Break", "Item", "Part", "Statement", "tree"]

DEEPEST = 64
"""Blocks within blocks; the language allows no more."""


class Break:
    """A line end within a statement."""


@define
class Block:
    """`{ … }`. `flat`: it was written on one line. `comment` stands behind the opening brace."""

    open: Token
    items: list[Item] = field(factory=list)
    comment: Token | None = None
    flat: bool = True
    close: Token | None = None

    @property
    def empty(self) -> bool:
        return not self.items and self.comment is None


Part: TypeAlias = Token | Break | Block


@define
class Statement:
    """A statement, or a comment on lines of its own. `blank`: an empty line stands before it."""

    parts: list[Part]
    blank: bool


Item: TypeAlias = Statement


def tree(tokens: Sequence[Token]) -> list[Item]:
    """The statements of a file. Raises `CannotFormat` for a block or a bracket that is not closed."""
    reader = _Reader(tokens)
    items, _ = reader.items(None, 0)
    return items


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def items(self, block: Block | None, depth: int) -> tuple[list[Item], bool]:
        """The statements up to the block's end, or the file's; and whether they were on one line."""
        if depth > DEEPEST:
            raise CannotFormat(f"blocks stand in each other more than {DEEPEST} deep")
        found: list[Item] = []
        lines = 0  # line ends since the last statement
        flat = True
        while (token := self.peek()) is not None:
            if token.kind == "close":
                if block is None:
                    raise CannotFormat("a `}` closes nothing")
                return found, flat
            if token.kind in ("newline", "separator"):
                lines += token.kind == "newline"
                flat = flat and token.kind == "separator"
                self.at += 1
                continue
            if token.kind == "comment" and not lines and (found or block):
                self.at += 1
                if found:
                    found[-1].parts.append(token)
                elif block:
                    block.comment = token
                continue
            statement = Statement([], bool(found) and lines > 1)
            flat = self.statement(statement, depth) and flat
            found.append(statement)
            lines = 0
        if block is not None:
            raise CannotFormat("a block is not closed")
        return found, flat

    def statement(self, statement: Statement, depth: int) -> bool:
        """Read one statement; whether it was on one line."""
        brackets = 0
        flat = True
        continued = False  # the last token was a comma
        while (token := self.peek()) is not None and token.kind not in ("close", "separator"):
            if token.kind == "newline":
                if not brackets and not continued:
                    break
                flat = False
                if not isinstance(statement.parts[-1], Break):
                    statement.parts.append(Break())
                self.at += 1
                continue
            self.at += 1
            if token.kind == "open":
                block = Block(token)
                statement.parts.append(block)
                block.items, block.flat = self.items(block, depth + 1)
                block.close = self.peek()
                self.at += 1
                flat = flat and block.flat
            else:
                statement.parts.append(token)
                flat = flat and "\n" not in token.text
            if token.kind == "comment" and not brackets and not continued:
                break
            if token.kind != "comment":
                brackets = max(0, brackets + {"left": 1, "right": -1}.get(token.kind, 0))
                continued = token.kind == "comma"
        if brackets or (continued and token is not None and token.kind == "separator"):
            raise CannotFormat("a statement does not end")
        while isinstance(statement.parts[-1], Break):
            statement.parts.pop()
        return flat
