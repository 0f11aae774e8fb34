"""Packs trees of files into archives, with caps.

An agent's tree may hold anything: devices, sockets, links that lead out, millions of files, names that are not text.
Regular files, folders and links that stay inside are taken; all else is left out and said. So an unpacked tree is
harmless by construction, and graders need no checks of their own.

The tree is walked by descriptors, folder by folder, so that no link put in a folder's place leads the walk away. Links
come last: they are left out until all that remain stay inside among themselves, which is what unpacking asks again.
"""

from __future__ import annotations

import errno
import io
import itertools
import os
import posixpath
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evalkit.digest import is_text
from evalkit.errors import HarnessError
from evalkit.execute.compressed import Compressed, compress
from evalkit.execute.tree import Manifest, entry_digest, followed

__all__ = ["MAX_BYTES", "MAX_ENTRIES", "MAX_FILE", "MAX_NAME", "Packer", "pack", "packed"]

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
            if not is_text(name):
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
        for name in [name for name, target in self.links.items() if not is_text(target)]:
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
