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
from operator import attrgetter, itemgetter, methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.analysis import cache
from evalkit.analysis.changes import Changes, find_changes
from evalkit.analysis.index import CaseHead, Index, Place, Step, SuiteHead
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
_DECLARED = FileTrace._fields.index("looked")
"""So many fields say what a file declares; the others, what was looked up for it."""


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
    files = {**trace.files, **new}
    step = None
    if changes.files == (*trace.files,) and all(_alike(file, trace.files[path]) for path, file in new.items()):
        gone = tuple([path for path in changed if path not in changes.stamps])
        step = Step(tuple(map(tuple, _heads_of(made).values())), gone, changes.fresh, {}, index.trace)
        index.go(step)
    else:
        files = {path: files[path] for path in changes.files}
        fresh = _other(index, changes, files, _heads_of(made))
        if fresh is None or _tracks(files) != _tracks(trace.files):
            return None
        index = fresh
    for name in made:
        index.places.pop(name, None)
    if not cache.is_young(changes.fresh.values(), started):
        now = cache.KeptTrace(files, trace.looked, changes.listings)
        _keep(root, index, made, step, None if now == trace else now)
    return index, made


def _too_long(index: Index) -> bool:
    used = sum(map(itemgetter(1), index.places.values()))
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
    found = (above & stamps.keys()).union(filter(methodcaller("startswith", below), stamps))
    return {path: stamps[path] for path in found if f"{path}/".startswith(within)}


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
    for file in filter(attrgetter("tracks"), files.values()):
        if file.home is not None:
            found.setdefault(file.home, set()).update(file.tracks)
    return found


def _alike(file: FileTrace, before: FileTrace) -> bool:
    """Whether a file declares what it declared, as far as others may know."""
    return file[:_DECLARED] == before[:_DECLARED]


def _heads_of(made: Mapping[str, tuple[Case, ...]]) -> dict[str, CaseHead]:
    if not made:
        return {}
    from evalkit.analysis.heads import head_of

    return {name: head_of(units) for name, units in made.items()}


def _other(index: Index, changes: Changes, files: Mapping[str, FileTrace],
           heads: Mapping[str, CaseHead]) -> Index | None:
    """An index of other files, or of files that declare something else. None where a name stands twice.

    heads: of cases that were compiled.
    """
    cases = [heads.get(name) or index.cases[name] for file in files.values() for name in file.cases]
    if len({case.name.lower() for case in cases}) < len(cases):
        return None
    fresh = Index(cases, _suites(index, cases))
    fresh.stamps, fresh.leads, fresh.log = changes.stamps, index.leads, index.log
    fresh.trace, fresh.key = index.trace, index.key
    fresh.places = {name: place for name, place in index.places.items() if name in fresh.cases or not name}
    return fresh


def _suites(index: Index, cases: Iterable[CaseHead]) -> list[SuiteHead]:
    names: dict[str, list[str]] = {name: [] for name in index.suites}
    for case in cases:
        names[case.suite].append(case.name)
    return [suite._replace(cases=tuple(names[suite.name])) for suite in index.suites.values()]


def _keep(root: Path, index: Index, made: Mapping[str, tuple[Case, ...]], step: Step | None,
          trace: cache.KeptTrace | None) -> None:
    """step: how it became what it is, without the places of units. trace: where it is another one than was kept."""
    assert index.log is not None
    places: dict[str, Place] | None = {}
    if made:
        from evalkit.analysis import pickles

        places = cache.append_units(root, index.log, {name: pickles.dump(units) for name, units in made.items()})
    if places is None:
        return
    index.places.update(places)
    if trace is not None:
        index.trace = cache.write_trace(root, trace)
    if index.trace:
        cache.keep_index(root, index, step and step._replace(places=places, trace=index.trace))
