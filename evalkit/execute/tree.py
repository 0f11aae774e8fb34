"""Trees of files as archives: made with caps, recorded entry by entry, unpacked without trust.

An agent's tree may hold anything: devices, sockets, links that lead out, millions of files, names that are not text.
Packing takes regular files, folders and links that stay inside; all else is left out and said. So an unpacked tree is
harmless by construction, and graders need no checks of their own.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import zstandard
from attrs import frozen

from evalkit.errors import HarnessError

__all__ = ["MAX_BYTES", "MAX_ENTRIES", "Manifest", "pack", "read_files", "unpack"]

MAX_ENTRIES = 20_000
MAX_BYTES = 512 * 1024 * 1024
_LISTED = 20
"""Left-out entries that are named; the rest is counted."""


@frozen
class Manifest:
    """What an archive holds: each file's path and digest (a link's is its target's name's), and what was left out."""

    files: dict[str, str]
    left_out: tuple[str, ...]
    bytes: int


def pack(root: Path, archive: Path, *, exclude: Iterable[str] = (),
         clean: Callable[[bytes], bytes] = lambda data: data) -> Manifest:
    """Write the tree below `root` to a tar.zst file; equal trees give equal bytes (no times, owners, disk order).

    exclude: folders or files, relative to the root. clean: takes secrets out of a file's bytes.
    Raises HarnessError where the archive cannot be written.
    """
    excluded = frozenset(exclude)
    files: dict[str, str] = {}
    left_out: list[str] = []
    size = entries = 0
    try:
        with (archive.open("wb") as raw, zstandard.ZstdCompressor(level=6).stream_writer(raw) as packed,
              tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar):
            for path, name, reason in _walk(root, excluded):
                if reason:
                    left_out.append(f"{name}: {reason}")
                    continue
                entries += 1
                info = os.lstat(path)
                if entries > MAX_ENTRIES or size + info.st_size > MAX_BYTES:
                    left_out.append(f"{name} and what follows: the tree is over {MAX_ENTRIES} entries "
                                    f"or {MAX_BYTES // (1024 * 1024)} MB")
                    break
                member = tarfile.TarInfo(name)
                if stat.S_ISLNK(info.st_mode):
                    target = str(path.readlink())
                    member.type, member.linkname = tarfile.SYMTYPE, target
                    tar.addfile(member)
                    files[name] = hashlib.sha256(b"link:" + os.fsencode(target)).hexdigest()
                elif stat.S_ISDIR(info.st_mode):
                    member.type, member.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(member)
                else:
                    data = _read(path)
                    if data is None:
                        left_out.append(f"{name}: cannot be read")
                        continue
                    data = clean(data)
                    size += len(data)
                    member.size = len(data)
                    executable = bool(info.st_mode & stat.S_IXUSR)
                    member.mode = 0o755 if executable else 0o644
                    tar.addfile(member, io.BytesIO(data))
                    files[name] = hashlib.sha256(data + (b"x" if executable else b"-")).hexdigest()
    except OSError as error:
        raise HarnessError(f"cannot write {archive}: {error.strerror or error}",
                           hint="is the disk full, or the folder read-only?") from error
    if len(left_out) > _LISTED:
        left_out = [*left_out[:_LISTED], f"and {len(left_out) - _LISTED} more"]
    return Manifest(files, tuple(left_out), size)


def _walk(root: Path, excluded: frozenset[str]) -> Iterator[tuple[Path, str, str]]:
    """(path, name, why it is left out or "") of every entry below the root, sorted, folders before what they hold."""
    stack = [(root, "")]
    real_root = os.path.realpath(root)
    while stack:
        folder, prefix = stack.pop()
        try:
            children = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            yield folder, prefix.rstrip("/") or ".", "cannot be listed"
            continue
        deeper = []
        for entry in children:
            name = prefix + entry.name
            path = Path(entry.path)
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                yield path, name.encode("utf-8", "backslashreplace").decode(), "its name is not UTF-8"
                continue
            if name in excluded:
                continue
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                target = os.path.realpath(path)
                outside = path.readlink().is_absolute() or not (target + "/").startswith(real_root + "/")
                yield path, name, "a link that leads outside" if outside else ""
            elif stat.S_ISDIR(mode):
                yield path, name, ""
                deeper.append((path, name + "/"))
            elif stat.S_ISREG(mode):
                yield path, name, ""
            else:
                yield path, name, "neither a file nor a folder"
        stack += reversed(deeper)


def _read(path: Path) -> bytes | None:
    """A regular file's bytes; None where it cannot be read. Opened so that a fifo put in its place does not block."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(MAX_BYTES + 1)


def unpack(archive: Path, target: Path) -> None:
    """Unpack into a new folder. Raises HarnessError for an archive that is damaged or would write outside."""
    target.mkdir(parents=True, exist_ok=True)
    try:
        with archive.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as plain, \
                tarfile.open(fileobj=plain, mode="r|") as tar:
            # Python before 3.11.4 has no filters; there, what `pack` writes is trusted.
            safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(target, **safe)
    except (OSError, tarfile.TarError, zstandard.ZstdError) as error:
        raise HarnessError(f"cannot unpack {archive}: {error}",
                           hint="if it is damaged, delete its folder: it is made again") from error


def read_files(archive: Path, names: Iterable[str], *, largest: int) -> dict[str, bytes | None]:
    """The bytes of some files of an archive, without unpacking it; None for one larger than `largest` bytes.

    Links are not followed: they have no bytes. Raises HarnessError.
    """
    wanted = frozenset(names)
    found: dict[str, bytes | None] = {}
    if not wanted:
        return found
    try:
        with archive.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as plain, \
                tarfile.open(fileobj=plain, mode="r|") as tar:
            for member in tar:
                if member.name in wanted and member.isreg():
                    file = tar.extractfile(member) if member.size <= largest else None
                    found[member.name] = file.read() if file is not None else None
    except (OSError, tarfile.TarError, zstandard.ZstdError) as error:
        raise HarnessError(f"cannot read {archive}: {error}",
                           hint="if it is damaged, delete its folder: it is made again") from error
    return found
