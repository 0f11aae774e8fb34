"""The dialect of regexes: the `regex` package's, always multi-line, with the flags i, s and x."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

__all__ = ["FLAGS", "compile_regex"]

FLAGS = {"i": "IGNORECASE", "s": "DOTALL", "x": "VERBOSE"}
"""What a letter behind a regex means, in the package's words."""


def compile_regex(text: str, flags: str) -> regex.Pattern[str]:
    """A regex as cases mean it. Raises `regex.error`, and KeyError for a flag that there is not."""
    import regex  # only here: most patterns are plain texts, and importing it takes 5 ms

    combined = regex.MULTILINE
    for flag in flags:
        combined |= regex.RegexFlag[FLAGS[flag]]
    return regex.compile(text, combined)
