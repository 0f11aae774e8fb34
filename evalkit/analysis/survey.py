"""A look at the folders of a project: its case files, and the state of all that compiling them could look up.

* A folder or a file has a stamp: inode, size, and the times when its content and its inode were changed. The latter
  changes with permissions too, and nobody can set it. That of a folder changes when an entry comes, goes or is
  replaced.
* A link has a lead: the path that it ends at, and what is there. Folders on the way may be outside the project.

Whatever a case names lies below its suite's folder. So as long as the stamps of all folders and the leads of all links
are the same, a path is there, or not, and is of the kind that it was.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

from evalkit.errors import UserError

__all__ = ["Lead", "Stamp", "Survey", "stamp", "survey", "unchanged"]

Stamp: TypeAlias = tuple[int, int, int, int]
Lead: TypeAlias = tuple[str, int]


@frozen
class Survey:
    """`stamps` of all folders and of the case files; `leads` of all links. `started`: nanoseconds, before the look."""

    started: int
    case_files: tuple[Path, ...]
    stamps: dict[str, Stamp]
    leads: dict[str, Lead]


def survey(root: Path, cases_folder: str) -> Survey:
    """Look at all that is below the cases folder. Linked folders are not entered: they could lead in a circle.

    Raises `UserError` where there is no such folder, or where one cannot be read: its cases would be left out silently.
    """
    if not (root / cases_folder).is_dir():
        raise UserError(f"there is no folder `{cases_folder}` in {root}",
                        hint='make it, or name another one: `cases = "…"` under [tool.evalkit] in pyproject.toml')
    started = time.time_ns()
    files: list[str] = []
    stamps: dict[str, Stamp] = {}
    leads: dict[str, Lead] = {}
    todo = [str(root / cases_folder)]
    while todo:
        folder = todo.pop()
        try:
            stamps[folder] = stamp(folder)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".eval"):
                        files.append(entry.path)
                    if entry.is_symlink():
                        leads[entry.path] = _lead(entry.path)
                    elif entry.is_dir():
                        todo.append(entry.path)
        except OSError as error:
            raise UserError(f"cannot read the folder {error.filename}: {error.strerror}") from error
    for path in files:
        with contextlib.suppress(OSError):  # a link that leads nowhere: whoever reads it will tell
            stamps[path] = stamp(path)
    return Survey(started, tuple(sorted(map(Path, files))), stamps, leads)


def unchanged(stamps: Mapping[str, Stamp], leads: Mapping[str, Lead]) -> bool:
    """Whether all of these are still what they were."""
    try:
        return all(stamp(path) == known for path, known in stamps.items()) and all(
            _lead(path) == known for path, known in leads.items())
    except OSError:
        return False


def stamp(path: str) -> Stamp:
    """The state of a file or a folder. Raises OSError."""
    found = os.stat(path)  # noqa: PTH116 - of thousands: making a Path takes longer than the call
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _lead(path: str) -> Lead:
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        kind = 0
    return os.path.realpath(path), kind
