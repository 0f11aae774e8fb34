"""A tree that was rebuilt from a transcript: its files in memory, and what of it is not known.

A check asks with its globs whether it reads something doubtful. A doubtful folder touches every glob that may match
below it; files that were written whole after the doubt arose are known, where they are asked for by their names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from attrs import frozen

from evalkit.analysis.globs import matching
from evalkit.errors import HarnessError
from evalkit.execute.tree import Manifest, entries, entry_digest

__all__ = ["PATTERN", "Entry", "Rebuilt", "base_tree", "is_below"]

PATTERN = re.compile(r"[*?\[]")
"""What makes a path a pattern."""


@frozen
class Entry:
    """A file, a program (a file that can be executed) or a link (`data`: its target's name)."""

    kind: bytes
    data: bytes
    digest: str

    @classmethod
    def of(cls, kind: bytes, data: bytes) -> Entry:
        return cls(kind, data, entry_digest(kind, data))


@frozen
class Rebuilt:
    """A rebuilt tree.

    uncertain: why a path cannot be rebuilt; `src/` stands for all below it. whole: why nothing can be but what
    `certain` names, or "". notes: what was left out. ended: how the run ended, "" where that is not told.
    """

    entries: Mapping[str, Entry]
    manifest: Manifest
    uncertain: dict[str, str]
    whole: str
    certain: frozenset[str]
    notes: tuple[str, ...]
    ended: str

    def doubt(self, globs: Collection[str] | None) -> str:
        """Why what these globs match (None: everything) is not known, in a line; "" where it is."""
        if globs and all(glob in self.certain and not PATTERN.search(glob) for glob in globs):
            return ""
        if self.whole:
            return f"its tree cannot be rebuilt: {self.whole}"
        return next((f"its file {name} cannot be rebuilt: {why}" for name, why in self.uncertain.items()
                     if globs is None or _touches(name, globs)), "")

    def write(self, root: Path) -> None:
        """Write the tree into a new folder: links last, so that no file is written through one. Raises HarnessError."""
        try:
            root.mkdir(parents=True)
            for name, entry in sorted(self.entries.items(), key=lambda item: item[1].kind == b"link"):
                place = root / name
                place.parent.mkdir(parents=True, exist_ok=True)
                if entry.kind == b"link":
                    place.symlink_to(entry.data.decode())
                else:
                    place.write_bytes(entry.data)
                    place.chmod(0o755 if entry.kind == b"program" else 0o644)
        except OSError as error:
            raise HarnessError(f"cannot write a rebuilt tree to {root}: {error.strerror or error}",
                               hint="is the disk full?") from error


def base_tree(archive: Path, without: Iterable[str] = ()) -> dict[str, Entry]:
    """The workspace that agents began with, from its archive. Raises HarnessError."""
    excluded = tuple(without)
    return {name: Entry.of(kind, data) for name, kind, data in entries(archive) if not is_below(name, excluded)}


def is_below(name: str, folders: Collection[str]) -> bool:
    """Whether a path is one of these, or below one."""
    return any(name == folder or name.startswith(folder + "/") for folder in folders)


def _touches(name: str, globs: Collection[str]) -> bool:
    """Whether a glob may match a doubtful path, or something below it."""
    path = name.rstrip("/")
    if not path or matching((path,), globs):
        return True
    return name.endswith("/") and any(_may_matchis_below(path, glob.split("/")) for glob in globs)


def _may_matchis_below(folder: str, glob: list[str]) -> bool:
    depth = folder.count("/") + 1
    if "**" in glob[:depth]:
        first = glob.index("**")
        return not first or bool(matching(("/".join(folder.split("/")[:first]),), ("/".join(glob[:first]),)))
    return depth < len(glob) and bool(matching((folder,), ("/".join(glob[:depth]),)))
