"""Reads the folders that are imported: never more than a limit, never outside them, and nothing of them is run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import define, field

from evalkit.authoring.importers.report import Section

__all__ = ["LARGEST_TEXT", "SKIPPED", "Source", "SourceError", "read_json", "read_text"]

LARGEST_TEXT = 1_000_000
LARGEST_ASSET = 50_000_000
MOST_FILES = 5_000
"""Files that one folder of assets may hold."""
SKIPPED = frozenset({"node_modules", ".git", ".hg", ".venv", "__pycache__", ".workspaces", "results"})
"""Folders in which no case is looked for, and which are not copied."""


class SourceError(Exception):
    """A file or a folder of the source that cannot be used; the message says why."""


@define
class Source:
    """One of the paths to import. Nothing outside `root` is read, whatever the links in it say."""

    root: Path
    named: Path | None = None
    """The one file within the root that is imported, where that was named."""
    skipped: list[tuple[str, str]] = field(factory=list)
    """Folders that were not looked into, each with the reason."""

    @classmethod
    def open(cls, path: Path) -> Source:
        return cls(path.resolve())

    def shown(self, path: Path) -> str:
        """A path as reports name it: relative to the root."""
        name = os.path.relpath(path, self.root)
        return self.root.name if name == "." else Path(name).as_posix()

    def find(self, *markers: str) -> list[Path]:
        """The folders below the root (and the root) that hold one of these files, sorted; none within another."""
        found = []

        def note(error: OSError) -> None:
            self.skipped.append((self.shown(Path(error.filename)), f"cannot be read: {error.strerror}"))

        for place, folders, files in os.walk(self.root, onerror=note):
            if set(markers) & {*files, *folders}:
                found.append(Path(place))
                folders.clear()
                continue
            for name in sorted(folders):
                if Path(place, name).is_symlink() and name not in SKIPPED:
                    self.skipped.append((self.shown(Path(place, name)), "a link to a folder; links are not followed"))
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
        return found

    def file(self, path: Path) -> Path:
        """The file itself, where links to it stay within the root. Raises `SourceError`."""
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            circle = isinstance(error, RuntimeError) or path.is_symlink()
            raise SourceError("its link leads nowhere" if circle else "there is no such file") from error
        if not real.is_relative_to(self.root):
            raise SourceError("it leads outside the folder that is imported")
        if not real.is_file():
            raise SourceError("it is not a file")
        return real

    def exists(self, path: Path) -> bool:
        return path.exists() or path.is_symlink()

    def tree(self, folder: Path, section: Section, *, without: Iterable[str] = ()) -> dict[str, Path]:
        """The files below a folder, by their paths within it. What cannot be copied is reported as lost.

        `without`: names at the folder's own level that are left out.
        """
        files: dict[str, Path] = {}
        left_out = set(without)

        def note(error: OSError) -> None:
            section.lost(self.shown(Path(error.filename)), f"cannot be read: {error.strerror}")

        if folder.is_symlink():
            section.lost(self.shown(folder), "a link to a folder; links are not followed")
            return {}
        for place, folders, names in os.walk(folder, onerror=note):
            top = Path(place) == folder
            for name in sorted(folders):
                path = Path(place, name)
                if path.is_symlink() and not (top and name in left_out):
                    section.lost(self.shown(path), "a link to a folder; links are not followed")
                elif name in SKIPPED - {"results"}:
                    section.look(self.shown(path), "not copied: a folder that tools make")
            folders[:] = sorted(name for name in folders if name not in SKIPPED - {"results"} and
                                not (top and name in left_out) and not Path(place, name).is_symlink())
            for name in sorted(names):
                if top and name in left_out:
                    continue
                path = Path(place, name)
                if len(files) >= MOST_FILES:
                    section.lost(self.shown(folder), f"it holds more than {MOST_FILES:,} files; the others were left")
                    return files
                if real := self._asset(path, section):
                    files[path.relative_to(folder).as_posix()] = real
        return files

    def _asset(self, path: Path, section: Section) -> Path | None:
        try:
            if not path.name.isprintable():
                raise SourceError("its name holds characters that cannot be shown")
            if any(part.endswith(".eval") for part in path.relative_to(self.root).parts):
                raise SourceError("it would be read as a case file")
            real = self.file(path)
            if real.stat().st_size > LARGEST_ASSET:
                raise SourceError(f"it is larger than {LARGEST_ASSET // 1_000_000} MB")
        except (SourceError, OSError) as error:
            section.lost(self.shown(path), str(error))
            return None
        return real


def read_text(source: Source, path: Path, *, largest: int = LARGEST_TEXT) -> str:
    """The text of a UTF-8 file, its line ends as \\n. Raises `SourceError`."""
    real = source.file(path)
    try:
        with real.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise SourceError(f"it cannot be read: {error.strerror}") from error
    if len(data) > largest:
        raise SourceError(f"it is larger than {largest // 1_000_000} MB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"it is not UTF-8 (byte {error.start})") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(text: str) -> tuple[Any, list[str]]:
    """The value of a JSON text, and the keys that stand in it twice. Raises `SourceError`."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in items]
        twice.extend(dict.fromkeys(key for key in keys if keys.count(key) > 1))
        return dict(items)

    try:
        return json.loads(text, object_pairs_hook=pairs), twice
    except json.JSONDecodeError as error:
        raise SourceError(f"it is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else f"a number is too long: {error}"
        raise SourceError(f"it cannot be read as JSON: {reason}") from error
