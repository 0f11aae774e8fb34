"""Globs over the paths of a tree: `*` and `?` stay within a folder, `**` crosses folders, `[a-z]` is a set.

pathlib's own globs walk a disk and differ between Python versions; these match names, so that a recorded tree can be
asked which files a check reads without unpacking it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["matching"]


def matching(paths: Iterable[str], globs: Iterable[str]) -> list[str]:
    """The paths (relative, with `/`) that any of the globs matches, sorted."""
    compiled = [_compile(glob) for glob in globs]
    return sorted(path for path in paths if any(regex.fullmatch(path) for regex in compiled))


@lru_cache(maxsize=1024)
def _compile(glob: str) -> re.Pattern[str]:
    parts: list[str] = []
    index = 0
    while index < len(glob):
        char = glob[index]
        if glob.startswith("**/", index) and (index == 0 or glob[index - 1] == "/"):
            parts.append("(?:[^/]+/)*")
            index += 3
            continue
        if glob.startswith("**", index) and index + 2 == len(glob):
            parts.append(".*")
            index += 2
            continue
        close = glob.find("]", index + 2) if char == "[" else -1
        if char == "*":
            parts.append("[^/]*")
        elif char == "?":
            parts.append("[^/]")
        elif close > 0:
            body = glob[index + 1 : close].replace("\\", "\\\\").replace("[", "\\[")
            negated = body.startswith("!")
            parts.append(f"(?!/)[{'^' if negated else ''}{body[1:] if negated else body}]")
            index = close
        else:
            parts.append(re.escape(char))
        index += 1
    return re.compile("".join(parts), re.DOTALL)
