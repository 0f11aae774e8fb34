"""A look at the folders of a project: its case files, and the state of all that compiling them could look up.

* A folder or a file has a stamp: inode, size, and the times when its content and its inode were changed. The latter
  changes with permissions too, and nobody can set it. That of a folder changes when an entry comes, goes or is
  replaced.
* A link has a lead: the path that it ends at, and what is there. Folders on the way may be outside the project.
* A folder has a listing: who may do what in it, and the names and kinds of its entries. It tells whether a folder
  whose stamp changed is another one: an editor that saves a file by renaming replaces an entry by one like it.

Whatever a case names lies below its suite's folder. So as long as the listings of all folders and the leads of all
links are the same, a path is there, or not, and is of the kind that it was.
"""

import contextlib
import os
import stat
import time
from collections.abc import Collection, Mapping
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

from evalkit.errors import UserError

__all__ = ["Lead", "Listing", "Stamp", "Survey", "changed_leads", "changed_stamps", "list_folder", "stamp", "stamps_of",
           "survey", "unchanged"]

Stamp: TypeAlias = tuple[int, int, int, int]
Lead: TypeAlias = tuple[str, int]
Listing: TypeAlias = tuple[int, int, int, tuple[str, ...]]
"""Mode, user, group; and the entries, sorted: a letter for the kind (d, f, l, or o for another) before each name."""

_stamp_of = attrgetter("st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


class Survey(NamedTuple):
    """`stamps` of all folders and of the case files; `leads` of all links; `listings` of all folders.

    `started`: nanoseconds, before the look.
    """

    started: int
    case_files: tuple[Path, ...]
    stamps: dict[str, Stamp]
    leads: dict[str, Lead]
    listings: dict[str, Listing]


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
    listings: dict[str, Listing] = {}
    todo = [str(root / cases_folder)]
    while todo:
        folder = todo.pop()
        try:
            stamps[folder], listings[folder] = list_folder(folder)
        except OSError as error:
            raise UserError(f"cannot read the folder {error.filename}: {error.strerror}") from error
        for entry in listings[folder][-1]:
            path = f"{folder}/{entry[1:]}"
            if path.endswith(".eval"):
                files.append(path)
            if entry[0] == "l":
                leads[path] = _lead(path)
            elif entry[0] == "d":
                todo.append(path)
    for path in files:
        with contextlib.suppress(OSError):  # a link that leads nowhere: whoever reads it will tell
            stamps[path] = stamp(path)
    return Survey(started, tuple(sorted(map(Path, files))), stamps, leads, listings)


def list_folder(folder: str) -> tuple[Stamp, Listing]:
    """A folder's stamp, and what was in it then or a moment later. Raises OSError."""
    found = os.stat(folder)  # noqa: PTH116 - of thousands: making a Path takes longer than the call
    with os.scandir(folder) as entries:
        names = sorted(_kind(entry) + entry.name for entry in entries)
    return _stamp_of(found), (found.st_mode, found.st_uid, found.st_gid, tuple(names))


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "l"
    if entry.is_dir():
        return "d"
    return "f" if entry.is_file() else "o"


def unchanged(stamps: Mapping[str, Stamp], leads: Mapping[str, Lead]) -> bool:
    """Whether all of these are still what they were."""
    return not changed_stamps(stamps) and not changed_leads(leads)


def changed_stamps(stamps: Mapping[str, Stamp | None]) -> dict[str, Stamp | None]:
    """The paths whose stamps are others now, with these; None where there is nothing any more."""
    return {path: now for (path, known), now in zip(stamps.items(), stamps_of(stamps), strict=True) if now != known}


def stamps_of(paths: Collection[str]) -> list[Stamp | None]:
    """The stamps of files or folders; None for one that cannot be looked at."""
    try:
        return list(map(_stamp_of, map(os.stat, paths)))  # nothing of Python's own between thousands of calls
    except OSError:
        return list(map(_stamp_or_none, paths))


def changed_leads(leads: Mapping[str, Lead]) -> bool:
    """Whether any link leads elsewhere."""
    return any(_lead(path) != known for path, known in leads.items())


def stamp(path: str) -> Stamp:
    """The state of a file or a folder. Raises OSError."""
    found: Stamp = _stamp_of(os.stat(path))  # noqa: PTH116
    return found


def _stamp_or_none(path: str) -> Stamp | None:
    try:
        return stamp(path)
    except OSError:
        return None


def _lead(path: str) -> Lead:
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        kind = 0
    return os.path.realpath(path), kind
