"""Finds a project's case files and compiles them: read -> parse -> resolve, errors of all files together.

What was compiled before and has not changed is read from the cache (cache.py), without importing the compiler.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from evalkit.analysis import cache
from evalkit.analysis.model import Case, SuiteInfo
from evalkit.analysis.survey import Stamp, survey

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
    collecting = gc.isenabled()
    gc.disable()  # what is made here is kept: looking for rubbish in it takes a tenth of the time
    try:
        kept = cache.read(root, cases_folder)
        if kept is not None:
            return Project(root, *kept)
        seen = survey(root, cases_folder)
        project, reads = _compile(root, seen.case_files)
        cache.write(root, cases_folder, seen, reads, project.units, project.suites)
        return project
    finally:
        if collecting:
            gc.enable()


def _compile(root: Path, paths: Iterable[Path]) -> tuple[Project, dict[str, Stamp]]:
    """Compile case files; which other files were read. Raises `CaseErrors`."""
    from evalkit.analysis.files import relative  # what compiles is imported where something is compiled
    from evalkit.analysis.resolve import compile_units
    from evalkit.diagnostics import CaseErrors
    from evalkit.syntax import parse, read_source

    found: list[Diagnostic] = []
    files: list[tuple[Path, nodes.File]] = []
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
    reads: dict[str, Stamp] = {}
    units, suites, found = compile_units(root, files, reads)
    if found:
        raise CaseErrors(found)
    return Project(root, units, suites), reads
