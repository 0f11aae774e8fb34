"""The lines of a run's summary -> the matrix of cases and subjects that report.html opens with; pure.

A row is a case, on a track where it has tracks; a column a subject, on an arm where it has arms; a cell holds the
trials of both. Rows are sorted by suite and name; columns stand in the order of their first trials, arms in that of
their suite.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from evalkit.grade.evidence import plain
from evalkit.report.arm_order import arm_order

__all__ = ["MARKS", "Column", "Line", "Matrix", "Row", "Suite", "matrix"]

MARKS = {"pass": "✓", "fail": "✕", "contaminated": "◐", "error": "!", "not run": "·"}
"""What a status is shown as; never by colour alone."""


@frozen
class Line:
    """A trial: `number` in the run's order, `data` its line of the summary."""

    number: int
    data: Mapping[str, Any]
    title: str

    @property
    def status(self) -> str:
        return str(self.data["status"])

    @property
    def mark(self) -> str:
        return MARKS.get(self.status, "?")

    @property
    def name(self) -> str:
        """Its status as part of a class name."""
        return self.status.replace(" ", "-")


@define
class Column:
    """A subject on an arm. counts: its trials by status."""

    agent: str
    vendor: str
    model: str
    arm: str
    played: str
    counts: dict[str, int] = field(factory=dict)

    @property
    def graded(self) -> int:
        return self.counts.get("pass", 0) + self.counts.get("fail", 0)

    @property
    def passed(self) -> int:
        return self.counts.get("pass", 0)

    @property
    def percent(self) -> int:
        return round(100 * self.passed / self.graded) if self.graded else 0


@frozen
class Row:
    """A case. cells: the trials of each column."""

    case: str
    track: str
    tier: str
    cells: tuple[tuple[Line, ...], ...]


@frozen
class Suite:
    name: str
    rows: tuple[Row, ...]


@frozen
class Matrix:
    columns: tuple[Column, ...]
    suites: tuple[Suite, ...]
    lines: tuple[Line, ...]
    counts: dict[str, int]

    @property
    def several(self) -> bool:
        """Whether any cell holds more than one trial."""
        return any(len(cell) > 1 for suite in self.suites for row in suite.rows for cell in row.cells)


def matrix(trials: Sequence[Mapping[str, Any]]) -> Matrix:
    """The matrix of the trials of a summary, in their order; the arms of a subject stand as its cases have them."""
    columns: dict[tuple[str, str, str, str], Column] = {}
    cells: dict[tuple[str, str, str], dict[tuple[str, str, str, str], list[Line]]] = {}
    tiers: dict[tuple[str, str, str], str] = {}
    counts = dict.fromkeys(MARKS, 0)
    lines = []
    seen: list[tuple[Hashable, str]] = []
    for number, data in enumerate(trials):
        track, arm = parts_of(data)
        model = str(data["model"] or "")
        at = (str(data["agent"]), model, str(data["played"] or ""), arm)
        if at not in columns:
            vendor, _, name = model.rpartition("/")
            columns[at] = Column(plain(at[0]), plain(vendor), plain(name), plain(arm), plain(at[2]))
        seen.append(((*at[:3], data["suite"], data["case"], track), arm))
        line = Line(number, data, _title(data))
        lines.append(line)
        counts[line.status] = counts.get(line.status, 0) + 1
        columns[at].counts[line.status] = columns[at].counts.get(line.status, 0) + 1
        row = (str(data["suite"]), str(data["case"]), track)
        cells.setdefault(row, {}).setdefault(at, []).append(line)
        tiers.setdefault(row, str(data.get("tier") or ""))
    subjects, arms = {at[:3]: number for number, at in reversed([*enumerate(columns)])}, arm_order(seen)
    columns = {at: columns[at] for at in sorted(columns, key=lambda at: (subjects[at[:3]], arms[at[3]]))}
    suites: dict[str, list[Row]] = {}
    for row, of_row in sorted(cells.items(), key=lambda item: item[0]):
        suite, case, track = row
        suites.setdefault(suite, []).append(
            Row(plain(case), plain(track), plain(tiers[row]), tuple(tuple(of_row.get(at, ())) for at in columns)))
    return Matrix(tuple(columns.values()), tuple(Suite(plain(name), tuple(rows)) for name, rows in suites.items()),
                  tuple(lines), counts)


def parts_of(data: Mapping[str, Any]) -> tuple[str, str]:
    """The track and the arm of a trial, "" for none: its unit's name is `CASE@TRACK+ARM`."""
    rest = str(data["unit"]).removeprefix(str(data["case"]))
    track, _, arm = rest.partition("+")
    return track.removeprefix("@"), arm


def _title(data: Mapping[str, Any]) -> str:
    """What a mark says when it is pointed at, or read out."""
    return plain(f"{data['unit']}, trial {data['trial']}: {data['status']}. {data['reason']}"[:300])
