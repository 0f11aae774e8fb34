"""The manifest of an entry of the store: what it is, and the digest and size of every file in it.

`entry.json` is written last, inside the folder in which the entry is made, so that an entry which was renamed into
place names all of its files. What it names is compared with what is there when the entry is opened: a file that was
cut, changed or lost makes the entry a damaged one. Files that it does not name are nobody's business.

An entry without a manifest is a damaged one, too: nothing tells what it should hold.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from evalkit.digest import is_text
from evalkit.errors import HarnessError
from evalkit.values import Value

__all__ = ["MANIFEST", "Damaged", "EntryManifest", "Stamp", "check_file", "fill", "fits", "is_key", "is_kind",
           "parse_manifest", "read_manifest", "seal", "stamp_of"]

MANIFEST = "entry.json"
SCHEMA = 1
LARGEST_MANIFEST = 16 * 1024 * 1024
"""Bytes."""
_KIND = r"[a-z][a-z0-9-]{0,30}"
_OWN = frozenset({"making", "locks", "damaged", "finished"})
"""Folders of the store that hold no entries."""
_CHUNK = 1 << 16

Stamp: TypeAlias = tuple[int, int, int, int, int]
"""What differs when a file was written, replaced or cut, on any file system that keeps times."""


class Damaged(Exception):
    """An entry is not what its manifest says. The message says what is wrong, in a few words."""


class EntryManifest(Value):
    """What an entry holds.

    made_at: ISO 8601, UTC. durable: it cannot be made again for nothing. inputs: the named inputs of its key, where its
    maker gave them. files: each file's path below the entry's folder, with the SHA-256 of its bytes and its size.
    """

    kind: str
    key: str
    made_at: str
    durable: bool
    inputs: dict[str, str]
    files: dict[str, tuple[str, int]]

    def dump(self) -> bytes:
        files = {name: {"sha256": digest, "size": size} for name, (digest, size) in self.files.items()}
        return orjson.dumps({"schema": SCHEMA, "kind": self.kind, "key": self.key, "made_at": self.made_at,
                             "durable": self.durable, "inputs": self.inputs, "files": files},
                            option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)

    @property
    def bytes(self) -> int:
        return sum(size for _, size in self.files.values())


def is_kind(text: str) -> bool:
    return re.fullmatch(_KIND, text) is not None and text not in _OWN


def is_key(text: str) -> bool:
    return len(text) == 64 and not text.strip("0123456789abcdef")


# ---- writing ----
def seal(folder: Path, kind: str, key: str, *, durable: bool, inputs: Mapping[str, str]) -> EntryManifest:
    """Write the manifest of a folder that is finished. Raises OSError, and HarnessError for what no entry may hold."""
    files = {name: _digest(folder / name) for name in sorted(_names(str(folder))) if name != MANIFEST}
    manifest = EntryManifest(kind, key, _now(), durable, dict(inputs), files)
    descriptor = os.open(folder / MANIFEST, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(manifest.dump())
    return manifest


def fill(folder: Path, kind: str, key: str, files: Mapping[str, bytes],
         inputs: Mapping[str, str]) -> dict[str, Stamp]:
    """Write the files of an entry and its manifest into an empty folder. Returns their stamps. Raises OSError."""
    held = {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in sorted(files.items())}
    manifest = EntryManifest(kind, key, _now(), False, dict(inputs), held)
    return {name: _write(f"{folder}/{name}", data) for name, data in {**files, MANIFEST: manifest.dump()}.items()}


def _write(path: str, data: bytes) -> Stamp:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        return _stamp(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _names(folder: str, prefix: str = "") -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _names(entry.path, name + "/")
            elif entry.is_file(follow_symlinks=False) and is_text(name):
                yield name
            else:
                raise HarnessError(f"the store keeps files and folders alone, and {entry.path!r} is neither")


def _digest(path: Path) -> tuple[str, int]:
    state, size = hashlib.sha256(), 0
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        while chunk := os.read(descriptor, _CHUNK):
            state.update(chunk)
            size += len(chunk)
    finally:
        os.close(descriptor)
    return state.hexdigest(), size


# ---- reading ----
def read_manifest(folder: Path, kind: str, key: str) -> EntryManifest:
    """The manifest of an entry. Raises `Damaged`, and OSError: FileNotFoundError where there is no entry."""
    try:
        data = _read(f"{folder}/{MANIFEST}")
    except FileNotFoundError:
        empty = next(folder.iterdir(), None) is None
        raise Damaged("it is empty" if empty else f"its {MANIFEST} is missing") from None
    except NotADirectoryError:
        raise Damaged("it is no folder") from None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise Damaged("it is a link to itself") from None
    return parse_manifest(data, kind, key)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # to open a pipe would wait
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Damaged(f"its {MANIFEST} is no file")
        found = b""
        while len(found) <= LARGEST_MANIFEST and (chunk := os.read(descriptor, _CHUNK)):
            found += chunk
    finally:
        os.close(descriptor)
    return found


def parse_manifest(data: bytes, kind: str, key: str) -> EntryManifest:
    """A manifest from its bytes, which nobody vouches for. Raises `Damaged`."""
    if len(data) > LARGEST_MANIFEST:
        raise Damaged(f"its {MANIFEST} is too large")
    try:
        fields: Any = orjson.loads(data)
        schema = fields["schema"]
        if schema != SCHEMA:
            raise Damaged(f"its {MANIFEST} has schema {str(schema)[:20]}, this evalkit reads {SCHEMA}")
        manifest = EntryManifest(
            _text(fields["kind"]), _text(fields["key"]), _text(fields["made_at"]), fields["durable"] is True,
            {_text(name): _text(value) for name, value in fields["inputs"].items()},
            {_place(name): (_digits(file["sha256"]), _size(file["size"])) for name, file in fields["files"].items()})
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError):
        raise Damaged(f"its {MANIFEST} cannot be read") from None
    if (manifest.kind, manifest.key) != (kind, key):
        raise Damaged(f"its {MANIFEST} is that of another entry")
    return manifest


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _digits(value: Any) -> str:
    if not is_key(_text(value)):
        raise ValueError
    return str(value)


def _size(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError
    return value


def fits(name: str) -> bool:
    """Whether an entry may hold a file at this path: it stays below its folder on any system, and is not the manifest.
    """
    return not (any(part in ("", ".", "..") for part in name.split("/")) or name == MANIFEST or not is_text(name)
                or len(name.encode()) > 1_000 or any(not char.isprintable() or char in "\\:" for char in name))


def _place(name: str) -> str:
    if not fits(name):
        raise ValueError
    return name


def check_file(folder: Path, name: str, known: tuple[str, int], *, contents: bool = True) -> Stamp:
    """Compare a file with what the manifest says; without `contents` its size alone. Returns the stamp that it had.

    Raises `Damaged`, and OSError where it cannot be read.
    """
    digest, size = known
    path = folder / name
    try:
        before = stamp_of(path)
        found = (_digest(path) if contents else (digest, before[3])) if stat.S_ISREG(before[4]) else None
    except (FileNotFoundError, NotADirectoryError):
        raise Damaged(f"{name} is missing") from None
    if found is None:
        raise Damaged(f"{name} is no file")
    if found[1] != size:
        raise Damaged(f"{name} has {found[1]} bytes, not {size}")
    if found[0] != digest:
        raise Damaged(f"{name} has other contents than when it was made")
    return before


def stamp_of(path: Path | str) -> Stamp:
    """Raises OSError."""
    return _stamp(os.lstat(path))


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_mode
