"""Patterns over texts that an agent decides on: no text can make a search go on for long."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Literal

from evalkit.analysis.dialect import Find, compile_regex, regex_finder, text_finder
from evalkit.analysis.model import Pattern
from evalkit.grade.evidence import plain
from evalkit.values import Value

__all__ = ["MATCH_LIMIT", "TOTAL_LIMIT", "Finding", "around", "blocks", "finder", "search", "shown"]

MATCH_LIMIT = 2.0
"""Seconds for one pattern on one text."""
TOTAL_LIMIT = 60.0
"""Seconds for a check."""
_SHOWN, _BEFORE = 200, 80
"""Characters of a line that holds a match, and how many of them at most stand before the match."""
_MOST_BLOCKS = 500
"""Matches of one pattern that may tell: no more have room."""


class Finding(Value):
    """What one pattern came to, and where it was found or why it took too long."""

    outcome: Literal["found", "not found", "took too long"]
    told: str


def search(pattern: Pattern, texts: dict[str, str], deadline: float, *, what: str = "file") -> Finding:
    """Look for a pattern in named texts until a deadline (of time.monotonic). `what`: what a text is called."""
    said = shown(pattern)
    find = finder(pattern)
    for name, text in texts.items():
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            at = find(text, min(MATCH_LIMIT, left))
        except TimeoutError:
            limit = f"matching {plain(name)} took longer than {MATCH_LIMIT:g} s" if left > MATCH_LIMIT else \
                f"the check took longer than {TOTAL_LIMIT:g} s"
            return Finding("took too long",
                            f"{said}: {limit}: counted as a fail, since the file decides how long it takes")
        if at is not None:
            return Finding("found", f"{said}: {plain(name)}:{text.count(chr(10), 0, at) + 1}: {around(text, at)}")
    return Finding("not found", f"{said}: not found in {len(texts)} {what}{'' if len(texts) == 1 else 's'}")


def shown(pattern: Pattern) -> str:
    """A pattern as it stands in a case."""
    return plain(f"/{pattern.text}/{pattern.flags}" if pattern.regex else f'"{pattern.text}"')


def finder(pattern: Pattern) -> Find:
    """What looks for a pattern in a text."""
    return regex_finder(pattern.text, pattern.flags) if pattern.regex else text_finder(pattern.text)


def blocks(text: str, patterns: Sequence[Pattern]) -> list[str]:
    """What the patterns match, in the text's order, without what lies in an earlier match.

    A string matches the line that it is in. A pattern that takes too long tells what it has found until then.
    """
    found: list[tuple[int, int]] = []
    text = text.replace("\r\n", "\n")
    for pattern in patterns:
        regex = pattern.text if pattern.regex else rf"^.*{re.escape(pattern.text)}.*$"
        compiled = compile_regex(regex, pattern.flags)
        with suppress(TimeoutError):
            for match in islice(compiled.finditer(text, timeout=MATCH_LIMIT), _MOST_BLOCKS):
                if match.end() > match.start():
                    found.append((match.start(), match.end()))
    told: list[str] = []
    reached = 0
    for start, end in sorted(found):
        if start >= reached:
            told.append(text[start:end])
            reached = end
    return told


def around(text: str, at: int) -> str:
    """The line of a match; of a long one, the part around the match."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    first = start if end - start <= _SHOWN else max(start, at - _BEFORE)
    shown = plain(text[first : min(end, first + _SHOWN)].strip())
    return f"{'…' if first > start else ''}{shown}{'…' if end > first + _SHOWN else ''}"
