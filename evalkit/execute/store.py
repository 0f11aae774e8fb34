"""The store: outcomes under the key of what they were made from. Written once, whole, and never overwritten.

`<store>/<kind>/<first two digits>/<key>/` holds the files of an entry. An entry is made in a folder of its own beside
them and renamed into place, so that a kill at any moment leaves an entry or none. Of two that make the same entry at
once, the first one's is kept.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import frozen

from evalkit.errors import HarnessError
from evalkit.execute.folders import abandoned, claimed, remove_tree

__all__ = ["Store"]

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


@frozen
class Store:
    root: Path

    def path(self, kind: str, key: str) -> Path:
        """Where an entry is, or would be."""
        return self.root / kind / key[:2] / key

    def has(self, kind: str, key: str) -> bool:
        return self.path(kind, key).is_dir()

    @contextmanager
    def making(self, kind: str, key: str) -> Iterator[Path]:
        """An empty folder to fill; it becomes the entry when the `with` ends without an error.

        Raises HarnessError where the store cannot be written, or the disk is full inside the `with`.
        """
        with ExitStack() as stack:
            with self._told():
                beside = self.root / "making"
                beside.mkdir(parents=True, exist_ok=True)
                folder = stack.enter_context(claimed(beside, kind))
            stack.callback(remove_tree, folder)
            with self._told(_NO_ROOM):
                yield folder
            with self._told():
                self._keep(folder, self.path(kind, key))

    @contextmanager
    def _told(self, numbers: frozenset[int] | None = None) -> Iterator[None]:
        """Tell the operating system's errors (or only those of `numbers`) as the store's."""
        try:
            yield
        except OSError as error:
            if numbers is not None and error.errno not in numbers:
                raise
            raise HarnessError(f"cannot write to the store {self.root}: {error.strerror or error}",
                               hint="is the disk full, or the folder read-only?") from error

    def _keep(self, folder: Path, place: Path) -> None:
        """Rename a finished folder into place, once all of it is on the disk."""
        for path in [*folder.rglob("*"), folder]:
            if not path.is_symlink():
                _sync(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.rename(place)
        except OSError:
            if not place.is_dir():
                raise
        else:
            _sync(place.parent)

    def sweep(self) -> None:
        """Remove what killed processes were making."""
        making = self.root / "making"
        for folder in list(making.iterdir()) if making.is_dir() else ():
            if abandoned(folder):
                remove_tree(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
