"""The values of literals: escapes in strings, the indentation of text blocks, durations."""

from __future__ import annotations

import re

__all__ = ["BadEscape", "ShallowLine", "block_value", "duration_seconds", "string_value"]

_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_ESCAPE = r"\\(u\{[0-9A-Fa-f]{1,6}\}|.)"
_UNITS = {"h": 3600, "m": 60, "s": 1}


class BadEscape(ValueError):
    """An escape that strings do not have, with its offset within the literal."""

    def __init__(self, escape: str, offset: int) -> None:
        super().__init__(escape)
        self.escape = escape
        self.offset = offset


class ShallowLine(ValueError):
    """A line of a text block with less indentation than the line that closes it; [start, end) within the literal."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start)
        self.start = start
        self.end = end


def string_value(literal: str) -> str:
    r"""The value of a quoted string: \" \\ \n \t \r \0 and \u{1F600}. Raises `BadEscape` for any other."""

    def replace(match: re.Match[str]) -> str:
        body = match.group(1)
        if body in _ESCAPES:
            return _ESCAPES[body]
        if body.startswith("u{") and int(body[2:-1], 16) <= 0x10FFFF:
            point = int(body[2:-1], 16)
            if not 0xD800 <= point <= 0xDFFF:  # half of a surrogate pair is not a character
                return chr(point)
        raise BadEscape(match.group(0), match.start() + 1)

    return re.sub(_ESCAPE, replace, literal[1:-1]) if "\\" in literal else literal[1:-1]


def block_value(literal: str) -> str:
    r"""The value of a text block: raw, without the indentation of the line that closes it.

    Where a line break follows the opening quotes, it is dropped; the one before the closing quotes is kept, so that a
    block of lines ends as a text file does. Line ends are \n whatever the file has. Where text precedes the closing
    quotes on their line, nothing is dedented. Raises `ShallowLine` for a line that cannot be dedented.
    """
    first, *lines = literal[3:-3].split("\n")
    if not lines:
        return first
    indent = lines[-1] if not lines[-1].strip(" \t") else ""
    at = 3 + len(first) + 1
    dedented = [first] if first.strip() else []
    for line in lines:
        if line.startswith(indent):
            dedented.append(line[len(indent) :])
        elif not line.strip():
            dedented.append("")
        else:
            raise ShallowLine(at, at + len(line.rstrip()))
        at += len(line) + 1
    return "\n".join(line.removesuffix("\r") for line in dedented)


def duration_seconds(literal: str) -> int:
    """`1h30m` -> 5400."""
    seconds = 0
    for unit, length in _UNITS.items():  # in the order in which they stand
        count, found, rest = literal.partition(unit)
        if found:
            seconds, literal = seconds + int(count) * length, rest
    return seconds
