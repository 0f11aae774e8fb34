"""The lines of a run's trials, and the reports made of them, where something changed since they were last made.

A trial's line is made anew where its result.json has another stamp than when the line was made. A unit's aggregate is
made anew where a line of the unit is another, a report where any is; and both where their file is not the one that
was written last. A line is kept as the text that it has in the summary: of aggregates, only those of units that changed
are parsed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from evalkit.analysis.survey import Stamp, stamp
from evalkit.errors import HarnessError
from evalkit.records import SCHEMA, BadRecord, read_plain, write_bytes
from evalkit.report.csv_file import CSV, csv_text
from evalkit.report.junit import JUNIT, Suite, junit_text
from evalkit.report.row import Row
from evalkit.report.summary import TrialSummary, json_text, line_of, line_of_row, line_text, summary_text
from evalkit.report.told import Told, told_of
from evalkit.report.update import AGGREGATE, REPORTS, SUMMARY, Known, ReportState, Step, bytes_digest
from evalkit.structure import plain_fields
from evalkit.values import State, field

__all__ = ["refresh", "told_as_before"]

_GRAIN = 50_000_000
"""Nanoseconds: a file that changed less than this before it was read may change again and have the same stamp."""


def refresh(folder: Path, known: Known, changes: Container[str], places: Iterable[str], unfinished: Mapping[str, Row],
            *, full: bool, declared: Mapping[str, int]) -> tuple[ReportState, Known]:
    """Bring lines and reports up to date; what is known then.

    changes: those files that are others than what is known, by path below the folder. places: of trials that may be
    new. declared: see `update_report`. Raises HarnessError where a report cannot be written.
    """
    more, aggregates = _walk(folder) if full else ([], [])
    found = _Found(folder)
    for place in dict.fromkeys([*known.lines, *known.damaged, *places, *more]):
        if place in unfinished:
            line = line_of_row(unfinished[place], place)
            found.add(place, _stamp(f"{folder}/{place}/result.json"), line, told_of(line))
        elif place in known.lines and f"{place}/result.json" not in changes:
            found.keep(place, known)
        else:
            found.read(place)
    lines, told = found.lines, found.told
    if declared or lines.keys() != known.lines.keys():
        lines = {place: lines[place] for place in _in_order(lines, declared)}
        told = {place: told[place] for place in lines}
    moved = [*lines] != [*known.lines]
    changed = {place for place in (*known.lines, *lines) if known.lines.get(place) != lines.get(place)}
    statuses = {place: found.statuses.get(place) or known.statuses[place] for place in lines}
    reports = _Reports(folder, known.written, changes)
    reports.write_all(lines, statuses, changed, aggregates, moved=moved)
    reports.write_told(lines, told, changed=moved or bool(changed) or told != known.told)
    return (ReportState(len(lines), found.looks, tuple(reports.written), tuple(found.errors)),
            Known(found.results, found.damaged, found.unsettled, reports.stamps,
                  {place: _mark(line, told[place]) for place, line in lines.items()}, statuses, lines, told))


def told_as_before(folder: Path, known: Known, changes: Iterable[str], declared: Mapping[str, int]) -> Step | None:
    """What is to be known now, where all that changed are results of which the same is told; None where it is not so.

    Arguments are those of `refresh`; known needs no texts.
    """
    found = _Found(folder)
    for path in changes:
        place = path.removesuffix("/result.json")
        if place == path or place not in known.marks:
            return None
        found.read(place)
        if place not in found.lines or _mark(found.lines[place], found.told[place]) != known.marks[place]:
            return None
    if known.damaged or (declared and [*known.marks] != _in_order(known.marks, declared)):
        return None
    return Step(found.results, found.unsettled)


def _in_order(places: Iterable[str], declared: Mapping[str, int]) -> list[str]:
    from evalkit.report.arm_order import place_order  # mostly they are in order, and nothing declares another

    return sorted(places, key=place_order(declared))


def _mark(line: bytes, told: bytes) -> str:
    return hashlib.blake2b(line + b"\n" + told, digest_size=16).hexdigest()


class _Found(State):
    """What was found at the places of trials. statuses: of lines that were made anew. looks: how many were read."""

    folder: Path
    results: dict[str, Stamp | None] = field(factory=dict)
    lines: dict[str, bytes] = field(factory=dict)
    told: dict[str, bytes] = field(factory=dict)
    statuses: dict[str, str] = field(factory=dict)
    unsettled: dict[str, str] = field(factory=dict)
    damaged: list[str] = field(factory=list)
    errors: list[HarnessError] = field(factory=list)
    looks: int = 0

    def add(self, place: str, now: Stamp | None, line: TrialSummary, told: Told) -> None:
        """A line that was made now."""
        self.results[place], self.lines[place], self.statuses[place] = now, _compact(line_text(line)), line.status
        self.told[place] = _compact(orjson.dumps([told.test, told.row, told.block]))

    def keep(self, place: str, known: Known) -> None:
        """A line that is still right."""
        self.results[place], self.lines[place] = known.results[place], known.lines[place]
        self.told[place] = known.told[place]
        if place in known.unsettled:
            self.unsettled[place] = known.unsettled[place]

    def read(self, place: str) -> None:
        """A line that has to be read, if its result is there."""
        path = f"{self.folder}/{place}/result.json"
        now = _stamp(path)
        if now is None:
            return
        self.looks += 1
        digest = bytes_digest(path) if now[-1] > time.time_ns() - _GRAIN else ""
        try:
            self.add(place, now, *_read(self.folder, place))
        except FileNotFoundError:  # it was there a moment ago
            return
        except HarnessError as error:
            self.damaged.append(place)
            self.errors.append(error)
            return
        if digest:
            self.unsettled[place] = digest


class _Reports(State):
    """The reports of a run.

    before: stamps of those that were written last. changes: files that are others by now. stamps: of those that are
    there in the end. written: those that came out different.
    """

    folder: Path
    before: Mapping[str, Stamp]
    changes: Container[str]
    stamps: dict[str, Stamp] = field(factory=dict)
    written: list[str] = field(factory=list)

    def write_all(self, lines: Mapping[str, bytes], statuses: Mapping[str, str], changed: Iterable[str],
                  aggregates: Iterable[str], *, moved: bool) -> None:
        """Write what is not as it should be. aggregates: files that are there, of whichever units.

        moved: lines stand in another order than before.
        """
        run = self.folder.name
        units: dict[str, list[bytes]] = {}
        for place, line in lines.items():
            units.setdefault(_unit(place), []).append(line)
        changed_units = {_unit(place) for place in changed}
        for unit, members in units.items():
            path = f"{unit}/{AGGREGATE}"
            if not self._stands(path, unit in changed_units):
                from evalkit.report.aggregate import aggregate

                found = aggregate(run, [TrialSummary(**orjson.loads(line)) for line in members])
                self._write(path, json_text({"schema": SCHEMA, **plain_fields(found)}))
        for path in {*self.before, *aggregates} - {*self.stamps, *REPORTS}:  # nothing is left to be told of
            with contextlib.suppress(OSError):
                (self.folder / path).unlink()
        if not self._stands(SUMMARY, moved or bool(changed_units)):
            self._write(SUMMARY, summary_text(run, statuses.values(), lines.values()))

    def write_told(self, lines: Mapping[str, bytes], told: Mapping[str, bytes], *, changed: bool) -> None:
        """Write the reports that are put together from the trials' parts."""
        wanted = [path for path in REPORTS if path != SUMMARY and not self._stands(path, changed)]
        if not wanted:
            return
        from evalkit.report.markdown import MARKDOWN, markdown_text

        run = self.folder.name
        data = {place: orjson.loads(line) for place, line in lines.items()}
        units: dict[str, list[str]] = {}
        for place in data:
            units.setdefault(_unit(place), []).append(place)

        def parts(index: int, places: Iterable[str]) -> Iterator[str]:
            """One by one: the texts of all trials at once would be many."""
            return (orjson.loads(told[place])[index] for place in places)

        makers: dict[str, Callable[[], bytes]] = {
            MARKDOWN: lambda: markdown_text(run, [*data.values()], parts(2, data)).encode(),
            JUNIT: lambda: junit_text(run, (Suite([data[place] for place in of_unit], [*parts(0, of_unit)])
                                            for of_unit in units.values())),
            CSV: lambda: csv_text(parts(1, data)).encode()}
        for path in wanted:
            self._write(path, makers[path]())

    def _stands(self, path: str, changed: bool) -> bool:
        """Whether a report is there as it was written last, and right."""
        if changed or path not in self.before or path in self.changes:
            return False
        self.stamps[path] = self.before[path]
        return True

    def _write(self, path: str, data: bytes) -> None:
        before = _stamp(f"{self.folder}/{path}")
        write_bytes(self.folder / path, data, sync=False)  # a lost one is made again
        self.stamps[path] = stamp(f"{self.folder}/{path}")
        if self.stamps[path] != before:
            self.written.append(path)


def _read(folder: Path, place: str) -> tuple[TrialSummary, Told]:
    """The line of a result, and its parts of the reports.

    Raises FileNotFoundError, or HarnessError where the file cannot be read.
    """
    path = folder / place / "result.json"
    data = read_plain(path)
    try:
        line = line_of(data, place)
        return line, told_of(line, data)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadRecord(f"{path} is damaged: it is not a result: {error}",
                        hint="delete it; the next run makes it again") from error


def _walk(folder: Path) -> tuple[list[str], list[str]]:
    """The places of all results, and the paths of all aggregates. Links to folders are not followed."""
    places, aggregates = [], []
    for parent, names, files in os.walk(folder):
        if "result.json" in files and re.fullmatch("trial-[0-9]+", os.path.basename(parent)):  # noqa: PTH119
            names.clear()
            places.append(Path(parent).relative_to(folder).as_posix())
        elif AGGREGATE in files:
            aggregates.append(Path(parent, AGGREGATE).relative_to(folder).as_posix())
    return places, aggregates


def _compact(data: bytes) -> bytes:
    """A copy in as much memory as it needs: what orjson makes keeps the 16 kB of its buffer, a thousand times."""
    return bytes(memoryview(data))


def _stamp(path: str) -> Stamp | None:
    try:
        return stamp(path)
    except OSError:
        return None


def _unit(place: str) -> str:
    return place.rpartition("/")[0]
