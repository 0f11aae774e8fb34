"""The folders of the harness that no agent may look into, by all the names that they have.

A rule for a folder says nothing about what links in it lead to, where that is asked for by its own name. A suite, or
what a case uses, may be such a link: they are looked for, a few levels below the cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["linked", "off_limits"]

_DEEP = 3
"""Levels below the cases on which links are looked for: suites, cases, and their folders."""
_MOST = 100
"""Places that are named; each is two rules on a command line."""


def off_limits(cases: Path, private: Iterable[Path], links: Iterable[Path]) -> tuple[Path, ...]:
    """The folder of the cases and the private ones, as they are named and as they really are; and these, where links
    below the cases lead.
    """
    named = [cases, *private]
    found = dict.fromkeys(place for folder in named for place in (folder, _real(folder)))
    covered = tuple(found)
    for target in links:
        if not any(target.is_relative_to(folder) for folder in covered) and len(found) < _MOST:
            found[target] = None
    return tuple(found)


def linked(cases: Path) -> tuple[Path, ...]:
    """Where the links below this folder lead, out of it."""
    real = _real(cases)
    targets = dict.fromkeys(map(_real, _links(cases, _DEEP)))
    return tuple(target for target in targets if not target.is_relative_to(real))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle lead nowhere
        return path.absolute()


def _links(folder: Path, deep: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            below = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in below:
        if entry.is_symlink():
            yield Path(entry.path)
        elif deep and entry.is_dir(follow_symlinks=False):
            yield from _links(Path(entry.path), deep - 1)
