"""The store: outcomes under the key of what they were made from. Written once, whole, and never overwritten.

`<store>/<kind>/<first two digits>/<key>/` holds the files of an entry and its manifest (store_entry.py). An entry is
made in a folder of its own beside them and renamed into place, so that a kill at any moment leaves an entry or none. Of
two that make the same entry at once, the first one's is kept; a claim (store_claim.py) keeps the second from working at
all. Several projects may share a store.

What was paid for is brought to the disk before it gets its name: it survives a loss of power. What can be made again
for nothing is not (a kill loses nothing of it either: the system keeps what a process wrote): should the power fail,
its manifest tells that it is damaged.

Whoever reads an entry opens it: its files are compared with the manifest, each once in a process and again where its
stamp differs. A damaged entry is moved to `<store>/damaged`, and said, and is then as good as none: its task makes it
again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from evalkit.errors import HarnessError
from evalkit.execute.folders import abandoned, adopted, claimed, lasting_name, remove_tree
from evalkit.execute.notes import spoken_for
from evalkit.execute.store_claim import claim, remove_left_locks, try_claim
from evalkit.execute.store_entry import Damaged, EntryManifest, fill, is_key, is_kind, read_manifest, seal
from evalkit.execute.store_seen import Seen, look
from evalkit.values import State, field

__all__ = ["Store"]

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
_ROOM = 4 * 1024 * 1024
"""Bytes that must be free before something is begun that costs money to make again."""
_HOUR = 3600.0


class Store(State):
    """A store in the folder `root`. say: is told what a person should know, a line at a time."""

    root: Path
    say: Callable[[str], None] = field(default=lambda _: None, eq=False, repr=False)
    _seen: dict[Path, Seen] = field(factory=dict, init=False, eq=False, repr=False)

    def path(self, kind: str, key: str) -> Path:
        """Where an entry is, or would be."""
        return self.root.joinpath(kind, key[:2], key)

    def has(self, kind: str, key: str) -> bool:
        """Whether there is an entry, at a glance: it may turn out to be damaged when it is opened."""
        return self.path(kind, key).is_dir()

    def entries(self) -> Iterator[tuple[str, str]]:
        """Kind and key of all entries, sorted, also of damaged ones, which may be no folders. Raises HarnessError where
        the store cannot be read.
        """
        with self._told("read"):
            for kind in _folders(self.root):
                if is_kind(kind.name):
                    for shelf in _folders(kind):
                        yield from ((kind.name, name) for name in sorted(path.name for path in shelf.iterdir())
                                    if is_key(name) and name.startswith(shelf.name))

    # ---- reading ----
    def open(self, kind: str, key: str, only: Collection[str] | None = None) -> Path | None:
        """The folder of an entry, compared with its manifest; None where there is none, or it was damaged.

        only: the files that will be read. Of the others no digest is taken: that they are there, and as large as they
        should be, is seen to. A damaged entry is set aside. Raises HarnessError where it cannot be read.
        """
        folder = self.path(kind, key)
        known = folder in self._seen
        try:
            if not self._is_whole(folder, kind, key, only):
                return None
        except Damaged as damage:
            return self._set_aside(kind, key, only, str(damage))
        if not known:
            _note_use(folder)
        return folder

    def manifest(self, kind: str, key: str) -> EntryManifest | None:
        """An entry's manifest as it is; None where there is no entry.

        Raises `Damaged`, and HarnessError where it cannot be read.
        """
        try:
            return read_manifest(self.path(kind, key), kind, key)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._cannot("read", error) from error

    def damage(self, kind: str, key: str) -> str:
        """What is wrong with an entry, "" where nothing is. It stays, and is not used. Raises HarnessError."""
        try:
            self._is_whole(self.path(kind, key), kind, key, None)
        except Damaged as damage:
            return str(damage)
        return ""

    def _is_whole(self, folder: Path, kind: str, key: str, only: Collection[str] | None) -> bool:
        """Whether there is an entry. Raises `Damaged` where it is not what it was, and HarnessError."""
        try:
            seen = self._seen.get(folder)
            if seen is not None and seen.covers(only) and seen.holds(folder):
                return True
            if not folder.is_dir():
                if os.path.lexists(folder):
                    raise Damaged("it is no folder")
                return False
            self._seen[folder] = look(folder, kind, key, only, seen or Seen())
        except OSError as error:
            if error.errno == errno.EIO:
                raise Damaged(f"the disk cannot read it: {error.strerror}") from error
            if not os.path.lexists(folder):  # removed while it was looked at
                return False
            raise self._cannot("read", error) from error
        return True

    def _set_aside(self, kind: str, key: str, only: Collection[str] | None, damage: str) -> Path | None:
        """Move a damaged entry away. Returns its folder where it is whole after all."""
        folder = self.path(kind, key)
        told = f"the {kind} {key[:12]} in the store is damaged ({damage})"
        try:
            with ExitStack() as stack:
                if not stack.enter_context(try_claim(self._lock(kind, key))):
                    return None  # whoever makes it now sets it aside
                try:  # another one may have made it again before it was ours
                    return folder if self._is_whole(folder, kind, key, only) else None
                except Damaged:
                    place = self._move_aside(folder, f"{kind}-{key}")
        except OSError as error:
            self.say(f"{told}, and cannot be moved away: {error.strerror or error}")
            return None
        self._seen.pop(folder, None)
        self.say(f"{told}: it was moved to {place} and will be made again")
        return None

    def _move_aside(self, folder: Path, name: str) -> Path:
        aside = self.root / "damaged"
        aside.mkdir(exist_ok=True)
        number = 1
        while True:
            place = aside / f"{name}-{number}"
            if not os.path.lexists(place):
                with contextlib.suppress(FileExistsError):
                    folder.rename(place)
                    return place
            number += 1

    # ---- one at a time ----
    @contextmanager
    def claim(self, kind: str, key: str, waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Be the only one, of all threads and processes, that makes this entry for the time of a `with`.

        Look before, for an entry that is there needs no claim, and look again within: another one may have made it.
        waiting: called once where another one is at work. Ctrl-C ends the wait, and so does `running.end_all`, with a
        HarnessError; it is raised too where the store cannot be written.
        """
        with ExitStack() as stack:
            with self._told():
                stack.enter_context(claim(self._lock(kind, key), waiting))
            yield

    @contextmanager
    def try_claim(self, kind: str, key: str) -> Iterator[bool]:
        """As `claim`, but without waiting: whether nobody else is at work on the entry."""
        with ExitStack() as stack:
            with self._told():
                mine = stack.enter_context(try_claim(self._lock(kind, key)))
            yield mine

    def _lock(self, kind: str, key: str) -> Path:
        """The file of an entry's lock; its folder is made. Raises OSError."""
        locks = self.root / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        return locks / f"{kind}-{key}"

    # ---- writing ----
    @contextmanager
    def making(self, kind: str, key: str, *, durable: bool = True,
               inputs: Mapping[str, str] | None = None, left: str = "") -> Iterator[Path]:
        """An empty folder to fill; it becomes the entry when the `with` ends without an error.

        durable: it costs money, or cannot be made again: it is on the disk, whatever happens, when the `with` ends.
        Templates, workspaces and the outcomes of agents that cost nothing are not durable, and are quicker made.
        inputs: what the key is the digest of, by name, for the manifest. left: the lasting name of a folder that a
        killed process was filling: that one is adopted instead of an empty one.

        Raises HarnessError where the store cannot be written, or the disk is full inside the `with`.
        """
        with self.beside(kind, left) as folder:
            if durable:
                self._check_room()
            with self._told(numbers=_NO_ROOM):
                yield folder
            with self._told():
                seal(folder, kind, key, durable=durable, inputs=inputs or {})
            self.keep(folder, kind, key, durable=durable)

    def put(self, kind: str, key: str, files: Mapping[str, bytes], *, inputs: Mapping[str, str]) -> None:
        """Make an entry of a few bytes, by the files' names; it is not durable. Raises HarnessError."""
        with self.beside(kind) as folder:
            with self._told():
                stamps = fill(folder, kind, key, files, inputs)
            if self.keep(folder, kind, key, durable=False):  # what was written a moment ago need not be read
                self._seen[self.path(kind, key)] = Seen(stamps, whole=True)

    def keep(self, folder: Path, kind: str, key: str, *, durable: bool) -> bool:
        """Rename a folder with a manifest into place. Returns False where there is a whole entry: that one stays.

        durable: it is on the disk before it gets its name, and the name is when this returns. Raises HarnessError.
        """
        place = self.path(kind, key)
        with self._told():
            if durable:
                _sync_all(folder)
            changed = _make_folders(place.parent) if durable else []
            while not _renamed(folder, place):
                if self.open(kind, key) is not None:
                    return False
                if os.path.lexists(place):
                    raise HarnessError(f"a damaged entry is in the way: {place}", hint="delete it, then run again")
            for parent in changed if durable else ():
                _sync(parent)
        return True

    def remove(self, kind: str, key: str) -> None:
        """Remove an entry: a kill leaves it, or none. Its claim should be held. Raises HarnessError."""
        place = self.path(kind, key)
        with self.beside("removed") as folder, self._told(), contextlib.suppress(FileNotFoundError):
            place.rename(folder / key)
        self._seen.pop(place, None)

    @contextmanager
    def beside(self, purpose: str, left: str = "") -> Iterator[Path]:
        """An empty folder on the store's own disk for the time of a `with`; or one that was left (see `making`).

        Raises HarnessError.
        """
        making = self.root / "making"
        with ExitStack() as stack:
            with self._told():
                try:
                    folder = stack.enter_context(adopted(making, left) if left else claimed(making, purpose))
                except FileNotFoundError:
                    if left:
                        raise
                    making.mkdir(parents=True, exist_ok=True)
                    folder = stack.enter_context(claimed(making, purpose))
            stack.callback(_remove, folder)
            yield folder

    def leftovers(self) -> list[Path]:
        """What killed processes were making, and nobody can adopt. Raises HarnessError where it cannot be read."""
        making = self.root / "making"
        with self._told("read"):
            finished = spoken_for(self.root)
            return [folder for folder in (list(making.iterdir()) if making.is_dir() else ())
                    if abandoned(folder) and lasting_name(folder) not in finished]

    def sweep(self) -> None:
        """Remove what killed processes left. Others may be at work meanwhile, also from other projects."""
        for folder in self.leftovers():
            remove_tree(folder)
        with self._told("read"):
            remove_left_locks(self.root / "locks")

    # ---- what was set aside ----
    def damaged(self) -> list[Path]:
        """The entries that were set aside, sorted. Raises HarnessError where the store cannot be read."""
        with self._told("read"):
            return _folders(self.root / "damaged")

    # ---- what can go wrong ----
    def _check_room(self) -> None:
        with self._told():
            found = os.statvfs(self.root)
        if found.f_bavail * found.f_frsize < _ROOM:
            raise HarnessError(f"cannot write to the store {self.root}: {os.strerror(errno.ENOSPC)}",
                               hint=f"is the disk full? {_ROOM // 1024**2} MB must be free before something begins "
                                    "that costs money")

    @contextmanager
    def _told(self, what: str = "write to", *, numbers: frozenset[int] | None = None) -> Iterator[None]:
        """Tell the operating system's errors (or only those of `numbers`) as the store's."""
        try:
            yield
        except OSError as error:
            if numbers is not None and error.errno not in numbers:
                raise
            raise self._cannot(what, error) from error

    def _cannot(self, what: str, error: OSError) -> HarnessError:
        hint = "look at its permissions" if what == "read" else "is the disk full, or the folder read-only?"
        return HarnessError(f"cannot {what} the store {self.root}: {error.strerror or error}", hint=hint)


# ---- folders ----
def _note_use(folder: Path) -> None:
    """An entry's folder has the time of its last use, to the hour: what is in use is not cleared away."""
    with contextlib.suppress(OSError):
        if time.time() - folder.stat().st_mtime > _HOUR:
            os.utime(folder)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def _remove(folder: Path) -> None:
    """Remove a folder that mostly has been moved away."""
    if os.path.lexists(folder):
        remove_tree(folder)


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder; the folders whose contents change when it gets an entry, from the innermost."""
    changed = [folder]
    while not changed[-1].is_dir():
        changed.append(changed[-1].parent)
    folder.mkdir(parents=True, exist_ok=True)
    return changed


def _renamed(folder: Path, place: Path) -> bool:
    """Rename a folder, if the place is free. Raises OSError where something else is in the way."""
    try:
        try:
            os.rename(folder, place)  # noqa: PTH104 - of thousands
        except FileNotFoundError:
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(folder, place)  # noqa: PTH104
    except OSError:
        if not os.path.lexists(place):
            raise
        return False
    return True


def _sync_all(folder: Path) -> None:
    """Bring what a folder holds, and then its own list of names, to the disk."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _sync_all(Path(entry.path))
            else:
                _sync(Path(entry.path))
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
