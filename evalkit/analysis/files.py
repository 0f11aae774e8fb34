"""Finds the files that cases name. Whatever is named exists, and nothing leads outside the suite's folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath
from typing import Literal

from evalkit.analysis.findings import Findings
from evalkit.diagnostics import Span, did_you_mean

__all__ = ["Files", "relative"]


def relative(path: Path, root: Path) -> str:
    """A path of the project as cases give it: relative to the root, with `/`."""
    return path.relative_to(root).as_posix()


class Files:
    """The files of one suite."""

    def __init__(self, findings: Findings, root: Path, suite: Path) -> None:
        self.findings = findings
        self.report = findings.report
        self.root = root
        self.suite = suite
        self._home: Path | None = None
        self._checked: set[Path] = set()
        self._found: dict[tuple[Path, str, str], str] = {}
        self._bases: dict[Path, tuple[str, str] | None] = {}

    def find(self, base: Path, value: str, span: Span, want: Literal["file", "folder", "any"], *,
             notes: tuple[tuple[str, Span], ...] = ()) -> str | None:
        """The path of `value`, relative to the project's root. None, and a report at `span`, where it is no good."""
        key = (base, value, want)
        found: str | None
        if key not in self._found:
            found = self._look(base, value, span, want, notes)
            if found is None:
                return None
            self._found[key] = found
        found = self._found[key]
        self.findings.looked.add(found)  # by whoever asks now, also where another one asked before
        return found

    def _look(self, base: Path, value: str, span: Span, want: Literal["file", "folder", "any"],
              notes: tuple[tuple[str, Span], ...]) -> str | None:
        if not value or PurePosixPath(value).is_absolute() or "\\" in value or not value.isprintable():
            self.report("E041", f"`{value}` is not a path within the suite", span,
                        help="paths are relative to the `.eval` file and use `/`", notes=notes)
            return None
        plain = self._find_plain(base, value, want)
        if plain is not None:
            return plain
        try:
            return self._find(base, value, span, want, notes)
        except (OSError, RuntimeError) as error:  # a RuntimeError: links that lead in a circle
            reason = error.strerror if isinstance(error, OSError) else "its links lead in a circle"
            self.report("E040", f"`{value}` cannot be read: {reason}", span, notes=notes)
            return None

    def _find_plain(self, base: Path, value: str, want: Literal["file", "folder", "any"]) -> str | None:
        """The path where no link and no `..` is on the way: one look at each part. None where `_find` must judge."""
        if base not in self._bases:
            self._bases[base] = self._base(base)
        found = self._bases[base]
        if found is None:
            return None
        place, shown = found
        folder = True
        for part in value.split("/"):
            if part in ("", ".", "..") or not folder:
                return None
            place, shown = f"{place}/{part}", f"{shown}/{part}"
            try:
                mode = os.lstat(place).st_mode
            except OSError:
                return None
            folder = stat.S_ISDIR(mode)
            if not folder and not stat.S_ISREG(mode):
                return None
        if want == ("file" if folder else "folder") or (folder and _holds_link(place)):
            return None
        return shown

    def _base(self, base: Path) -> tuple[str, str] | None:
        """A folder's real path, and as cases name it; None where it is outside the suite."""
        try:
            real, suite = base.resolve(), self._suite()
        except (OSError, RuntimeError):
            return None
        if not real.is_relative_to(suite):
            return None
        return str(real), (PurePosixPath(relative(self.suite, self.root)) / real.relative_to(suite)).as_posix()

    def _suite(self) -> Path:
        """The suite's real path. Raises OSError, or RuntimeError for links that lead in a circle."""
        self._home = self._home or self.suite.resolve()
        return self._home

    def _find(self, base: Path, value: str, span: Span, want: Literal["file", "folder", "any"],
              notes: tuple[tuple[str, Span], ...]) -> str | None:
        suite = self._suite()
        target = (base / value).resolve()
        shown_suite = relative(self.suite, self.root)
        if not target.is_relative_to(suite):
            self.report("E041", f"`{value}` leads outside the suite's folder", span,
                        help=f"move the file below {shown_suite}/", notes=notes)
            return None
        if not target.exists():
            beside = [entry.name for entry in target.parent.iterdir()] if target.parent.is_dir() else []
            near = did_you_mean(target.name, beside)
            self.report("E040", f"`{value}` does not exist", span, notes=notes,
                        help=f"looked in {relative(base, self.root)}/" + (f"; {near}" if near else ""))
            return None
        if (want == "file" and not target.is_file()) or (want == "folder" and not target.is_dir()):
            self.report("E042", f"`{value}` is not a {want}", span, notes=notes)
            return None
        stray = self._stray_link(target, suite)
        if stray is not None:
            self.report("E041", f"`{value}` holds a link that leads outside the suite's folder", span,
                        help=f"the link is {stray.relative_to(target).as_posix()}", notes=notes)
            return None
        self._checked.add(target)
        # By the suite's name in the project, which may itself be a link to elsewhere.
        return (PurePosixPath(shown_suite) / target.relative_to(suite).as_posix()).as_posix()

    def _stray_link(self, folder: Path, suite: Path) -> Path | None:
        """A link below a folder that leads outside: what it leads to would be copied into workspaces."""
        if folder in self._checked or not folder.is_dir():
            return None
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                path = Path(place, name)
                if path.is_symlink() and not path.resolve().is_relative_to(suite):
                    return path
        return None


def _holds_link(folder: str) -> bool:
    """Whether there is any link below a folder, or something that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_symlink() or (entry.is_dir(follow_symlinks=False) and _holds_link(entry.path))
                       for entry in entries)
    except OSError:
        return True
