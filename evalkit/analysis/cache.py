"""Keeps compiled projects, so that what has not changed is not compiled again. What is kept, index.py says.

A stamp tells a change only if the clock of the file system went on since the last one. So a project is not kept if
something in it changed so shortly before it was looked at that a later change could bear the same time, nor if
something changed while it was compiled. Projects with errors are not kept. Where the disk takes nothing, nothing is
kept.
"""

import contextlib
import hashlib
import marshal
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from evalkit.analysis.index import Index, Log, Place, Step, folder_of
from evalkit.analysis.survey import Listing, Stamp
from evalkit.analysis.trace import FileTrace
from evalkit.kept import keep_step, replace_file, write_kept

__all__ = ["KeptTrace", "append_units", "is_young", "keep_index", "new_units", "packed", "read_trace", "unpacked",
           "write_trace"]

_TICK = 20_000_000
"""Nanoseconds: more than the clock of a file system takes to go on."""
_COARSE = 2_000_000_000
"""The same where a time has no fraction of a second: there are file systems that count in two seconds."""


class KeptTrace(NamedTuple):
    """What is needed to compile again only what changed. looked: what suites found by themselves.

    listings: of all folders, packed: they are read where a folder changed.
    """

    files: dict[str, FileTrace]
    looked: frozenset[str]
    listings: bytes


def is_young(stamps: Iterable[Stamp], started: int) -> bool:
    """Whether a change after `started` could leave any of the stamps as it is."""
    return any(time > started - (_TICK if time % 1_000_000_000 else _COARSE) for found in stamps for time in found[2:])


def read_trace(root: Path, index: Index) -> KeptTrace | None:
    """The trace that was kept with an index; None where it is of another one."""
    try:
        data = (folder_of(root) / "trace").read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != index.trace:
        return None
    files, looked, listings = marshal.loads(data)
    as_trace = partial(tuple.__new__, FileTrace)  # what `_make` does, without a call in Python for each of thousands
    return KeptTrace(dict(zip(files, map(as_trace, files.values()), strict=True)), looked, listings)


def new_units(root: Path, parts: Mapping[str, bytes]) -> tuple[Log, dict[str, Place]] | None:
    """Write the file of units anew. None where that cannot be done."""
    path = folder_of(root) / "units"
    if not replace_file(path, b"".join(parts.values())):
        return None
    try:
        log = Log(path)
    except OSError:
        return None
    return log, _places(parts, 0)


def append_units(root: Path, log: Log, parts: Mapping[str, bytes]) -> dict[str, Place] | None:
    """Append to the file of units. None where that cannot be done, or it was replaced."""
    data = b"".join(parts.values())
    with contextlib.suppress(OSError):
        file = os.open(folder_of(root) / "units", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            if os.fstat(file).st_ino == log.inode and os.write(file, data) == len(data):
                return _places(parts, os.lseek(file, 0, os.SEEK_CUR) - len(data))
        finally:
            os.close(file)
    return None


def _places(parts: Mapping[str, bytes], start: int) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for name, part in parts.items():
        places[name] = start, len(part), hashlib.sha256(part).digest()[:16]
        start += len(part)
    return places


def packed(listings: dict[str, Listing]) -> bytes:
    return marshal.dumps(listings)


def unpacked(listings: bytes) -> dict[str, Listing]:
    """What was packed."""
    found: dict[str, Listing] = marshal.loads(listings)
    return found


def write_trace(root: Path, trace: KeptTrace) -> str:
    """Keep a trace: the digest by which an index names it; "" where the disk takes it not."""
    files = {path: tuple(row) for path, row in trace.files.items()}
    data = marshal.dumps((files, trace.looked, trace.listings))
    return hashlib.sha256(data).hexdigest() if replace_file(folder_of(root) / "trace", data) else ""


def keep_index(root: Path, index: Index, step: Step | None = None) -> None:
    """Keep an index, whose units are in its log, and whose trace is kept. step: how it became so, where it was read."""
    path = folder_of(root) / "index"
    if step is None:
        write_kept(path, index.key, marshal.dumps(index.plain()))
    else:
        keep_step(path, index.key, index.kept, marshal.dumps(tuple(step)), lambda: marshal.dumps(index.plain()))
