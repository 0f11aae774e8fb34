"""Globs over the paths of a tree: `*` and `?` stay within a folder, `**` crosses folders, `[a-z]` is a set.

pathlib's own globs walk a disk and differ between Python versions; these match names, so that a recorded tree can be
asked which files a check reads without unpacking it.

A glob is matched folder by folder. A `**` first stands for no folder at all and takes one more each time the rest does
not fit; only the last `**` seen is tried again (what an earlier one could gain, the later one can gain too), so that
no glob takes longer than its length times that of the path. Within a name, stars are matched the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

__all__ = ["BadGlob", "check_glob", "matching"]

_Piece: TypeAlias = re.Pattern[str] | None
"""The names that one part of a glob matches; None for `**`: any number of folders."""


class BadGlob(ValueError):
    """A glob that means nothing, and why."""


def matching(paths: Iterable[str], globs: Iterable[str]) -> list[str]:
    """The paths (relative, with `/`) that any of the globs matches, sorted. Raises `BadGlob`."""
    compiled = [_compile(glob) for glob in globs]
    return sorted(path for path in paths if any(_matches(path.split("/"), glob) for glob in compiled))


def check_glob(glob: str) -> None:
    """Raises `BadGlob` for a glob that cannot be matched, or that could match nothing within a tree."""
    if glob.startswith("/") or "\\" in glob or {"", ".", ".."} & set(glob.split("/")):
        raise BadGlob("globs are relative to the workspace's root, with `/` and without `.` or `..`")
    _compile(glob)


def _matches(names: Sequence[str], pieces: Sequence[_Piece]) -> bool:
    name = piece = 0
    retry: tuple[int, int] | None = None  # where the names and the pieces go on if the last `**` takes one more
    while name < len(names):
        if piece < len(pieces):
            wanted = pieces[piece]
            if wanted is None:
                if piece == len(pieces) - 1:  # at the end: all that lies below, at least one name
                    return True
                piece += 1
                retry = (name + 1, piece)
                continue
            if wanted.fullmatch(names[name]):
                name, piece = name + 1, piece + 1
                continue
        if retry is None:
            return False
        name, piece = retry
        retry = (name + 1, piece)
    return piece == len(pieces)


@lru_cache(maxsize=1024)
def _compile(glob: str) -> tuple[_Piece, ...]:
    return tuple(None if part == "**" else _name(part) for part in glob.split("/"))


def _name(part: str) -> re.Pattern[str]:
    """The regex of one part. Each star but the last takes as little as it can and never looks back: `(?>…)`."""
    if "**" in part:
        raise BadGlob("`**` stands alone between slashes, as in `src/**/*.zig`")
    first, *others = (_literal(text) for text in _stars(part))
    if not others:
        return re.compile(first, re.DOTALL)
    *middle, last = others
    return re.compile(first + "".join(f"(?>.*?{text})" for text in middle) + f".*{last}", re.DOTALL)


def _stars(part: str) -> list[str]:
    """The texts between the stars; a star within a set is itself."""
    texts, start, index = [], 0, 0
    while index < len(part):
        close = _set_end(part, index)
        if close:
            index = close
        elif part[index] == "*":
            texts.append(part[start:index])
            start = index + 1
        index += 1
    return [*texts, part[start:]]


def _set_end(part: str, index: int) -> int:
    """The place of the `]` that closes a set which begins here, else 0. A `]` that comes first is one of the set."""
    if part[index] != "[":
        return 0
    return max(part.find("]", index + (3 if part.startswith("[!", index) else 2)), 0)


def _literal(text: str) -> str:
    parts, index = [], 0
    while index < len(text):
        close = _set_end(text, index)
        if close:
            parts.append(_set(text[index + 1 : close]))
            index = close
        else:
            parts.append("." if text[index] == "?" else re.escape(text[index]))
        index += 1
    return "".join(parts)


def _set(body: str) -> str:
    negated, chars = body.startswith("!"), body.removeprefix("!")
    parts, index = [], 0
    while index < len(chars):
        if chars[index + 1 : index + 2] == "-" and index + 2 < len(chars):
            first, last = chars[index], chars[index + 2]
            if first > last:
                raise BadGlob(f"the range `{first}-{last}` is empty")
            parts.append(f"{re.escape(first)}-{re.escape(last)}")
            index += 3
        else:
            parts.append(re.escape(chars[index]))
            index += 1
    return f"[{'^' if negated else ''}{''.join(parts)}]"
