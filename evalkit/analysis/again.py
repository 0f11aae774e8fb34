"""Compiles what changed since a project was compiled, and takes the rest as it was.

What is compiled are the case files that a change concerns (changes.py), with the files of their suites. Cases know of
each other only that their names differ, and that a check may be for a track which any case of the suite has. So what
is compiled is right where its cases' names are new among the others, and the tracks of the suites are what they were.
Wherever that is not so, a suite is concerned, or anything is wrong, the answer is None: then all has to be compiled, so
that what is told is whole.

A folder that was looked at may become another one and what it was again while cases are compiled: its listing would not
tell. So all that was found, with what is above it within the suite and below it, must have the same stamps afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.analysis import cache
from evalkit.analysis.changes import Changes, find_changes
from evalkit.analysis.index import CaseHead, Index, SuiteHead
from evalkit.analysis.survey import Stamp, changed_leads, changed_stamps
from evalkit.analysis.trace import FileTrace, Trace

if TYPE_CHECKING:
    from evalkit.analysis.compile import Compiled
    from evalkit.analysis.model import Case

__all__ = ["compile_again"]

_LONGEST = 4
"""Times the bytes in use that the file of units may come to; a full compile writes it anew."""
_SHORT = 1 << 20
"""Bytes that it may hold in any case."""


def compile_again(root: Path, cases_folder: str, index: Index, started: int,
                  changed: Mapping[str, Stamp | None]) -> tuple[Index, dict[str, tuple[Case, ...]]] | None:
    """The index as it is now, which is kept, and the units that were compiled. None where all has to be compiled.

    `changed`: the stamps that are others now; `started`: nanoseconds, before they were looked at.
    """
    trace = cache.read_trace(root, index)
    if trace is None or _too_long(index) or changed_leads(index.leads):
        return None
    changes = find_changes(root, str(root / cases_folder), index, trace, changed)
    if changes is None:
        return None
    compiled = _compile(root, index, changes, trace.files) if changes.concerned else None
    if compiled is None and changes.concerned:
        return None
    made = compiled.units if compiled else {}
    new = compiled.trace.files if compiled else {}
    files = {path: new.get(path) or trace.files[path] for path in changes.files}
    cases = _heads(files, index, made)
    if _tracks(files) != _tracks(trace.files) or len({case.name.lower() for case in cases}) < len(cases):
        return None
    fresh = Index(cases, _suites(index, cases))
    fresh.stamps, fresh.leads, fresh.log, fresh.key = changes.stamps, index.leads, index.log, index.key
    fresh.places = {name: place for name, place in index.places.items()
                    if name not in made and (name in fresh.cases or not name)}
    if not cache.is_young(changes.fresh.values(), started):
        now = cache.KeptTrace(files, trace.looked, changes.listings)
        fresh.trace = index.trace if now == trace else ""
        _keep(root, fresh, made, now)
    return fresh, made


def _too_long(index: Index) -> bool:
    used = sum(length for _, length, _ in index.places.values())
    return index.log is None or index.log.size > _SHORT + _LONGEST * used


def _compile(root: Path, index: Index, changes: Changes, known: Mapping[str, FileTrace]) -> Compiled | None:
    """Compile the files concerned and those of their suites; notes in `changes` what was read for it."""
    suites = {path.rpartition("/")[0]: path for path, file in known.items() if file.suites}
    homes = {_home(path, suites) for path in changes.concerned}
    if None in homes:
        return None
    from evalkit.analysis.compile import compile_files  # it imports the compiler
    from evalkit.diagnostics import CaseErrors

    paths = {*changes.concerned, *(suites[home] for home in homes if home)}
    try:
        sound = {regex for path in paths if path in known for regex in known[path].regexes}
        compiled = compile_files(root, sorted(map(Path, paths)), _tracks(known), sound)
    except CaseErrors:
        return None
    if any(file.suites and not (path in known and known[path].suites) for path, file in compiled.trace.files.items()):
        return None
    changes.stamps.update(compiled.trace.reads)
    changes.fresh.update(compiled.trace.reads)
    if changed_stamps(_looked_at(root, compiled.trace, homes, changes.stamps)) or changed_leads(index.leads):
        return None
    return compiled


def _looked_at(root: Path, trace: Trace, homes: Iterable[str | None], stamps: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """The stamps of what these suites' files found: of what is there, above it and below it, within the suites."""
    found = {*trace.files, *trace.reads}
    for looked in (trace.looked, *(file.looked for file in trace.files.values())):
        found |= {str(root / path) for path in looked}
    above = {path[:end] for path in found for end in _ends(path)}
    within, below = tuple(f"{home}/" for home in homes), tuple(f"{path}/" for path in found)
    return {path: known for path, known in stamps.items()
            if (path in above or path.startswith(below)) and f"{path}/".startswith(within)}


def _ends(path: str) -> Iterator[int]:
    """Where a path and the folders above it end."""
    end = len(path)
    while end > 0:
        yield end
        end = path.rfind("/", 0, end)


def _home(path: str, suites: Mapping[str, str]) -> str | None:
    """The folder of the suite that a file belongs to."""
    folder = path
    while folder := folder.rpartition("/")[0]:
        if folder in suites:
            return folder
    return None


def _tracks(files: Mapping[str, FileTrace]) -> dict[str, set[str]]:
    """The tracks of the suites by their folders; suites without any are left out."""
    found: dict[str, set[str]] = {}
    for file in files.values():
        if file.home is not None and file.tracks:
            found.setdefault(file.home, set()).update(file.tracks)
    return found


def _heads(files: Mapping[str, FileTrace], index: Index, made: Mapping[str, tuple[Case, ...]]) -> list[CaseHead]:
    """The heads of all cases, in the order of the files. Names may stand twice: nobody has looked yet."""
    if not made:
        return [index.cases[name] for file in files.values() for name in file.cases]
    from evalkit.analysis.heads import head_of

    return [head_of(made[name]) if name in made else index.cases[name]
            for file in files.values() for name in file.cases]


def _suites(index: Index, cases: Iterable[CaseHead]) -> list[SuiteHead]:
    names: dict[str, list[str]] = {name: [] for name in index.suites}
    for case in cases:
        names[case.suite].append(case.name)
    return [suite._replace(cases=tuple(names[suite.name])) for suite in index.suites.values()]


def _keep(root: Path, index: Index, made: Mapping[str, tuple[Case, ...]], trace: cache.KeptTrace) -> None:
    assert index.log is not None
    if made:
        from evalkit.analysis import pickles

        places = cache.append_units(root, index.log, {name: pickles.dump(units) for name, units in made.items()})
        if places is None:
            return
        index.places.update(places)
    cache.keep(root, index, trace)
