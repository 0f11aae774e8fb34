"""Finds a project's case files and compiles them: read -> parse -> resolve, errors of all files together."""

from __future__ import annotations

import gc
import os
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from evalkit.analysis import cache
from evalkit.analysis.model import Case, SuiteInfo
from evalkit.errors import UserError

if TYPE_CHECKING:
    from evalkit.diagnostics import Diagnostic
    from evalkit.syntax import nodes

__all__ = ["Project", "load_project"]


@frozen
class Project:
    """A compiled project: its root folder, its suites by name, and the units of its cases by the names of the cases."""

    root: Path
    units: dict[str, tuple[Case, ...]]
    suites: dict[str, SuiteInfo]

    @cached_property
    def cases(self) -> dict[str, Case]:
        """The first unit of each case."""
        return {name: units[0] for name, units in self.units.items()}

    def all_units(self) -> list[Case]:
        """The units of all cases, in the order of the cases."""
        return [unit for units in self.units.values() for unit in units]

    def cases_of(self, suite: str) -> list[Case]:
        return [case for case in self.cases.values() if case.suite.name == suite]


def load_project(root: Path, cases_folder: str = "cases") -> Project:
    """Compile every `.eval` file under the cases folder.

    Raises `CaseErrors` with all diagnostics of all files, or `UserError` where there is no such folder.
    """
    folder = root / cases_folder
    if not folder.is_dir():
        raise UserError(f"there is no folder `{cases_folder}` in {root}",
                        hint='make it, or name another one: `cases = "…"` under [tool.evalkit] in pyproject.toml')
    collecting = gc.isenabled()
    gc.disable()  # what is made here is kept: looking for rubbish in it takes a fifth of the time
    try:
        kept = cache.read(root, folder)
        if kept is None:
            started = time.time_ns()
            project, reads = _compile(root, folder)
            cache.write(root, folder, started, project.units, project.suites, reads)
            return project
        return Project(root, *kept)
    finally:
        if collecting:
            gc.enable()


def _compile(root: Path, folder: Path) -> tuple[Project, set[Path]]:
    """Compile the case files; which files were read. Raises `CaseErrors`."""
    from evalkit.analysis.files import relative  # what compiles is imported where something is compiled
    from evalkit.analysis.resolve import compile_units
    from evalkit.diagnostics import CaseErrors
    from evalkit.syntax import parse, read_source

    found: list[Diagnostic] = []
    files: list[tuple[Path, nodes.File]] = []
    paths = _case_files(folder)
    for path in paths:
        try:
            file, errors = parse(read_source(path, relative(path, root)))
        except CaseErrors as error:
            found += error.diagnostics
            continue
        found += errors
        files.append((path, file))
    if found:  # what a broken file declares is not known: names that miss would only be echoes of it
        raise CaseErrors(found)
    reads = set(paths)
    units, suites, found = compile_units(root, files, reads)
    if found:
        raise CaseErrors(found)
    return Project(root, units, suites), reads


def _case_files(folder: Path) -> list[Path]:
    """The case files below a folder, sorted. Linked folders are not entered: they could lead in a circle.

    Raises `UserError` for a folder that cannot be read: its cases would be left out without a word.
    """
    def refuse(error: OSError) -> None:
        raise UserError(f"cannot read the folder {error.filename}: {error.strerror}") from error

    found: list[str] = []
    folders = [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(".eval"):
                        found.append(entry.path)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError as error:
            refuse(error)
    return sorted(Path(path) for path in found)
