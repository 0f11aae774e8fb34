"""A workspace's archive, made in memory: the files of a template's archive with folders laid over them.

It is what unpacking the template, laying the folders over it (overlay.py) and packing the tree (pack.py) comes to, and
a test holds that equal; but for a few small files no folder is made, filled, read and removed. Whatever is out of the
ordinary is left to that way, which knows what to make of it: links, other kinds of files, names that are no text, large
files, many of them. The answer is `None` then.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from evalkit.digest import LEFTOVERS
from evalkit.errors import HarnessError
from evalkit.execute.pack import Packer, packed
from evalkit.execute.tree import Manifest, members

__all__ = ["LIGHT", "layered"]

LIGHT = 128 * 1024
"""Bytes of a template's archive that is small."""
_MOST_BYTES = 1_000_000
"""Bytes of all files together."""
_MOST = 500
"""Files and folders."""
_DEEPEST = 20
_LONGEST = 500
"""Bytes of a path."""

Folder: TypeAlias = "dict[str, tuple[bool, bytes] | Folder]"
"""What a folder holds, by name: a file (whether it can be executed, its bytes) or a folder."""


class _NotLight(Exception):
    """Something is out of the ordinary."""


def layered(archive: Path, layers: Sequence[tuple[Path, str]], *,
            exclude: Iterable[str]) -> tuple[bytes, Manifest] | None:
    """An archive's files with folders laid over them, each at a place in the tree ("" for its root), as an archive.

    None where it has to be done on the disk. exclude: as for `pack`.
    """
    try:
        found = archive.stat()
        if found.st_size > LIGHT:
            return None
        room = _Room()
        tree = _copy(_of_archive(archive, (found.st_ino, found.st_mtime_ns, found.st_ctime_ns)), room)
        for source, place in layers:
            _lay_over(os.fspath(source), tree, place.split("/") if place else [], room)
    except (_NotLight, OSError, HarnessError):
        return None
    return packed(lambda packer: _pack(packer, tree, ""), exclude=exclude)


class _Room:
    """How much may still come."""

    def __init__(self) -> None:
        self.entries, self.bytes = _MOST, _MOST_BYTES

    def take(self, size: int = 0) -> None:
        self.entries -= 1
        self.bytes -= size
        if self.entries < 0 or self.bytes < 0:
            raise _NotLight


@lru_cache(maxsize=2)
def _of_archive(archive: Path, _: tuple[int, ...]) -> Folder:
    """The tree in an archive; all workspaces of a profile begin with the same one."""
    root: Folder = {}
    room = _Room()
    for member, read in members(archive):
        room.take(member.size)
        *above, base = member.name.split("/")
        if member.kind == b"link" or len(above) > _DEEPEST:
            raise _NotLight
        folder = root
        for name in above:
            inner = folder[name]
            assert isinstance(inner, dict)
            folder = inner
        folder[base] = {} if member.kind == b"folder" else (member.kind == b"program", read())
    return root


def _copy(folder: Folder, room: _Room) -> Folder:
    copy: Folder = {}
    for name, entry in folder.items():
        room.take(0 if isinstance(entry, dict) else len(entry[1]))
        copy[name] = _copy(entry, room) if isinstance(entry, dict) else entry
    return copy


def _lay_over(source: str, tree: Folder, place: list[str], room: _Room) -> None:
    """Lay a folder's files over a tree. Raises OSError where the source cannot be read."""
    with os.scandir(source) as entries:
        found = [entry for entry in entries if entry.name != LEFTOVERS]
    if not found:
        return  # no place is made for nothing
    for name in place:
        tree = _folder(tree, name, room)
    _lay(source, found, tree, len(place), room)


def _folder(tree: Folder, name: str, room: _Room) -> Folder:
    """The folder of a name; it takes the place of a file."""
    inner = tree.get(name)
    if not isinstance(inner, dict):
        room.take()
        inner = tree[name] = {}
    return inner


def _lay(source: str, found: Iterable[os.DirEntry[str]], tree: Folder, depth: int, room: _Room) -> None:
    if depth > _DEEPEST or len(source) > _LONGEST:
        raise _NotLight
    for entry in found:
        if not entry.name.isprintable():
            raise _NotLight
        if entry.is_dir(follow_symlinks=False):
            inner = _folder(tree, entry.name, room)
            with os.scandir(entry.path) as entries:
                below = [entry for entry in entries if entry.name != LEFTOVERS]
            _lay(entry.path, below, inner, depth + 1, room)
        elif entry.is_file(follow_symlinks=False):
            tree[entry.name] = _read(entry.path, room)
        else:
            raise _NotLight


def _read(path: str, room: _Room) -> tuple[bool, bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        room.take(found.st_size)
        data = os.read(descriptor, found.st_size + 1)
        if not stat.S_ISREG(found.st_mode) or len(data) != found.st_size:  # it changes
            raise _NotLight
    finally:
        os.close(descriptor)
    return os.access(path, os.X_OK), data


def _pack(packer: Packer, folder: Folder, prefix: str) -> None:
    for base, entry in sorted(folder.items()):
        name = prefix + base
        if name in packer.exclude:
            continue
        if isinstance(entry, dict):
            packer.add_folder(name)
            _pack(packer, entry, name + "/")
        else:
            packer.add_file(name, executable=entry[0], data=entry[1])
