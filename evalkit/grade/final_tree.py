"""The final tree as graders see it: a list of files with digests, bytes on demand, disposable copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.analysis.globs import matching
from evalkit.analysis.model import Toolchain
from evalkit.errors import HarnessError
from evalkit.execute.outcome import TREE
from evalkit.execute.session import Session
from evalkit.execute.tree import Manifest, entries, read_files, unpack
from evalkit.values import Value, field

if TYPE_CHECKING:
    from evalkit.execute.lanes import Room
    from evalkit.execute.warm import Warm

__all__ = ["Copy", "FinalTree"]

_HELD = 1_000_000
"""Bytes of a tree whose files are all read at once, for the checks that follow."""


class Copy(Value):
    """A disposable copy: no grader sees what another one did. `scratch` is beside it, for logs."""

    tree: Path
    scratch: Path
    env: dict[str, str]
    room: Room = field(repr=False)

    def seen(self, path: Path) -> str:
        """A path as commands see it."""
        return str(self.room.seen(path))


class FinalTree(Value):
    """lane: where the commands of checks run. warm: what their copies are furnished with, if anything. network: what
    they may reach.
    """

    session: Session
    key: str
    manifest: Manifest
    lane: str = field(default="local", kw_only=True)
    warm: Warm | None = field(default=None, kw_only=True, eq=False, repr=False)
    network: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def archive(self) -> Path:
        """Raises HarnessError where the agent run is gone, or was damaged and set aside."""
        entry = self.session.store.open("agent", self.key, only=(TREE,))
        if entry is None:
            raise HarnessError("the agent run is not in the store any more", hint="run again: it is made again")
        return entry / TREE

    def matching(self, globs: tuple[str, ...]) -> list[str]:
        return matching(self.manifest.files, globs)

    def read(self, names: list[str], *, largest: int) -> dict[str, bytes | None]:
        """Files' bytes; None for one that is larger than `largest` bytes."""
        if self.manifest.bytes > _HELD:
            return read_files(self.archive, names, largest=largest)
        held = self._files()
        return {name: held[name] if len(held[name]) <= largest else None for name in names if name in held}

    def _files(self) -> dict[str, bytes]:
        """All files of the tree. Those of the one that was read last are held: a trial's checks come in a row."""
        last = self.session.last_tree
        if last is None or last[0] is not self.manifest:
            files = {name: data for name, kind, data in entries(self.archive) if kind != b"link"}
            last = self.session.last_tree = self.manifest, files
        return last[1]

    @contextmanager
    def copy(self, toolchains: tuple[Toolchain, ...], *, lane: str = "local") -> Iterator[Copy]:
        """A copy with a home of its own. In the local lane it carries no caches: at another path they would be false
        hits. In the sandbox it has those of the set-up (warm.py).
        """
        with self.session.room("grade", toolchains, lane=lane, network=self.network) as room:
            self.write(room.tree)
            if self.warm is not None and room.walls:
                self.warm.furnish(room, self.manifest.files)
            yield Copy(room.tree, room.scratch, room.env, room)

    @contextmanager
    def live_copy(self, toolchains: tuple[Toolchain, ...], image: Path | None, live: Warm | None) -> Iterator[Copy]:
        """A copy in which the app is built and shown. live: what it is furnished with."""
        with self.session.room("live", toolchains, lane=self.lane, image=image, network=self.network) as room:
            self.write(room.tree)
            if live is not None and room.walls:
                live.furnish(room, self.manifest.files)
            yield Copy(room.tree, room.scratch, room.env, room)

    def write(self, folder: Path) -> None:
        """Write the tree into a new folder. Raises HarnessError."""
        unpack(self.archive, folder)
