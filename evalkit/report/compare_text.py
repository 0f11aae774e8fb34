"""A comparison as text, at most 80 columns wide: numbers, checks, what flipped and why, and the verdict last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from evalkit.report.compare import CheckDifference, Comparison, Difference, Flip
from evalkit.report.findings import MARK_STYLES, MARKS
from evalkit.report.layout import Page, chop, duration, text_width
from evalkit.report.rates import Line
from evalkit.report.row import CheckRow
from evalkit.report.verdict_line import p_shown, verdict_line

__all__ = ["Look", "add_comparison"]

Look = Callable[[str, Line], tuple[Sequence[CheckRow], str]]
"""The checks of a trial of side A or B with their evidence, and the path of its result."""
_MOST_CHECKS, _MOST_FLIPS, _MOST_LINES = 20, 20, 3
"""Checks and flips that are told of one by one, and lines of a check's evidence."""
_STATUSES = {"error": "in error", "contaminated": "contaminated", "not run": "not run"}
_NAME = 24


def add_comparison(page: Page, found: Comparison, names: tuple[str, str], look: Look, detect: float) -> None:
    """Add all of it. names: what A and B are. detect: the difference that is worth seeing, as a share."""
    for side, name, counts in zip("AB", names, found.counts, strict=True):
        page.add(f"{side}: {name}{_uncounted(counts)}", "bold")
    page.lines.append("")
    if found.rate is not None:
        _add_numbers(page, [found.rate, *found.measures])
        _add_checks(page, found.checks)
        _add_flips(page, found.flips, look)
    if found.apart:
        page.lines.append("")
        page.add(f"not compared: {_count(len(found.apart), 'case')}", "bold")
        for unit, why in found.apart:
            page.add(f"  {unit}: {why}")
    _add_methods(page, found)
    page.lines.append("")
    for line in verdict_line(found, detect).split("\n"):
        page.add(line, "bold")


def _uncounted(counts: Mapping[str, int]) -> str:
    graded = counts.get("pass", 0) + counts.get("fail", 0)
    said = [f"{count} {_STATUSES[status]}" for status, count in counts.items() if status in _STATUSES]
    return f", {_count(graded, 'trial')} graded" + (f" (beside them {', '.join(said)})" if said else "")


def _add_numbers(page: Page, found: Iterable[Difference]) -> None:
    rows = [("", "A", "B", "B less A", "")]
    rows += [(each.name, *_sides(each), _apart(each), p_shown(each.test.p) if each.test else "") for each in found]
    _add_rows(page, rows)


def _add_checks(page: Page, found: Sequence[CheckDifference]) -> None:
    """Checks that differ: those that do not are counted."""
    differ = [check for check in found if check.difference.apart.value]
    tested = sum(check.holm is not None for check in found)
    page.lines.append("")
    if not differ:
        page.add(f"no check passes more often on a side ({_count(len(found), 'check')})")
        return
    page.add(f"checks that pass more often on a side: {len(differ)} of {len(found)} ({tested} tested)", "bold")
    rows = [("", "A", "B", "B less A", "p (Holm)")]
    for check in differ[:_MOST_CHECKS]:
        each = check.difference
        rows.append((each.name, *_sides(each, "pass rate"), _apart(each, "pass rate"),
                     p_shown(check.holm) if check.holm is not None else "one case"))
    _add_rows(page, rows)
    if len(differ) > _MOST_CHECKS:
        page.add(f"… and {len(differ) - _MOST_CHECKS} more (--json has all)")


def _add_rows(page: Page, rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(text_width(cell) for cell in column) for column in zip(*rows, strict=True)]
    widths[0] = min(widths[0], _NAME)
    for number, (name, *cells) in enumerate(rows):
        first, *more = chop(name, _NAME) if name else [""]
        text = first + " " * (widths[0] - text_width(first))
        for column, cell in enumerate(cells, start=1):
            text += "  " + (cell.ljust(widths[column]) if column > 2 else cell.rjust(widths[column]))
        page.lines.append(page.paint(text.rstrip(), "bold" if number == 0 else ""))
        page.lines += more


def _sides(found: Difference, name: str = "") -> tuple[str, str]:
    return _shown(name or found.name, found.one), _shown(name or found.name, found.other)


def _shown(name: str, value: float, *, signed: bool = False) -> str:
    sign = "+" if signed and value >= 0 else "-" if value < 0 else ""
    size = abs(value)
    if name == "pass rate":
        return f"{sign}{100 * size:.1f}" if signed else f"{100 * size:.0f} %"
    if name == "cost":
        return f"{sign}${size:.2f}"
    if name == "seconds":
        return sign + duration(size)
    return f"{sign}{size:,.0f}" if name == "tokens" else f"{sign}{size:.1f}" if name == "turns" else f"{sign}{size:.2f}"


def _apart(found: Difference, name: str = "") -> str:
    name = name or found.name
    unit = " points" if name == "pass rate" else ""
    said = _shown(name, found.apart.value, signed=True)
    if not found.apart.drawn:
        return f"{said}{unit}"
    low, high = (_shown(name, end, signed=True) for end in (found.apart.low, found.apart.high))
    return f"{said} [{low}, {high}]{unit}"


def _add_flips(page: Page, flips: Sequence[Flip], look: Look) -> None:
    page.lines.append("")
    if not flips:
        page.add("no case passes more often on a side")
        return
    worse = sum(not flip.better for flip in flips)
    page.add(f"passes differ in {_count(len(flips), 'case')}: {worse} worse, {len(flips) - worse} better in B", "bold")
    for flip in flips[:_MOST_FLIPS]:
        said = "better" if flip.better else "worse"
        page.add(f"{flip.unit}: {flip.one[0]}/{flip.one[1]} → {flip.other[0]}/{flip.other[1]}, {said}",
                 "green" if flip.better else "red")
        _add_why(page, flip, look)
    if len(flips) > _MOST_FLIPS:
        page.add(f"… and {len(flips) - _MOST_FLIPS} more (--json has all)")


def _add_why(page: Page, flip: Flip, look: Look) -> None:
    """The checks that came to something else, with the evidence of both sides one below the other."""
    looks = [look("A", flip.line_one), look("B", flip.line_other)]
    sides = [{check.id: check for check in checks} for checks, _ in looks]
    differ = [name for name in dict.fromkeys([*sides[0], *sides[1]])
              if (sides[0][name].status if name in sides[0] else "") != (
                  sides[1][name].status if name in sides[1] else "")]
    if not differ:
        for side, line in (("A", flip.line_one), ("B", flip.line_other)):
            page.add(f"  {side}  {line['status']}: {line['reason']}")
        return
    for name in differ:
        for side, checks, (_, path) in zip("AB", sides, looks, strict=True):
            if name in checks:
                _add_check(page, side, checks[name], path)
            else:
                page.add(f"  {side}   {name}: not there")


def _add_check(page: Page, side: str, check: CheckRow, path: str) -> None:
    first = len(page.lines)
    page.add(f"  {side} * {check.id}{' (advisory)' if check.advisory else ''}: {check.why or check.said}")
    mark = page.paint(MARKS[check.status], MARK_STYLES[MARKS[check.status]])
    page.lines[first] = page.lines[first].replace("*", mark, 1)
    for line in check.evidence[:_MOST_LINES]:
        page.add(f"      | {line}", "dim")
    if more := check.more + max(0, len(check.evidence) - _MOST_LINES):
        page.lines.append(page.paint(f"      | … {_count(more, 'more line')}: {path}", "dim"))


def _add_methods(page: Page, found: Comparison) -> None:
    """Which test and which interval."""
    if found.rate is None:
        return
    single = found.rate.cases == 1
    said = []
    if found.rate.test is not None:
        said.append(f"p: {found.rate.test.method} (of scores and checks by the same rules)")
    if any(each.apart.drawn for each in (found.rate, *found.measures)):
        said.append("intervals: 95 %, " + ("Welch's t over the trials of the case" if single else
                                           "Student's t over the cases' differences (paired, clustered by case)"))
    if not found.rate.apart.drawn:
        said.append("no interval for the pass rate: " + ("one trial shows no spread" if single else
                                                         "all cases differ alike, which shows no spread"))
    if any(check.holm is not None for check in found.checks):
        said.append("p of checks: corrected for their number by Holm")
    page.lines.append("")
    for line in said:
        page.add(line, "dim")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
