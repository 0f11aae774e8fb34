"""The dialect of regexes: the `regex` package's, always multi-line, with the flags i, s and x."""

from __future__ import annotations

from collections.abc import Callable
from string import punctuation
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import regex

__all__ = ["FLAGS", "Find", "compile_regex", "literal_of", "regex_finder", "text_finder"]

FLAGS = {"i": "IGNORECASE", "s": "DOTALL", "x": "VERBOSE"}
"""What a letter behind a regex means, in the package's words."""
_SPECIAL = frozenset(r"\.^$*+?{}[]()|")
_PUNCTUATION = frozenset(punctuation)

Find: TypeAlias = Callable[[str, float], int | None]
"""(text, seconds) -> the offset of the first match. Raises TimeoutError."""


def compile_regex(text: str, flags: str) -> regex.Pattern[str]:
    """A regex as cases mean it. Raises `regex.error`, and KeyError for a flag that there is not."""
    import regex  # only here: most patterns are plain texts (`literal_of`), and importing it takes 5 ms

    combined = regex.MULTILINE
    for flag in flags:
        combined |= regex.RegexFlag[FLAGS[flag]]
    return regex.compile(text, combined)


def literal_of(text: str, flags: str) -> str | None:
    """The text that a regex finds wherever it stands, and nothing else; None where it may be more than a text."""
    if flags not in ("", "s"):
        return None
    found = []
    signs = iter(text)
    for sign in signs:
        escaped = next(signs, "") if sign == "\\" else None
        if sign in _SPECIAL and escaped not in _PUNCTUATION:
            return None
        found.append(escaped or sign)
    return "".join(found)


def regex_finder(text: str, flags: str) -> Find:
    """What looks for a regex in a text. Raises as `compile_regex` does."""
    literal = literal_of(text, flags)
    if literal is not None:
        return text_finder(literal)
    compiled = compile_regex(text, flags)

    def find(text: str, limit: float) -> int | None:
        match = compiled.search(text, timeout=limit)
        return None if match is None else match.start()

    return find


def text_finder(wanted: str) -> Find:
    """What looks for a text in another one, which takes no time."""
    return lambda text, _: None if (at := text.find(wanted)) < 0 else at
