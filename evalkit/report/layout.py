"""Lines on a terminal: how wide a text is, where it is folded, and a few colours.

A text of ASCII is as wide as it is long, and so are the marks of the table; rich, which knows all other characters, is
imported only where there are some. Lines are folded as rich does it: between words, and within a word that is longer
than a line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import IO

from evalkit.report.row import LONGEST_LINE

__all__ = ["Page", "chop", "coloured", "duration", "folded", "short_count", "styled", "terminal_width", "text_width"]

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_WORD = re.compile(r"\s*\S+\s*")
_INDENT = re.compile(r" *(?:\| )?")
"""What a line begins with, and what it is folded into: blanks, and the mark of evidence."""
_PIPE = 80


def text_width(text: str) -> int:
    """The columns that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def chop(text: str, width: int) -> list[str]:
    """A text in pieces of at most so many columns."""
    if text.isascii():
        return [text[start : start + width] for start in range(0, len(text), width)]
    from rich.cells import chop_cells

    return chop_cells(text, width)


def folded(text: str, width: int) -> list[str]:
    """A text as lines of at most so many columns, without blanks at their ends."""
    if text_width(text) <= width:
        return [text.rstrip()]
    breaks, used = [0], 0
    for match in _WORD.finditer(text):
        start, word = match.start(), match[0]
        size = text_width(word.rstrip())
        if size <= width - used:
            used += text_width(word)
        elif size > width:
            for piece in chop(word, width):
                breaks.append(start)
                start += len(piece)
                used = text_width(piece)
        else:
            breaks.append(start)
            used = text_width(word)
    ends = [*breaks[1:], len(text)]
    return [text[start:end].rstrip() for start, end in zip(breaks, ends, strict=True) if end > start]


def short_count(count: float) -> str:
    """A count of tokens, in three digits or so."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.9995:
            return f"{count / size:.3g}{unit}" if count < size * 999.5 else f"{count / size:.0f}{unit}"
    return f"{count:.0f}"


def duration(seconds: float) -> str:
    """`4.2s`, `12m08s`, `3h05m`."""
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def terminal_width(stream: IO[str]) -> int:
    """The columns of a terminal; 80 where there is none, or where it does not say."""
    if not stream.isatty():
        return _PIPE
    said = os.environ.get("COLUMNS", "")
    try:
        return int(said) if said.isdigit() and int(said) else os.get_terminal_size(stream.fileno()).columns or _PIPE
    except OSError:
        return _PIPE


def coloured(stream: IO[str]) -> bool:
    """Whether colours are wanted: on a terminal that can show them, unless NO_COLOR is set."""
    return (stream.isatty() and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM", "").lower() not in ("dumb", "unknown"))


def styled(text: str, style: str) -> str:
    """A text in bold, dim, red, green or yellow; as it is where the style is ""."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text else text


class Page:
    """Lines on their way to a stream: folded to its width, coloured where it shows colours."""

    def __init__(self, width: int, paint: Callable[[str, str], str]) -> None:
        self.width = width
        self.paint = paint
        self.lines: list[str] = []

    def add(self, text: str, style: str = "") -> None:
        """A text of any origin, as the lines that it takes: those after its first are indented as that one is."""
        if not text.isprintable():
            from evalkit.grade.evidence import plain

            text = plain(text)
        if len(text) > LONGEST_LINE:
            text = text[: LONGEST_LINE - 1] + "…"
        indent = _INDENT.match(text)[0]  # type: ignore[index]
        if len(indent) > self.width // 2:
            indent = ""
        first, *more = folded(text, self.width)
        if more:  # folded to what the indent leaves
            first, *more = [indent + line for line in folded(text.removeprefix(indent), self.width - len(indent))]
        self.lines += [self.paint(line, style) for line in (first, *more)]
