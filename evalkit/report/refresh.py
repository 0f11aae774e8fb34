"""The lines of a run's trials, and the reports made of them, where something changed since they were last made.

A trial's line is made anew where its result.json has another stamp than when the line was made. A unit's aggregate is
made anew where a line of the unit is another, the summary where any is; and both where their file is not the one that
was written last.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, define, field

from evalkit.analysis.survey import Stamp, stamp
from evalkit.errors import HarnessError
from evalkit.records import SCHEMA, BadRecord, read_json, write_json
from evalkit.report.aggregate import aggregate
from evalkit.report.row import Row
from evalkit.report.summary import TrialSummary, line_of, line_of_row, line_to_data, summary_data
from evalkit.report.update import SUMMARY, Head, LineData, ReportState

__all__ = ["refresh", "walk"]

_AGGREGATE = "aggregate.json"
_GRAIN = 50_000_000
"""Nanoseconds: a file that changed less than this before it was read may change again and have the same stamp."""
_NO_STAMP = (0, 0, 0, 0)
_TRIAL = re.compile(r"trial-[0-9]+")


def refresh(folder: Path, head: Head, lines: Mapping[str, LineData], places: Iterable[str],
            unfinished: Mapping[str, Row], *, full: bool) -> tuple[ReportState, Head, dict[str, LineData]]:
    """Bring lines and reports up to date; what to keep of it. lines: by place, as they were kept with the head.

    Raises HarnessError where a report cannot be written.
    """
    known = dict.fromkeys([*lines, *head.damaged, *places, *unfinished, *(walk(folder) if full else ())])
    found = _Found()
    for place in known:
        found.look(folder, place, head.results.get(place), lines.get(place), unfinished.get(place))
    now = found.lines
    if now.keys() != lines.keys():
        now = dict(sorted(now.items(), key=lambda item: (_unit(item[0]).split("/"), item[1]["trial"])))
    changed = {place for place in (*lines, *now) if now.get(place) != lines.get(place)}
    reports = _Reports(folder, head.written)
    reports.write_all(now, changed)
    return (ReportState(len(now), found.read, tuple(reports.written), tuple(found.errors)),
            Head(found.results, found.damaged, reports.stamps), now)


@define
class _Found:
    """What was found at the places of trials: the parts of a head, and lines."""

    results: dict[str, Stamp | None] = field(factory=dict)
    lines: dict[str, LineData] = field(factory=dict)
    damaged: list[str] = field(factory=list)
    errors: list[HarnessError] = field(factory=list)
    read: int = 0

    def look(self, folder: Path, place: str, known: Stamp | None, line: LineData | None, row: Row | None) -> None:
        """Find the line of a trial: that of its row, the known one, or one that is read."""
        looked = time.time_ns()
        now = _stamp(f"{folder}/{place}/result.json")
        if row is not None:
            self.results[place], self.lines[place] = now, line_to_data(line_of_row(row, place))
        elif line is not None and known == now:
            self.results[place], self.lines[place] = now, line
        elif now is not None:
            self.read += 1
            try:
                self.lines[place] = line_to_data(_read(folder, place))
                self.results[place] = now if now[-1] < looked - _GRAIN else _NO_STAMP
            except FileNotFoundError:  # it was there a moment ago
                return
            except HarnessError as error:
                self.damaged.append(place)
                self.errors.append(error)


@define
class _Reports:
    """The reports of a run. before: stamps of those that were written last; stamps: of those that are there now."""

    folder: Path
    before: Mapping[str, Stamp]
    stamps: dict[str, Stamp] = field(factory=dict)
    written: list[str] = field(factory=list)

    def write_all(self, lines: Mapping[str, LineData], changed: Iterable[str]) -> None:
        units: dict[str, list[LineData]] = {}
        for place, line in lines.items():
            units.setdefault(_unit(place), []).append(line)
        changed_units = {_unit(place) for place in changed}
        run = self.folder.name
        for unit, members in units.items():
            self._write(f"{unit}/{_AGGREGATE}", unit in changed_units, lambda of: _aggregate_data(run, of), members)
        for path in self.before.keys() - self.stamps.keys() - {SUMMARY}:  # nothing is left to be told of
            with contextlib.suppress(OSError):
                (self.folder / path).unlink()
        self._write(SUMMARY, bool(changed_units), lambda of: summary_data(run, of), list(lines.values()))

    def _write(self, path: str, changed: bool, make: Callable[[list[LineData]], Any], lines: list[LineData]) -> None:
        """Write a report where it changed, or is not the one that was written last."""
        whole = f"{self.folder}/{path}"
        found = _stamp(whole)
        if changed or found is None or self.before.get(path) != found:
            write_json(Path(whole), make(lines), sync=False)  # a lost one is made again
            now = stamp(whole)
            if now != found:
                self.written.append(path)
            found = now
        self.stamps[path] = found


def _aggregate_data(run: str, lines: Iterable[LineData]) -> dict[str, Any]:
    return {"schema": SCHEMA, **asdict(aggregate(run, [TrialSummary(**line) for line in lines]))}


def _read(folder: Path, place: str) -> TrialSummary:
    """The line of a result. Raises FileNotFoundError, or HarnessError where the file cannot be read."""
    path = folder / place / "result.json"
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise BadRecord(f"{path} has schema {found}, this evalkit reads {SCHEMA}",
                        hint="use the evalkit that wrote it, or delete it to have it made again")
    try:
        return line_of(data, place)
    except (KeyError, TypeError) as error:
        raise BadRecord(f"{path} is damaged: it is not a result: {error}",
                        hint="delete it; the next run makes it again") from error


def walk(folder: Path) -> Iterator[str]:
    """The places of all results. Links to folders are not followed."""
    for parent, names, files in os.walk(folder):
        if "result.json" in files and _TRIAL.fullmatch(os.path.basename(parent)):  # noqa: PTH119
            names.clear()
            yield Path(parent).relative_to(folder).as_posix()


def _stamp(path: str) -> Stamp | None:
    try:
        return stamp(path)
    except OSError:
        return None


def _unit(place: str) -> str:
    return place.rpartition("/")[0]
