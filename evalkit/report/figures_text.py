"""The figures of a run as text, below its table: at most 80 columns, each interval with its method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalkit.report import stats
from evalkit.report.figures import GroupFigures, UnitFigures
from evalkit.report.layout import Page, chop, text_width
from evalkit.report.stats import Interval

__all__ = ["add_figures", "number", "percent", "points"]

_NAME = 30
"""Columns of a unit's name; what is longer goes on in the next line."""


def add_figures(page: Page, found: Iterable[GroupFigures], *, lacking: bool = False) -> None:
    """Add the figures of each subject. lacking: there are no intervals, because scipy is not there."""
    groups = list(found)
    methods: dict[str, None] = {}
    for group in groups:
        page.lines.append("")
        page.add(f"pass rates, {group.group.shown}", "bold")
        repeated = any(unit.count > 1 for unit in group.units)
        if repeated:
            _add_units(page, group)
        page.add(f"over {_count(group.rate.count, 'case')}: {percent(group.rate)}{_none(group.rate, 'case')}")
        if group.at is not None and group.hat is not None:
            page.add(f"pass@{group.k}: {percent(group.at)}   pass^{group.k}: {percent(group.hat)}   "
                     f"({_count(group.at.count, 'case')} with {group.k} trials or more)")
        for name, score in group.scores.items():
            told = number(score.found)
            page.add(f"{name}: {told} over {_count(score.found.count, score.over)}{_none(score.found, score.over)}")
        methods |= dict.fromkeys(_methods(group))
    if groups:
        page.lines.append("")
        for line in [*methods, *(["intervals need scipy: pip install 'evalkit[stats]'"] if lacking else [])]:
            page.add(line, "dim")


def _add_units(page: Page, group: GroupFigures) -> None:
    heads = ["case", "passed", "pass rate", *([f"pass@{group.k}", f"pass^{group.k}"] if group.k else [])]
    rows = [_cells(unit, k=bool(group.k)) for unit in group.units]
    widths = [max(text_width(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    widths[0] = min(widths[0], _NAME)
    for number, row in enumerate([heads, *rows]):
        first, *more = chop(row[0], _NAME)
        cells = [first + " " * (widths[0] - text_width(first)),
                 *(cell.rjust(width) if column != 1 else cell.ljust(width)
                   for column, (cell, width) in enumerate(zip(row[1:], widths[1:], strict=True)))]
        page.lines.append(page.paint("  ".join(cells).rstrip(), "bold" if number == 0 else ""))
        page.lines += more


def _cells(unit: UnitFigures, *, k: bool) -> list[str]:
    shares = [f"{100 * share:.0f} %" if share is not None else "-" for share in (unit.at, unit.hat)] if k else []
    return [unit.unit, f"{unit.passed}/{unit.count}", percent(unit.rate) + _none(unit.rate, "trial"), *shares]


def _none(found: Interval, what: str) -> str:
    """Why a number has no interval, where it has none for its few values."""
    return f" (one {what}: no interval)" if found.count == 1 else ""


def _methods(group: GroupFigures) -> Sequence[str]:
    """Which interval is which."""
    said = []
    if any(unit.rate.drawn for unit in group.units):
        said.append("a case's pass rate: 95 % Wilson interval of its trials; from one trial none is drawn")
    if group.rate.drawn:
        said.append("over cases: 95 % Wilson interval, each case having one trial" if group.rate.method == stats.WILSON
                    else "over cases: the mean of the cases' rates, 95 % t interval over cases (clustered by case)")
    if group.at is not None:
        said.append("pass@k: at least one of k trials passes; pass^k: all of them do; unbiased estimates")
    if any(score.found.drawn for score in group.scores.values()):
        said.append("scores: 95 % t interval, over cases of their means (clustered by case), or over one case's trials")
    return said


def percent(found: Interval) -> str:
    """A share in per cent, with its interval where there is one."""
    said = f"{100 * found.value:.0f} %"
    return f"{said} [{100 * found.low:.0f} %, {100 * found.high:.0f} %]" if found.drawn else said


def number(found: Interval) -> str:
    """A number with two digits behind the point, with its interval where there is one."""
    said = f"{found.value:.2f}"
    return f"{said} [{found.low:.2f}, {found.high:.2f}]" if found.drawn else said


def points(found: Interval) -> str:
    """A difference of shares in points, signed, with its interval where there is one."""
    said = f"{100 * found.value:+.1f} points"
    return f"{said} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]" if found.drawn else said


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


