"""Final trees that no store has to hold: an archive beside a result, or a tree that was rebuilt from a transcript."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.execute.rebuilt import Rebuilt
from evalkit.execute.session import Session
from evalkit.execute.tree import Manifest, entries, entry_digest, read_files
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.grep import LARGEST
from evalkit.values import field

if TYPE_CHECKING:
    from evalkit.execute.warm import Warm

__all__ = ["ArchivedTree", "RebuiltTree"]

_ROOM = 32_000_000
"""Bytes of a tree that are kept in memory when its digests are taken."""


class ArchivedTree(FinalTree):
    """A tree in an archive of any place, read once for several checks: see `hold`."""

    place: Path
    _held: dict[str, bytes | None] = field(factory=dict, init=False)
    _looked: set[str] = field(factory=set, init=False)
    _matched: dict[tuple[str, ...], list[str]] = field(factory=dict, init=False)

    @classmethod
    def of(cls, session: Session, key: str, place: Path, *, lane: str = "local",
           warm: Warm | None = None) -> ArchivedTree:
        """The tree of an archive of which nothing is known: its digests are taken. Raises HarnessError."""
        tree = cls(session, key, Manifest({}, (), 0), place, lane=lane, warm=warm)
        room = _ROOM
        for name, kind, data in entries(place):
            tree.manifest.files[name] = entry_digest(kind, data)
            if kind != b"link" and len(data) <= min(room, LARGEST):
                room -= len(data)
                tree._held[name] = data
                tree._looked.add(name)
        return tree

    @property
    def archive(self) -> Path:
        return self.place

    def matching(self, globs: tuple[str, ...]) -> list[str]:
        if globs not in self._matched:
            self._matched[globs] = super().matching(globs)
        return self._matched[globs]

    def hold(self, names: set[str]) -> None:
        """Read these files, so that no check has to go through the archive for them. Raises HarnessError."""
        missing = names - self._looked
        self._held.update(read_files(self.place, missing, largest=LARGEST))
        self._looked.update(missing)

    def read(self, names: list[str], *, largest: int) -> dict[str, bytes | None]:
        if largest != LARGEST or not self._looked.issuperset(names):
            return read_files(self.place, names, largest=largest)
        return {name: self._held[name] for name in names if name in self._held}


class RebuiltTree(FinalTree):
    """A rebuilt tree: it is written down only where a command has to run in it."""

    rebuilt: Rebuilt

    def read(self, names: list[str], *, largest: int) -> dict[str, bytes | None]:
        found = ((name, self.rebuilt.entries[name]) for name in names if name in self.rebuilt.entries)
        return {name: entry.data if len(entry.data) <= largest else None for name, entry in found
                if entry.kind != b"link"}

    def write(self, folder: Path) -> None:
        self.rebuilt.write(folder)
