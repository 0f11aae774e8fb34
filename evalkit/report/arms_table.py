"""The arms of a run side by side, below its table: how often trials passed, and what they took.

An arm's figures are means over its cases, of each the mean over its trials that passed or failed (of a case on several
tracks: over these, of each the mean of its trials, so that each case counts alike). Beside them stands
the difference: what the first arm has more than another, as the mean over the cases that are on both, with its 95 %
bootstrap interval over these cases (of one case: over the trials of both arms; `[?]` where an arm has one trial, and
nobody can tell). Without scipy there are no intervals, and a line says so. Ablated arms (`ARM.SECTION`) are left to
`evalkit arms`, which has all measures. Where the arms have no room beside each other, they stand below each other.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, TypeAlias

from evalkit.errors import UserError
from evalkit.report.layout import chop
from evalkit.report.row import Row

__all__ = ["arms_lines"]

Figures: TypeAlias = "dict[str, dict[str, list[float]]]"
"""Arm -> case (with its track) -> a figure of each trial for which it is known."""
_WIDTH = 80
_NARROWEST = 10


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
    means = [["trials", *(str(sum(_arm(row) == arm for row in trials)) for arm in arms)]]
    apart = [["", *(f"{first} less {other}" for other in others)]]
    for column in _COLUMNS:
        figures = _figures(trials, column.of)
        told = [_difference(figures, first, other, column) for other in others]
        lacking = next((why for _, why in told if why), lacking)
        means.append([column.heading, *(_mean(figures.get(arm, {}), column) for arm in arms)])
        apart.append([column.heading, *(text for text, _ in told)])
    beside = [["", *arms, *apart[0][1:]], [*means[0], *("" for _ in others)],
              *([*mean, *difference[1:]] for mean, difference in zip(means[1:], apart[1:], strict=True))]
    lines = _lines(beside, {0, *range(len(arms) + 1, len(beside[0]))})
    if max(map(len, lines)) > _WIDTH:
        lines = [*_lines(_turned([["", *arms], *means]), {0}),
                 *_lines(_turned([[f"{first} less", *others], *apart[1:]]), {*range(len(apart))})]
    return lines, lacking


def _turned(cells: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(line) for line in zip(*cells, strict=True)]


def _lines(cells: Sequence[Sequence[str]], to_the_left: Container[int]) -> list[str]:
    """Rows of cells as lines. Where these are too long, the first column's cells are folded."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[0] = min(widths[0], max(_NARROWEST, _WIDTH - sum(width + 2 for width in widths[1:])))
    lines = []
    for name, *line in cells:
        head, *more = chop(name, widths[0]) or [""]
        padded = [cell.ljust(width) if at in to_the_left else cell.rjust(width)
                  for at, (cell, width) in enumerate(zip([head, *line], widths, strict=True))]
        lines += ["  ".join(padded).rstrip(), *more]
    return lines


def _figures(trials: Iterable[Row], of: Callable[[Row], float | None]) -> Figures:
    found: Figures = {}
    for row in trials:
        value = of(row)
        if value is not None:
            found.setdefault(_arm(row), {}).setdefault(row.unit.partition("+")[0], []).append(float(value))
    return found


def _mean(cases: Mapping[str, Sequence[float]], column: _Column) -> str:
    return column.shown(fmean(_by_case({name: fmean(values) for name, values in cases.items()})), False) \
        if cases else "-"


def _by_case(values: Mapping[str, float]) -> list[float]:
    """A value of each case: of one on several tracks the mean of theirs."""
    found: dict[str, list[float]] = {}
    for name, value in values.items():
        found.setdefault(name.partition("@")[0], []).append(value)
    return [fmean(each) for each in found.values()]


def _difference(figures: Figures, one: str, other: str, column: _Column) -> tuple[str, str]:
    """What the one arm has more, in words, and why it has no interval; "" where it has, or nobody can tell."""
    from evalkit.report import stats

    these, those = figures.get(one, {}), figures.get(other, {})
    both = [name for name in these if name in those]
    if not both:
        return "-", ""
    gains = _by_case({name: fmean(these[name]) - fmean(those[name]) for name in both})
    trials = [[value for name in both for value in arm[name]] for arm in (these, those)]  # for a single case
    if len(gains) == 1 and min(map(len, trials)) == 1:
        return f"{column.shown(gains[0], True)} [?]", ""
    try:
        found = stats.mean_interval(gains) if len(gains) > 1 else stats.difference(*trials)
    except UserError as error:
        return column.shown(fmean(gains), True), str(error)
    if not found.drawn:
        return column.shown(fmean(gains), True), ""
    return f"{column.shown(fmean(gains), True)} [{column.shown(found.low, True)}, {column.shown(found.high, True)}]", ""
