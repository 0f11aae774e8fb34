"""A case file's text -> all its tokens, none lost but the spaces between them.

The scan knows the shape of tokens (strings, text blocks, regexes, comments, brackets, separators, words) and nothing
of the grammar, so that it holds for every statement there is and will be.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, cast

from attrs import frozen

from evalkit.syntax.text import ShallowLine, block_value

__all__ = ["CannotFormat", "Kind", "Token", "at_indent", "tokens"]

Kind: TypeAlias = Literal[
    "text", "string", "regex", "comment", "newline", "separator", "open", "close", "left", "right", "comma", "colon",
    "operator", "word"]

_TOKEN = re.compile(
    r'(?P<text>"""[\s\S]*?""")'
    r'|(?P<string>"(?!"")(?:\\.|[^"\\\n])*")'
    r"|(?P<regex>/(?:\\.|[^/\\\n])+/[a-z]*)"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<newline>\n)"
    r"|(?P<space>[ \t\f\r]+)"
    r"|(?P<separator>;)|(?P<open>\{)|(?P<close>\})|(?P<left>[(\[])|(?P<right>[)\]])|(?P<comma>,)|(?P<colon>:)"
    r"|(?P<operator>[<>=!~]+)"
    r'|(?P<word>[^ \t\f\r\n"/#;{}()\[\],:<>=!~]+)'
)
_TAB = 4


class CannotFormat(ValueError):
    """A text that is no case file: a literal or a block in it does not end."""


@frozen
class Token:
    """A piece of text. `column`: where it starts in its line, counted from 0, tabs counted up to the next fourth."""

    kind: Kind
    text: str
    column: int

    @property
    def value(self) -> str:
        """What the token means: the same before and after formatting."""
        if self.kind == "comment":
            return self.text.rstrip()
        if self.kind != "text":
            return self.text
        try:
            return block_value(self.text)
        except ShallowLine:
            return self.text


def tokens(text: str) -> list[Token]:
    """All tokens of a text. Raises `CannotFormat` where one does not end."""
    found: list[Token] = []
    at = column = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CannotFormat(f"a literal does not end (character {at})")
        at, piece, kind = match.end(), match.group(), cast(Kind, match.lastgroup)
        if match.lastgroup != "space":
            found.append(Token(kind, piece, column))
        _, line_end, last = piece.rpartition("\n")
        start = 0 if line_end else column
        column = start + (len((" " * (start % _TAB) + last).expandtabs(_TAB)) - start % _TAB if "\t" in last
                          else len(last))
    return found


def at_indent(block: str, indent: int) -> str:
    """A text block with its closing quotes at an indentation and its lines moved along.

    The value stays. A block that cannot be moved (text before its closing quotes, or a line that is indented less
    than they are) stays as it is.
    """
    first, *lines = block[3:-3].split("\n")
    if not lines or "\r\r\n" in block:  # of two carriage returns one is of the value
        return block
    try:
        value = block_value(block)
    except ShallowLine:
        return block
    margin = " " * indent
    if lines[-1].strip(" \t"):
        moved = block.replace("\r\n", "\n")
    else:
        opening, body = (first.removesuffix("\r") + "\n", value.partition("\n")[2]) if first.strip() else ("\n", value)
        body = "".join(margin + line + "\n" if line else "\n" for line in body.split("\n")[:-1])
        moved = f'"""{opening}{body}{margin}"""'
    return moved if block_value(moved) == value else block
