"""Trees of files as archives: made with caps, recorded entry by entry, unpacked without trust.

An agent's tree may hold anything: devices, sockets, links that lead out, millions of files, names that are not text.
Packing takes regular files, folders and links that stay inside; all else is left out and said. So an unpacked tree is
harmless by construction, and graders need no checks of their own.

The tree is walked by descriptors, folder by folder, so that no link put in a folder's place leads the walk away. Links
come last, in the archive and when it is unpacked: no file is ever written through one. `followed` tells where a link
leads from the links alone; packing leaves links out until all that remain stay inside among themselves, which is what
unpacking asks again.
"""

from __future__ import annotations

import errno
import hashlib
import io
import itertools
import os
import posixpath
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import zstandard

from evalkit.errors import HarnessError
from evalkit.execute.compressed import Compressed, compress, plain_bytes
from evalkit.values import Value

__all__ = ["MAX_BYTES", "MAX_ENTRIES", "MAX_FILE", "MAX_NAME", "Manifest", "Packer", "entries", "entry_digest",
           "listed", "members", "pack", "packed", "read_files", "unpack"]

MAX_ENTRIES = 20_000
MAX_BYTES = 512 * 1024 * 1024
MAX_FILE = 128 * 1024 * 1024
"""Bytes of one file: it is held in memory to be cleaned of secrets."""
MAX_DEPTH = 100
"""Folders within folders."""
MAX_NAME = 2_000
"""Bytes of a path below the root: with the path of the root it must stay under what the system takes (4096)."""
_LONGEST_SAID = 120
"""Characters of a left-out entry's path that are told: its beginning and its end."""
_LISTED = 20
"""Left-out entries that are named; the rest is counted."""
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


def pack(root: Path, archive: Path, *, exclude: Iterable[str] = (),
         clean: Callable[[bytes], bytes] = lambda data: data) -> Manifest:
    """Write the tree below `root` to a tar.zst file; equal trees give equal bytes (no times, owners, disk order).

    exclude: folders or files, relative to the root. clean: takes secrets out of a file's bytes.
    Raises HarnessError where the archive cannot be written.
    """
    try:
        with (archive.open("wb") as raw, Compressed(raw) as compressed,
              tarfile.open(fileobj=compressed, mode="w|", format=tarfile.PAX_FORMAT) as tar):  # type: ignore[call-overload] # it needs `write` alone
            packer = Packer(tar, exclude, clean)
            packer.root(root)
    except OSError as error:
        raise HarnessError(f"cannot write {archive}: {error.strerror or error}",
                           hint="is the disk full, or the folder read-only?") from error
    return packer.manifest()


def packed(fill: Callable[[Packer], None], *, exclude: Iterable[str]) -> tuple[bytes, Manifest]:
    """The bytes of the archive that `pack` would write of a small tree. fill: adds files and folders in its order."""
    plain = io.BytesIO()
    with tarfile.TarFile(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        packer = Packer(tar, exclude, lambda data: data)
        fill(packer)
        packer.write_links()
    return compress(plain.getbuffer()), packer.manifest()


class Packer:
    """Adds entries to a tar, with caps, and notes what is left out. exclude: paths from the root."""

    def __init__(self, tar: tarfile.TarFile, exclude: Iterable[str], clean: Callable[[bytes], bytes]) -> None:
        self.tar = tar
        self.exclude = frozenset(posixpath.normpath(name) for name in exclude)
        self.clean = clean
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.left_out: list[str] = []
        self.entries = self.bytes = 0
        self.cut = self.full = False

    def manifest(self) -> Manifest:
        named = self.left_out[:_LISTED]
        if len(self.left_out) > _LISTED:
            named.append(f"and {len(self.left_out) - _LISTED} more")
        return Manifest(self.files, tuple(named), self.bytes, self.cut)

    def leave_out(self, name: str, reason: str, *, cut: bool = False) -> None:
        said = name.encode("utf-8", "backslashreplace").decode()
        said = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in said)
        if len(said) > _LONGEST_SAID:  # the reason must be read too
            said = f"{said[:_LONGEST_SAID // 2]}…{said[1 - _LONGEST_SAID // 2:]}"
        self.left_out.append(f"{said}: {reason}")
        self.cut = self.cut or cut

    def root(self, root: Path) -> None:
        try:
            descriptor = _open_folder(root, None)
        except OSError:
            self.leave_out(".", "it is no folder that can be read")
            return
        try:
            self.folder(descriptor, "", 0)
        finally:
            os.close(descriptor)
        self.write_links()

    def folder(self, descriptor: int, prefix: str, depth: int) -> None:
        """Pack what a folder holds, sorted by name."""
        try:
            with os.scandir(descriptor) as entries:
                # One more than may come: a folder of millions is not read to its end.
                found = sorted(itertools.islice(entries, MAX_ENTRIES + 1), key=lambda entry: entry.name)
        except OSError:
            self.leave_out(prefix.rstrip("/") or ".", "cannot be listed")
            return
        for entry in found:
            name = prefix + entry.name
            if name in self.exclude:
                continue
            self.entries += 1
            if self.entries > MAX_ENTRIES:
                if not self.full:
                    self.leave_out(name, f"this and what follows: the tree has over {MAX_ENTRIES} entries", cut=True)
                self.full = True
                return
            if not _is_text(name):
                self.leave_out(name, "its name is not UTF-8")
                continue
            if self.clean(name.encode()) != name.encode():
                self.leave_out(self.clean(name.encode()).decode("utf-8", "replace"), "its name holds a key")
                continue
            if len(name.encode()) > MAX_NAME:
                self.leave_out(f"…{name[-60:]}", "its path is too long", cut=True)
                continue
            try:
                self.entry(entry.name, name, descriptor, depth)
            except _Unreadable:
                self.leave_out(name, "cannot be read")
            if self.full:
                return

    def entry(self, base: str, name: str, parent: int, depth: int) -> None:
        with _readable():
            mode = os.lstat(base, dir_fd=parent).st_mode
        if stat.S_ISLNK(mode):
            with _readable():
                target = os.readlink(base, dir_fd=parent)
            if self.clean(os.fsencode(target)) != os.fsencode(target):
                self.leave_out(name, "a link whose target holds a key")
            else:
                self.links[name] = target
        elif stat.S_ISREG(mode):
            self.file(base, name, parent)
        elif not stat.S_ISDIR(mode):
            self.leave_out(name, "neither a file nor a folder")
        elif depth >= MAX_DEPTH:
            self.leave_out(name, f"over {MAX_DEPTH} folders deep", cut=True)
        else:
            self.add_folder(name)
            with _readable():
                descriptor = _open_folder(base, parent)
            try:
                self.folder(descriptor, name + "/", depth + 1)
            finally:
                os.close(descriptor)

    def file(self, base: str, name: str, parent: int) -> None:
        room = min(MAX_FILE, MAX_BYTES - self.bytes)
        with _readable():
            # Should a fifo have come in the file's place, opening it must not wait for a writer.
            descriptor = os.open(base, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
            with os.fdopen(descriptor, "rb") as file:
                info = os.fstat(descriptor)
                if not stat.S_ISREG(info.st_mode):
                    raise _Unreadable
                data = file.read(info.st_size + 1) if info.st_size <= room else None
                if data is not None and len(data) > info.st_size:  # it grows
                    data += file.read(room + 1 - len(data))
        held = data
        if data is not None:
            data = self.clean(data)
        if data is None or len(data) > room:
            self.leave_out(name, f"its {_megabytes(info.st_size)} are over {_megabytes(MAX_FILE)} for a file or "
                                 f"{_megabytes(MAX_BYTES)} for the tree", cut=True)
            return
        self.add_file(name, executable=bool(info.st_mode & stat.S_IXUSR), data=data)
        if data != held:
            self.leave_out(name, "a key in it was replaced")

    def add_folder(self, name: str) -> None:
        member = tarfile.TarInfo(name)
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        self.tar.addfile(member)

    def add_file(self, name: str, *, executable: bool, data: bytes) -> None:
        self.bytes += len(data)
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(data), 0o755 if executable else 0o644
        self.tar.addfile(member, io.BytesIO(data))
        self.files[name] = entry_digest(b"program" if executable else b"file", data)

    def write_links(self) -> None:
        """Write the links that stay inside, among those that do."""
        for name in [name for name, target in self.links.items() if not _is_text(target)]:
            del self.links[name]
            self.leave_out(name, "a link to a name that is not UTF-8")
        while leading_out := [name for name in self.links if followed(name, self.links.get) is None]:
            for name in leading_out:
                del self.links[name]
                self.leave_out(name, "a link that leads outside or in a circle")
        for name, target in sorted(self.links.items()):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            self.tar.addfile(member)
            self.files[name] = entry_digest(b"link", target.encode())
        self.files = dict(sorted(self.files.items()))


def _megabytes(size: int) -> str:
    return f"{size / (1024 * 1024):.0f} MB"


class _Unreadable(Exception):
    """An entry that cannot be read: said in the manifest."""


@contextmanager
def _readable() -> Iterator[None]:
    """Errors of reading the tree, told apart from those of writing the archive."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise
        raise _Unreadable from error


def _open_folder(path: Path | str, parent: int | None) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)


def entry_digest(kind: bytes, data: bytes) -> str:
    """What a manifest says of an entry. kind: file, program or link (its data are its target's name)."""
    return hashlib.sha256(kind + b"\0" + data).hexdigest()


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


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
            if member.isdir():
                path.mkdir(exist_ok=True)
            elif member.issym():
                links[member.name] = member.linkname
            elif member.isreg():
                _write(tar, member, path)
            else:
                raise tarfile.ExtractError(f"{member.name!r} is neither file, folder nor link")
        for name, leads in links.items():
            if name in folders or name.rpartition("/")[0] in links or followed(name, links.get) is None:
                raise tarfile.ExtractError(f"the link {name!r} leads outside or in a circle")
            (target / name).symlink_to(leads)


def _placed(tar: tarfile.TarFile, folders: set[str]) -> Iterator[tarfile.TarInfo]:
    """The members of an archive, each in a folder that came before it; `folders` gets their names."""
    folders.add("")
    for member in tar:
        parent, _, base = member.name.rpartition("/")
        if parent not in folders or base in ("", ".", ".."):
            raise tarfile.ExtractError(f"no place for {member.name!r} in it")
        if member.isdir():
            folders.add(member.name)
        yield member


def members(archive: Path) -> Iterator[tuple[tarfile.TarInfo, Callable[[], bytes]]]:
    """All that an archive holds, in order, with what reads a file's bytes. Raises HarnessError."""
    with _opened(archive, "read") as tar:
        for member in _placed(tar, set()):
            yield member, partial(_data, tar, member)


def _data(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return file.read() if file is not None else b""


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = tar.extractfile(member)
    assert source is not None
    mode = 0o755 if member.mode & stat.S_IXUSR else 0o644
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        while chunk := source.read(1 << 20):
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
            if member.name in wanted and member.isreg():
                found[member.name] = _data(tar, member) if member.size <= largest else None
    return found


def entries(archive: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """All that an archive holds but its folders: name, kind (file, program or link) and data. Raises HarnessError."""
    with _opened(archive, "read") as tar:
        for member in tar:
            if member.issym():
                yield member.name, b"link", member.linkname.encode()
            elif member.isreg():
                yield member.name, b"program" if member.mode & stat.S_IXUSR else b"file", _data(tar, member)


def listed(archive: Path) -> Manifest:
    """The manifest of all that an archive holds. Raises HarnessError."""
    files, size = {}, 0
    for name, kind, data in entries(archive):
        files[name] = entry_digest(kind, data)
        size += len(data) if kind != b"link" else 0
    return Manifest(dict(sorted(files.items())), (), size)


@contextmanager
def _opened(archive: Path, what: str, into: Path | None = None) -> Iterator[tarfile.TarFile]:
    """An archive's members in order; after them it is checked that the archive did not end too early."""
    try:
        with plain_bytes(archive) as plain:
            ending = _Ending(plain)
            with tarfile.open(fileobj=ending, mode="r|") as tar:  # type: ignore[call-overload] # it needs `read` alone
                yield tar
            ending.check()
    except (OSError, tarfile.TarError, zstandard.ZstdError, ValueError) as error:
        hint = "if it is damaged, delete its folder: it is made again"
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = f"make room on the disk of {into or archive.parent}, then run again"
        raise HarnessError(f"cannot {what} {archive}: {error}", hint=hint) from error


class _Ending:
    """Watches how a tar ends: neither zstandard nor tarfile minds one that is cut between two members."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self._size = 0
        self._last = b""

    def read(self, size: int) -> bytes:
        data: bytes = self._plain.read(size)
        self._size += len(data)
        self._last = (self._last + data)[-2 * tarfile.BLOCKSIZE :]
        return data

    def check(self) -> None:
        while self.read(1 << 16):
            pass
        if self._size % tarfile.RECORDSIZE or self._last.strip(b"\0") or len(self._last) < 2 * tarfile.BLOCKSIZE:
            raise tarfile.ReadError("it ends too early")
