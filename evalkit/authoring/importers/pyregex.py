"""Translates Python's regular expressions (the module `re`) to those of case files.

The `regex` package reads almost all of them alike. What differs: case files are always multi-line, so `^` and `$`
without that flag become `\\A` and `(?=\\n?\\Z)`; what `regex` would read as sets within sets or as fuzzy matching,
which `re` does not have, gets a backslash.

Input: a pattern as `re.search` takes it. Output: a `Translation`. Raises `BadPattern`.
"""

from __future__ import annotations

import re
import warnings
from math import prod

import regex

from evalkit.authoring.importers.jsregex import LARGEST, LONGEST, BadPattern, Translation

__all__ = ["translate_python"]

_QUANTIFIER = re.compile(r"\{[0-9]*(?:,[0-9]*)?\}")
_REPEATS = re.compile(r"\{([0-9]{1,9})")
_SPECIAL = set("\\^$.|?*+()[{")


def translate_python(pattern: str) -> Translation:
    """A pattern of `re` that finds the same in the dialect of case files. Raises `BadPattern`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sets that may get another meaning one day
            flags = re.compile(pattern).flags
    except (re.error, OverflowError, RecursionError) as error:
        at = getattr(error, "pos", None) or 0
        raise BadPattern(f"this is no regular expression of Python: {error}", at) from None
    if flags & (re.VERBOSE | re.LOCALE):
        raise BadPattern("the flags x and L are not translated", 0)
    if prod(max(1, int(found[1])) for found in _REPEATS.finditer(pattern)) > LARGEST:
        raise BadPattern("its quantifiers ask for too many repetitions", 0)
    text = _rewrite(pattern, multiline=bool(flags & re.MULTILINE))
    try:
        regex.compile(text, regex.MULTILINE)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise BadPattern(f"the dialect of case files has no equivalent: {error}", 0) from None
    if not text or len(text) > LONGEST:
        raise BadPattern(f"a regex of a case file has 1 to {LONGEST:,} characters", 0)
    literal = pattern if not set(pattern) & _SPECIAL else None
    return Translation(text, "", literal)


def _rewrite(pattern: str, *, multiline: bool) -> str:
    parts: list[str] = []
    at = 0
    set_start = -1  # the first character within the set that is open
    while at < len(pattern):
        char = pattern[at]
        size = 1
        if char == "\\":
            char, size = pattern[at : at + 2].replace("\\/", "/"), 2
        elif set_start >= 0:
            if char == "]" and at > set_start:
                set_start = -1
            elif char in "[&|~" or (char == "]" and at == set_start):
                char = "\\" + char
        elif char == "[":
            set_start = at + (2 if pattern.startswith("[^", at) else 1)
            char = pattern[at:set_start]
            size = len(char)
        elif char == "{":
            found = _QUANTIFIER.match(pattern, at)
            if found and found[0] not in ("{}", "{,}"):
                char, size = found[0], len(found[0])
            else:
                char = r"\{"
        elif not multiline and char in "^$":
            char = r"\A" if char == "^" else r"(?=\n?\Z)"
        parts.append(char)
        at += size
    return "".join(parts)
