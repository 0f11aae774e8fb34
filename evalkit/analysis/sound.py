"""A project in which some files have errors, without these files: the cases that have nothing to do with them.

parse all -> leave out files with errors -> resolve the others -> leave out those in which something is found -> again,
until nothing is found. With a suite's file go all of its cases. Nothing of this is kept: it holds for one command.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evalkit.analysis.files import relative
from evalkit.analysis.heads import head_of, suite_heads
from evalkit.analysis.index import Index, case_of, without_collecting
from evalkit.analysis.project import Project, compile_project
from evalkit.analysis.resolve import compile_units
from evalkit.analysis.survey import survey
from evalkit.diagnostics import CaseErrors, Diagnostic
from evalkit.syntax import nodes as n
from evalkit.syntax import parse, read_source

__all__ = ["SoundPart", "sound_part"]

_MOST_ROUNDS = 10
"""Times that the rest is looked at again: what is left out can only be missed by a suite's own checks, and of very many
errors a look finds the first hundred.
"""
_SUITE = "suite.eval"


class SoundPart(NamedTuple):
    """project: the cases without errors. diagnostics: what is wrong with the others. folders: of suites that lack some
    of their cases. doubtful: names of cases in files that are left out, as far as they could be read, in small letters.
    """

    project: Project
    diagnostics: tuple[Diagnostic, ...]
    folders: frozenset[str]
    doubtful: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether `case:NAME` (or a unit of it, or `ablate:NAME`) or `suite:NAME` is whole here."""
        kind, _, rest = name.partition(":")
        index = self.project.index
        if kind == "suite":
            return (rest in index.suites and index.suites[rest].folder not in self.folders
                    and not any(case.lower() in self.doubtful for case in index.suites[rest].cases))
        case = case_of(rest)
        return (kind in ("case", "ablate") and case in index.cases and case.lower() not in self.doubtful
                and rest in (case, *index.cases[case].units))


def sound_part(root: Path, cases_folder: str) -> SoundPart | None:
    """What of a project can be used although there are errors in it; None where that cannot be told."""
    with without_collecting():
        paths = survey(root, cases_folder).case_files
        suites_at = {path.parent for path in paths if path.name == _SUITE}
        homes = {path: next((folder for folder in path.parents if folder in suites_at), None) for path in paths}
        found: list[Diagnostic] = []
        parsed: dict[Path, n.File] = {}
        broken: set[Path] = set()
        for path in paths:
            try:
                parsed[path], errors = parse(read_source(path, relative(path, root)))
            except CaseErrors as error:
                errors = list(error.diagnostics)
            broken |= {path} if errors else set()
            found += errors
        for _ in range(_MOST_ROUNDS):
            out = {path for path in paths if path in broken or ((home := homes[path]) and home / _SUITE in broken)}
            kept = [(path, file) for path, file in parsed.items() if path not in out]
            units, suites, more = compile_units(root, kept, beside=_tracks(parsed, out, homes))
            if not more:
                heads = [head_of(of_case) for of_case in units.values()]
                index = Index(heads, suite_heads(suites, heads))
                project = Project(root, index, units, suites, lambda: compile_project(root, cases_folder))
                folders = {relative(home, root) for path in out if (home := homes[path])}
                doubtful = {case.name.value.lower() for path in out if path in parsed for case in parsed[path].cases}
                return SoundPart(project, tuple(found), frozenset(folders), frozenset(doubtful))
            found += more
            broken |= {path for item in more for path in _places(item)}
    return None


def _tracks(parsed: dict[Path, n.File], out: Iterable[Path], homes: dict[Path, Path | None]) -> dict[str, set[str]]:
    """The tracks of the cases that are left out, by the folders of their suites: checks of suites may be for them."""
    found: dict[str, set[str]] = {}
    for path in out:
        if path in parsed and (home := homes[path]):
            found.setdefault(str(home), set()).update(
                item.name.value for case in parsed[path].cases for item in case.body if isinstance(item, n.Track))
    return found


def _places(item: Diagnostic) -> Sequence[Path]:
    """The files that are wrong by a diagnostic: its own, and of two cases of a name both."""
    return [item.span.source.path, *(span.source.path for _, span in item.notes if span.source.path.name != _SUITE)]
