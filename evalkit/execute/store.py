"""The store: outcomes under the key of what they were made from. Written once, whole, and never overwritten.

`<store>/<kind>/<first two digits>/<key>/` holds the files of an entry. An entry is made in a folder of its own beside
them and renamed into place, so that a kill at any moment leaves an entry or none. Of two that make the same entry at
once, the first one's is kept.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from attrs import frozen

from evalkit.errors import HarnessError
from evalkit.execute.places import alive

__all__ = ["Store"]


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
        """An empty folder to fill; it becomes the entry when the `with` ends without an error."""
        temporary = self.root / "making" / f"{os.getpid()}-{uuid4().hex[:8]}"
        try:
            temporary.mkdir(parents=True)
        except OSError as error:
            raise HarnessError(f"cannot write to the store {self.root}: {error.strerror or error}",
                               hint="is the disk full, or the folder read-only?") from error
        try:
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    with file.open("rb") as handle:
                        os.fsync(handle.fileno())
            place = self.path(kind, key)
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.rename(place)
            except OSError:
                if not place.is_dir():
                    raise
        except OSError as error:
            raise HarnessError(f"cannot write to the store {self.root}: {error.strerror or error}",
                               hint="is the disk full, or the folder read-only?") from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what killed processes were making."""
        making = self.root / "making"
        for folder in making.iterdir() if making.is_dir() else ():
            owner = folder.name.partition("-")[0]
            if not (owner.isdigit() and alive(int(owner))):
                shutil.rmtree(folder, ignore_errors=True)
