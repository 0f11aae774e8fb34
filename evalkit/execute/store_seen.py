"""What a process knows of entries that it compared with their manifests: no bytes are hashed twice in vain.

A file counts as unchanged while its stamp is the one that it had before its bytes were read.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from evalkit.execute.store_entry import MANIFEST, Stamp, check_file, read_manifest, stamp_of
from evalkit.values import State, field

__all__ = ["Seen", "look"]


class Seen(State):
    """The stamps of an entry's files when they were found to be right. whole: of all its files."""

    stamps: dict[str, Stamp] = field(factory=dict)
    whole: bool = False

    def covers(self, only: Collection[str] | None) -> bool:
        return self.whole or (only is not None and all(name in self.stamps for name in only))

    def holds(self, folder: Path) -> bool:
        try:
            return all(stamp_of(f"{folder}/{name}") == stamp for name, stamp in self.stamps.items())
        except (FileNotFoundError, NotADirectoryError):
            return False


def look(folder: Path, kind: str, key: str, only: Collection[str] | None, seen: Seen) -> Seen:
    """Compare an entry with its manifest, but for what was `seen` before. Raises `Damaged`, and OSError."""
    before = stamp_of(folder / MANIFEST) if os.path.lexists(folder / MANIFEST) else None
    manifest = read_manifest(folder, kind, key)
    if before is None:  # it came this moment
        before = stamp_of(folder / MANIFEST)
    stamps = {MANIFEST: before}
    trusted = seen.stamps if seen.stamps.get(MANIFEST) == stamps[MANIFEST] else {}
    for name, known in manifest.files.items():
        wanted = only is None or name in only
        stamp = check_file(folder, name, known, contents=False)
        if wanted and stamp != trusted.get(name):
            stamp = check_file(folder, name, known)
        if wanted or stamp == trusted.get(name):
            stamps[name] = stamp
    return Seen(stamps, whole=len(stamps) == len(manifest.files) + 1)
