"""Trees of files as archives: recorded entry by entry, and unpacked without trust. (pack.py makes them.)

Links come last, in the archive and when it is unpacked: no file is ever written through one. `followed` tells where a
link leads from the links alone.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from evalkit.errors import HarnessError
from evalkit.execute.compressed import plain_bytes
from evalkit.execute.tar import BadTar, Member, TarReader
from evalkit.values import Value

__all__ = ["Manifest", "entries", "entry_digest", "followed", "listed", "members", "read_files", "unpack"]

_HOPS = 40
"""Links that may be followed from one link, as in the kernel."""


class Manifest(Value):
    """What an archive holds: each file's path and digest (a link's is its target's name's), and what was left out.

    bytes: of the files, together. cut: something was left out because the tree is over a cap.
    """

    files: dict[str, str]
    left_out: tuple[str, ...]
    bytes: int
    cut: bool = False


def entry_digest(kind: bytes, data: bytes) -> str:
    """What a manifest says of an entry. kind: file, program or link (its data are its target's name)."""
    return hashlib.sha256(kind + b"\0" + data).hexdigest()


def followed(name: str, target_of: Callable[[str], str | None]) -> str | None:
    """A path of a tree with its links followed; None where one leads outside at any step, or in a circle.

    target_of: where a link leads; None for what is no link. One that leads nowhere stays inside; programs differ in
    what they make of a circle.
    """
    place: list[str] = []
    waiting = name.split("/")[::-1]
    hops = 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not place:
                return None
            place.pop()
            continue
        place.append(part)
        target = target_of("/".join(place))
        if target is not None:
            hops += 1
            if hops > _HOPS or target.startswith("/"):
                return None
            place.pop()
            waiting += target.split("/")[::-1]
    return "/".join(place)


# ---- reading ----
def unpack(archive: Path, target: Path) -> None:
    """Unpack into a new folder. Raises HarnessError for an archive that is damaged or would write outside.

    Files get the time of now, as in a fresh checkout: build tools compare times.
    """
    links: dict[str, str] = {}
    folders: set[str] = set()
    with _opened(archive, "unpack", into=target.parent) as tar:
        target.mkdir(parents=True, exist_ok=True)
        for member in _placed(tar, folders):
            path = target / member.name
            if member.kind == b"folder":
                path.mkdir(exist_ok=True)
            elif member.kind == b"link":
                links[member.name] = member.target
            else:
                _write(tar, member, path)
        for name, leads in links.items():
            if name in folders or name.rpartition("/")[0] in links or followed(name, links.get) is None:
                raise BadTar(f"the link {name!r} leads outside or in a circle")
            (target / name).symlink_to(leads)


def _placed(tar: TarReader, folders: set[str]) -> Iterator[Member]:
    """The members of an archive, each in a folder that came before it; `folders` gets their names."""
    folders.add("")
    for member in tar:
        parent, _, base = member.name.rpartition("/")
        if parent not in folders or base in ("", ".", ".."):
            raise BadTar(f"no place for {member.name!r} in it")
        if member.kind == b"folder":
            folders.add(member.name)
        yield member


def members(archive: Path) -> Iterator[tuple[Member, Callable[[], bytes]]]:
    """All that an archive holds, in order, with what reads a file's bytes before the next. Raises HarnessError."""
    with _opened(archive, "read") as tar:
        for member in _placed(tar, set()):
            yield member, tar.data


def _write(tar: TarReader, member: Member, path: Path) -> None:
    mode = 0o755 if member.kind == b"program" else 0o644
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        while chunk := tar.data(1 << 20):
            file.write(chunk)


def read_files(archive: Path, names: Iterable[str], *, largest: int) -> dict[str, bytes | None]:
    """The bytes of some files of an archive, without unpacking it; None for one larger than `largest` bytes.

    Links are not followed: they have no bytes. Raises HarnessError.
    """
    wanted = frozenset(names)
    found: dict[str, bytes | None] = {}
    if not wanted:
        return found
    with _opened(archive, "read") as tar:
        for member in tar:
            if member.name in wanted and member.is_file:
                found[member.name] = tar.data() if member.size <= largest else None
    return found


def entries(archive: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """All that an archive holds but its folders: name, kind (file, program or link) and data. Raises HarnessError."""
    with _opened(archive, "read") as tar:
        for member in tar:
            if member.kind != b"folder":
                yield member.name, member.kind, member.target.encode() if member.kind == b"link" else tar.data()


def listed(archive: Path) -> Manifest:
    """The manifest of all that an archive holds. Raises HarnessError."""
    files, size = {}, 0
    for name, kind, data in entries(archive):
        files[name] = entry_digest(kind, data)
        size += len(data) if kind != b"link" else 0
    return Manifest(dict(sorted(files.items())), (), size)


@contextmanager
def _opened(archive: Path, what: str, into: Path | None = None) -> Iterator[TarReader]:
    """An archive's members in order."""
    try:
        with plain_bytes(archive) as plain:
            yield TarReader(plain)
    except (OSError, zstandard.ZstdError, ValueError) as error:
        hint = "if it is damaged, delete its folder: it is made again"
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = f"make room on the disk of {into or archive.parent}, then run again"
        raise HarnessError(f"cannot {what} {archive}: {error}", hint=hint) from error
