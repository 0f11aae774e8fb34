"""The arms of a run side by side, below its table: how often trials passed, and what they took.

An arm's figures are means over its cases, of each the mean over its trials that passed or failed. Beside them stands
the difference: what the first arm has more than another, as the mean over the cases that are on both, with its 95 %
bootstrap interval over these cases (of one case: over the trials of both arms; `[?]` where an arm has one trial, and
nobody can tell). Without scipy there are no intervals, and a line says so. Ablated arms (`ARM.SECTION`) are left to
`evalkit arms`, which has all measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple, TypeAlias

from evalkit.errors import UserError
from evalkit.report.row import Row

__all__ = ["arms_lines"]

Figures: TypeAlias = "dict[str, dict[str, list[float]]]"
"""Arm -> case (with its track) -> a figure of each trial for which it is known."""


class _Column(NamedTuple):
    """A figure of a trial, and how it is shown. signed: as a difference."""

    heading: str
    of: Callable[[Row], float | None]
    shown: Callable[[float, bool], str]


def _percent(value: float, signed: bool) -> str:
    return f"{100 * value:{'+' if signed else ''}.0f}%"


def _dollars(value: float, signed: bool) -> str:
    return f"{'-' if value < 0 else '+' if signed else ''}${abs(value):.2f}"


def _turns(value: float, signed: bool) -> str:
    return f"{value:{'+' if signed else ''}.1f}"


_COLUMNS = (_Column("passed", lambda row: float(row.status == "pass"), _percent),
            _Column("cost", lambda row: row.cost, _dollars),
            _Column("turns", lambda row: row.turns, _turns))


def arms_lines(rows: Iterable[Row]) -> list[str]:
    """The lines for all suites and subjects of which there are trials of a model on several arms; else none."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        arm = _arm(row)
        if arm and "." not in arm and row.model and row.status in ("pass", "fail") and not (row.self_check or row.dry):
            parts.setdefault((row.suite, row.subject), []).append(row)
    lines: list[str] = []
    lacking = ""
    for (suite, subject), trials in parts.items():
        arms = list(dict.fromkeys(map(_arm, trials)))
        if len(arms) > 1:
            table, without = _table(trials, arms)
            lacking = lacking or without
            lines += ["", f"arms of {suite}, {subject} (means over cases)", *table]
    return [*lines, lacking] if lacking else lines


def _arm(row: Row) -> str:
    return row.unit.partition("+")[2]


def _table(trials: Sequence[Row], arms: Sequence[str]) -> tuple[list[str], str]:
    """The lines of one subject, and why differences have no intervals; "" where they have."""
    first, *others = arms
    lacking = ""
    cells = [["", *arms, *(f"{first} less {other}" for other in others)],
             ["trials", *(str(sum(_arm(row) == arm for row in trials)) for arm in arms), *("" for _ in others)]]
    for column in _COLUMNS:
        figures = _figures(trials, column.of)
        told = [_difference(figures, first, other, column) for other in others]
        lacking = next((why for _, why in told if why), lacking)
        cells.append([column.heading, *(_mean(figures.get(arm, {}), column) for arm in arms),
                      *(text for text, _ in told)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    to_the_left = {0, *range(len(arms) + 1, len(widths))}
    return ["  ".join([cell.ljust(width) if at in to_the_left else cell.rjust(width)
                       for at, (cell, width) in enumerate(zip(line, widths, strict=True))]).rstrip()
            for line in cells], lacking


def _figures(trials: Iterable[Row], of: Callable[[Row], float | None]) -> Figures:
    found: Figures = {}
    for row in trials:
        value = of(row)
        if value is not None:
            found.setdefault(_arm(row), {}).setdefault(row.unit.partition("+")[0], []).append(float(value))
    return found


def _mean(cases: dict[str, list[float]], column: _Column) -> str:
    return column.shown(fmean(map(fmean, cases.values())), False) if cases else "-"


def _difference(figures: Figures, one: str, other: str, column: _Column) -> tuple[str, str]:
    """What the one arm has more, in words, and why it has no interval; "" where it has, or nobody can tell."""
    from evalkit.report import stats

    these, those = figures.get(one, {}), figures.get(other, {})
    both = [case for case in these if case in those]
    if not both:
        return "-", ""
    gains = [fmean(these[case]) - fmean(those[case]) for case in both]
    if len(both) == 1 and min(len(these[both[0]]), len(those[both[0]])) == 1:
        return f"{column.shown(gains[0], True)} [?]", ""
    try:
        found = stats.mean_interval(gains) if len(both) > 1 else stats.difference(these[both[0]], those[both[0]])
    except UserError as error:
        return column.shown(fmean(gains), True), str(error)
    if not found.drawn:
        return column.shown(found.value, True), ""
    return f"{column.shown(found.value, True)} [{column.shown(found.low, True)}, {column.shown(found.high, True)}]", ""
