"""Entries of a store in one file, to carry them to another machine: exported whole or not at all, imported on no trust.

The file is a tar within a zstd frame, of plain files in one fixed order:

    evalkit-store.json           the schema, and kind and key of every entry, sorted
    KIND/KEY/entry.json          an entry's manifest
    KIND/KEY/NAME …              its files, sorted, each as the manifest says

The same entries give the same bytes. An import reads that form and no other: it knows the name, and but for manifests
the size, of each member before it comes, and no name is ever taken from the tar. All is unpacked beside the store's
entries, and compared with the digests, before the first entry gets its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias
from uuid import uuid4

import orjson
import zstandard
from attrs import frozen

from evalkit.errors import EvalkitError, HarnessError, UserError
from evalkit.execute.store import Store
from evalkit.execute.store_entry import (
    LARGEST_MANIFEST,
    MANIFEST,
    Damaged,
    EntryManifest,
    is_key,
    is_kind,
    parse_manifest,
)

__all__ = ["Imported", "Name", "export_entries", "import_entries"]

Name: TypeAlias = tuple[str, str]
"""Kind and key of an entry."""
_HEAD = "evalkit-store.json"
_SCHEMA = 1
_MOST_ENTRIES = 100_000
_MOST_FILES = 10_000
"""Of one entry."""
_LARGEST_FILE = 1024**3
_LARGEST = 64 * 1024**3
"""Bytes of all files together."""
_SPARE = 64 * 1024**2
"""Bytes that an import leaves free on the disk."""
_CHUNK = 1 << 20
_BLOCK = tarfile.BLOCKSIZE
_WINDOW = 1 << 27
"""The most memory that unpacking may take, in bytes."""


# ---- export ----
def export_entries(store: Store, names: Sequence[Name], target: Path) -> int:
    """Write entries to a file; returns the bytes of their files. Raises HarnessError where one is damaged or gone."""
    target = target.resolve()  # what a link names is written, the link stays
    temporary = target.with_name(f".{target.name}.{uuid4().hex[:8]}.tmp")
    try:
        with temporary.open("xb") as raw:
            with zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(raw, closefd=False) as packed:
                size = sum(_write_all(store, sorted(set(names)), packed))
            raw.flush()
            os.fsync(raw.fileno())
        temporary.replace(target)
    except OSError as error:
        raise HarnessError(f"cannot write {target}: {error.strerror or error}",
                           hint="is the disk full, or the folder read-only?") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return size


def _write_all(store: Store, names: Sequence[Name], file: IO[bytes]) -> Iterator[int]:
    _write(file, _HEAD, orjson.dumps({"schema": _SCHEMA, "entries": names}))
    for kind, key in names:
        folder = store.open(kind, key)
        if folder is None:
            raise HarnessError(f"the {kind} {key[:12]} is damaged or gone", hint="nothing was exported")
        manifest = store.manifest(kind, key)
        if manifest is None:
            raise HarnessError(f"the {kind} {key[:12]} is gone", hint="nothing was exported")
        _write(file, f"{kind}/{key}/{MANIFEST}", manifest.dump())
        for name, (_, size) in sorted(manifest.files.items()):
            _copy(file, f"{kind}/{key}/{name}", folder / name, size)
            yield size
    file.write(bytes(2 * _BLOCK))


def _write(file: IO[bytes], name: str, data: bytes) -> None:
    _header(file, name, len(data))
    file.write(data)
    file.write(bytes(-len(data) % _BLOCK))


def _copy(file: IO[bytes], name: str, source: Path, size: int) -> None:
    _header(file, name, size)
    left = size
    try:
        found = source.open("rb")
    except OSError as error:
        raise HarnessError(f"cannot read {source}: {error.strerror or error}", hint="nothing was exported") from error
    with found:
        while left and (chunk := found.read(min(left, _CHUNK))):
            file.write(chunk)
            left -= len(chunk)
    if left:
        raise HarnessError(f"{source} changed while it was read", hint="nothing was exported; try again")
    file.write(bytes(-size % _BLOCK))


def _header(file: IO[bytes], name: str, size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    try:
        file.write(member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict"))
    except ValueError as error:
        raise HarnessError(f"{name} cannot be exported: {error}", hint="nothing was exported") from error


# ---- import ----
@frozen
class Imported:
    """What an import came to. there: entries that the store had: they stay as they are."""

    new: tuple[Name, ...]
    there: tuple[Name, ...]
    bytes: int


def import_entries(store: Store, source: Path, waiting: Callable[[Name], None] = lambda _: None) -> Imported:
    """Put the entries of an exported file in place, all of them sound. waiting: is told of an entry that is just made.

    Raises UserError for a file that is no export, is damaged or wants what none does, and HarnessError where the store
    cannot be written. Nothing was imported then, but where the store fails between two entries.
    """
    new: list[Name] = []
    there: list[Name] = []
    size = 0
    with store.beside("import") as folder:
        for manifest in _unpacked(source, folder):
            kind, key = name = manifest.kind, manifest.key
            size += manifest.bytes

            def wait(name: Name = name) -> None:
                waiting(name)

            with store.claim(kind, key, wait):
                is_new = store.open(kind, key) is None and store.keep(folder / kind / key, kind, key,
                                                                       durable=manifest.durable)
            (new if is_new else there).append(name)
    return Imported(tuple(new), tuple(there), size)


def _unpacked(source: Path, folder: Path) -> list[EntryManifest]:
    """Unpack an export into KIND/KEY below a folder; every file is what its manifest says."""
    try:
        if source.exists() and not source.is_file():  # to open a pipe would wait
            raise UserError(f"cannot read {source}: it is no file",
                            hint="name a file that `evalkit store export` wrote; from a pipe: cat > runs.tar.zst")
        with source.open("rb") as raw:
            if not os.fstat(raw.fileno()).st_size:
                raise Damaged("it is empty")
            with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(raw) as plain:
                return list(_read_all(_Members(plain), folder))
    except (Damaged, zstandard.ZstdError, tarfile.TarError, UnicodeError) as error:
        raise UserError(f"{source} cannot be imported: {error}",
                        hint="nothing was imported; it must be a file that `evalkit store export` wrote") from error
    except EvalkitError:
        raise
    except OSError as error:
        if error.filename is not None and Path(error.filename) == source:
            raise UserError(f"cannot read {source}: {error.strerror}") from error
        raise HarnessError(f"cannot import {source}: {error.strerror or error}",
                           hint="nothing was imported; is the disk full, or the store read-only?") from error


def _read_all(members: _Members, folder: Path) -> Iterator[EntryManifest]:
    total = 0
    for kind, key in _head(members.whole(_HEAD, LARGEST_MANIFEST)):
        inside = f"{kind}/{key}"
        data = members.whole(f"{inside}/{MANIFEST}", LARGEST_MANIFEST)
        manifest = parse_manifest(data, kind, key)
        total += manifest.bytes + len(data)
        _check_bounds(manifest, total, folder)
        target = folder / inside
        target.mkdir(parents=True)
        for name, (digest, size) in sorted(manifest.files.items()):
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            members.unpack(f"{inside}/{name}", size, digest, place)
        (target / MANIFEST).write_bytes(data)
        yield manifest
    members.end()


def _head(data: bytes) -> list[Name]:
    try:
        head: Any = orjson.loads(data)
        if head["schema"] != _SCHEMA:
            raise Damaged("it was written by another version of evalkit")
        names = [(kind, key) for kind, key in head["entries"]]
        sound = all(isinstance(part, str) for name in names for part in name)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise Damaged("its list of entries cannot be read") from None
    if not sound or not all(is_kind(kind) and is_key(key) for kind, key in names):
        raise Damaged("it names what is no entry")
    if len(names) > _MOST_ENTRIES or names != sorted(set(names)):
        raise Damaged("its list of entries is too long, or not in order")
    return names


def _check_bounds(manifest: EntryManifest, total: int, folder: Path) -> None:
    """Raise `Damaged` for an entry that no store has, and HarnessError where the disk has no room for it."""
    files = manifest.files
    if len(files) > _MOST_FILES or total > _LARGEST or any(size > _LARGEST_FILE for _, size in files.values()):
        raise Damaged(f"the {manifest.kind} {manifest.key[:12]} is too large")
    if any(parent.as_posix() in files for name in files for parent in PurePosixPath(name).parents):
        raise Damaged(f"the {manifest.kind} {manifest.key[:12]} has a file that is a folder too")
    if shutil.disk_usage(folder).free < manifest.bytes + _SPARE:
        raise HarnessError(f"the disk has no room for {manifest.bytes} bytes more", hint="nothing was imported")


class _Members:
    """The members of a tar, read in the order in which they must come. Raises `Damaged` where another one comes."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def whole(self, name: str, most: int) -> bytes:
        """The bytes of a small member."""
        size = self._next(name)
        if size > most:
            raise Damaged(f"{name} is too large")
        data = io.BytesIO()
        self._body(size, data.write)
        return data.getvalue()

    def unpack(self, name: str, size: int, digest: str, place: Path) -> None:
        if self._next(name) != size:
            raise Damaged(f"{name} is not as large as its manifest says")
        state = hashlib.sha256()
        with place.open("xb") as file:

            def take(chunk: bytes) -> None:
                state.update(chunk)
                file.write(chunk)

            self._body(size, take)
        if state.hexdigest() != digest:
            raise Damaged(f"{name} does not have the digest that its manifest says")

    def end(self) -> None:
        if self._exactly(2 * _BLOCK) != bytes(2 * _BLOCK) or self._plain.read(1):
            raise Damaged("there is more in it than it says")

    def _next(self, name: str) -> int:
        """The size of the next member, which must be a plain file of this name."""
        block = self._exactly(_BLOCK)
        if block == bytes(_BLOCK):
            raise Damaged(f"it ends before {name}")
        member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        if member.type != tarfile.REGTYPE or member.name != name or member.size < 0:
            raise Damaged(f"{member.name[:200]!r} is where the plain file {name} should be")
        return member.size

    def _body(self, size: int, take: Callable[[bytes], Any]) -> None:
        left = size
        while left:
            chunk = self._plain.read(min(left, _CHUNK))
            if not chunk:
                raise Damaged("it ends too early")
            take(chunk)
            left -= len(chunk)
        self._exactly(-size % _BLOCK)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk: bytes = self._plain.read(size - len(data))
            if not chunk:
                raise Damaged("it ends too early")
            data += chunk
        return data
