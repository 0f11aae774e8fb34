"""Folders that belong to a running process: how it claims one, how others see that it is gone, how one is removed.

A claimed folder's name starts with the process id, and the process holds a lock on the folder. The id tells of a dead
owner at once; the lock holds where ids mean nothing (another container works on the same disk) or were given again.
So a folder gets that name only once it is locked: else another container could take it for abandoned in between.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from evalkit.execute.marks import alive

__all__ = ["abandoned", "adopted", "claimed", "lasting_name", "remove_half_written", "remove_tree"]

_NEW = "new-"
"""How the name of a folder begins that is not locked yet."""
_LONGEST_NEW = 60.0
"""Seconds after which such a folder is one that was never finished."""
_HALF_WRITTEN = r"(?s)\..+\.(\d+)(-\d+)?\.tmp"
"""The name of a file that is written before it gets its own: the process that writes it is part of it."""
_DEEP = 60
"""Levels below which folders are moved up before they are removed."""


@contextmanager
def claimed(parent: Path, purpose: str) -> Iterator[Path]:
    """A new empty folder, held by this process for the time of a `with`. It is not removed. Raises OSError."""
    name = os.urandom(4).hex()
    new, folder = f"{parent}/{_NEW}{name}", f"{parent}/{os.getpid()}-{purpose}-{name}"
    os.mkdir(new, 0o700)  # noqa: PTH102 - of thousands
    descriptor = os.open(new, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: the process id must do
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(new, folder)  # noqa: PTH104
        yield Path(folder)
    finally:
        os.close(descriptor)


def lasting_name(folder: Path) -> str:
    """The part of a claimed folder's name that stays when another process adopts it."""
    return folder.name.partition("-")[2]


@contextmanager
def adopted(parent: Path, lasting: str) -> Iterator[Path]:
    """A folder that a killed process left, held by this process for the time of a `with`. It is not removed.

    Raises OSError, FileNotFoundError where there is none of that lasting name without an owner.
    """
    left = next((path for path in parent.iterdir() if lasting_name(path) == lasting and abandoned(path)), None)
    if left is None:
        raise FileNotFoundError(parent / lasting)
    folder = parent / f"{os.getpid()}-{lasting}"
    descriptor = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileNotFoundError(left) from None  # somebody was quicker
        except OSError:  # a file system without locks: the process id must do
            pass
        left.rename(folder)
        yield folder
    finally:
        os.close(descriptor)


def abandoned(folder: Path) -> bool:
    """Whether `folder` was claimed by a process that is gone. False for anything that was not claimed."""
    if folder.name.startswith(_NEW):
        return _never_finished(folder)
    owner = folder.name.partition("-")[0]
    if not owner.isdigit() or alive(int(owner)):
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return folder.is_dir() and not folder.is_symlink()  # its permissions were taken away
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return True


def _never_finished(folder: Path) -> bool:
    """Whether a folder was made by a process that was killed before it could claim it."""
    try:
        return time.time() - folder.lstat().st_mtime > _LONGEST_NEW and next(folder.iterdir(), None) is None
    except OSError:
        return False


def remove_half_written(folder: Path) -> None:
    """Remove the files below a folder that killed processes were writing."""
    for parent, _, files in os.walk(folder):
        for name in files:
            if (found := re.fullmatch(_HALF_WRITTEN, name)) and not alive(int(found.group(1))):
                with contextlib.suppress(OSError):
                    Path(parent, name).unlink()


def remove_tree(folder: Path) -> None:
    """Remove a folder, whatever its writer did: permissions taken away, folders nested beyond any path's length."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir() and not folder.is_symlink():
        _make_removable(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _make_removable(folder: Path) -> None:
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        with contextlib.suppress(OSError):
            place.chmod(0o700)
            with os.scandir(place) as entries:
                inner = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
            for path in inner:
                if depth < _DEEP:
                    waiting.append((path, depth + 1))
                else:
                    path.chmod(0o700)
                    waiting.append((path.rename(folder / uuid4().hex), 1))
