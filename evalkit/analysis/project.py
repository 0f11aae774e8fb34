"""Finds a project's case files and compiles them: read -> parse -> resolve, errors of all files together."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from attrs import frozen

from evalkit.analysis.files import relative
from evalkit.analysis.model import Case, SuiteInfo
from evalkit.analysis.resolve import compile_units
from evalkit.diagnostics import CaseErrors, Diagnostic
from evalkit.errors import UserError
from evalkit.syntax import nodes, parse, read_source

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
    found: list[Diagnostic] = []
    files: list[tuple[Path, nodes.File]] = []
    for path in _case_files(folder):
        try:
            file, errors = parse(read_source(path, relative(path, root)))
        except CaseErrors as error:
            found += error.diagnostics
            continue
        found += errors
        files.append((path, file))
    if found:  # what a broken file declares is not known: names that miss would only be echoes of it
        raise CaseErrors(found)
    units, suites, found = compile_units(root, files)
    if found:
        raise CaseErrors(found)
    return Project(root, units, suites)


def _case_files(folder: Path) -> list[Path]:
    """The case files below a folder, sorted. Linked folders are not entered: they could lead in a circle.

    Raises `UserError` for a folder that cannot be read: its cases would be left out without a word.
    """
    def refuse(error: OSError) -> None:
        raise UserError(f"cannot read the folder {error.filename}: {error.strerror}") from error

    return sorted(Path(place, name) for place, folders, files in os.walk(folder, onerror=refuse)
                  for name in (*folders, *files) if name.endswith(".eval"))
