"""The values of literals: escapes in strings, the indentation of text blocks, durations."""

from __future__ import annotations

import re

__all__ = ["BadEscape", "block_value", "duration_seconds", "string_value"]

_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_ESCAPE = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|.)")
_UNITS = {"h": 3600, "m": 60, "s": 1}


class BadEscape(ValueError):
    """An escape that strings do not have, with its offset within the literal."""

    def __init__(self, escape: str, offset: int) -> None:
        super().__init__(escape)
        self.escape = escape
        self.offset = offset


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

    return _ESCAPE.sub(replace, literal[1:-1])


def block_value(literal: str) -> str:
    r"""The value of a text block: raw, dedented by the indentation of the line that closes it.

    The line break after the opening quotes is dropped; the one before the closing quotes is kept, so that a block
    of lines ends as a text file does. A line indented less than the closing one keeps what it has.
    """
    body = literal[3:-3].replace("\r\n", "\n")
    if "\n" not in body:
        return body
    first, *lines = body.split("\n")
    closing = lines[-1]
    indent = closing if not closing.strip(" \t") else ""
    dedented = [_without(line, indent) for line in lines[:-1]]
    dedented.append("" if indent == closing else closing)
    if first.strip(" \t"):
        dedented.insert(0, first)
    return "\n".join(dedented)


def _without(line: str, indent: str) -> str:
    if line.startswith(indent):
        return line[len(indent) :]
    return line.lstrip(" \t")


def duration_seconds(literal: str) -> int:
    """`1h30m` -> 5400."""
    return sum(int(count) * _UNITS[unit] for count, unit in re.findall(r"(\d+)([hms])", literal))
