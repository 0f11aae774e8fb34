"""The dialect of regexes: the `regex` package's, always multi-line, with the flags i, s and x."""

from __future__ import annotations

import regex

__all__ = ["FLAGS", "compile_regex"]

FLAGS = {"i": regex.IGNORECASE, "s": regex.DOTALL, "x": regex.VERBOSE}
"""What a letter behind a regex means."""


def compile_regex(text: str, flags: str) -> regex.Pattern[str]:
    """A regex as cases mean it. Raises `regex.error`, and KeyError for a flag that there is not."""
    combined = regex.MULTILINE
    for flag in flags:
        combined |= FLAGS[flag]
    return regex.compile(text, combined)
