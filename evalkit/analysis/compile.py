"""Case files -> compiled units: read -> parse -> resolve, errors of all files together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from evalkit.analysis import model as m
from evalkit.analysis.files import relative
from evalkit.analysis.resolve import compile_units
from evalkit.analysis.trace import Trace
from evalkit.diagnostics import CaseErrors, Diagnostic
from evalkit.syntax import nodes, parse, read_source

__all__ = ["Compiled", "compile_files"]


class Compiled:
    """The units of cases by the names of the cases, the suites by their names, and what was looked at."""

    __slots__ = ("suites", "trace", "units")

    def __init__(self, units: dict[str, tuple[m.Case, ...]], suites: dict[str, m.SuiteInfo], trace: Trace) -> None:
        self.units = units
        self.suites = suites
        self.trace = trace


def compile_files(root: Path, paths: Iterable[Path], tracks: Mapping[str, Collection[str]] | None = None,
                  sound: Collection[tuple[str, str]] = ()) -> Compiled:
    """Compile case files. Raises `CaseErrors` with all that is wrong in them.

    `tracks`, `sound`: see `compile_units`.
    """
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
    trace = Trace()
    units, suites, found = compile_units(root, files, trace, tracks, sound=sound)
    if found:
        raise CaseErrors(found)
    return Compiled(units, suites, trace)
