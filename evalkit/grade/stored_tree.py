"""Final trees that no store has to hold: an archive beside a result, or a tree that was rebuilt from a transcript."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import field, frozen

from evalkit.analysis.model import Toolchain
from evalkit.execute.places import TREE_NAME
from evalkit.execute.rebuild import Rebuilt
from evalkit.execute.tree import read_files
from evalkit.grade.final_tree import Copy, FinalTree
from evalkit.grade.grep import LARGEST

__all__ = ["ArchivedTree", "RebuiltTree"]


@frozen
class ArchivedTree(FinalTree):
    """A tree in an archive of any place. What several checks read of it is read once: see `hold`."""

    place: Path
    _held: dict[str, bytes | None] = field(factory=dict, init=False)
    _looked: set[str] = field(factory=set, init=False)

    @property
    def archive(self) -> Path:
        return self.place

    def hold(self, names: set[str]) -> None:
        """Read these files, so that no check has to go through the archive for them. Raises HarnessError."""
        missing = names - self._looked
        self._held.update(read_files(self.place, missing, largest=LARGEST))
        self._looked.update(missing)

    def read(self, names: list[str], *, largest: int) -> dict[str, bytes | None]:
        if largest != LARGEST or not self._looked.issuperset(names):
            return read_files(self.place, names, largest=largest)
        return {name: self._held[name] for name in names if name in self._held}


@frozen
class RebuiltTree(FinalTree):
    """A rebuilt tree: it is written down only where a command has to run in it."""

    rebuilt: Rebuilt

    def read(self, names: list[str], *, largest: int) -> dict[str, bytes | None]:
        found = ((name, self.rebuilt.entries[name]) for name in names if name in self.rebuilt.entries)
        return {name: entry.data if len(entry.data) <= largest else None for name, entry in found
                if entry.kind != b"link"}

    @contextmanager
    def copy(self, toolchains: tuple[Toolchain, ...]) -> Iterator[Copy]:
        with self.session.desk("grade", toolchains) as (folder, env):
            tree = folder / TREE_NAME
            self.rebuilt.write(tree)
            yield Copy(tree, folder, env)
