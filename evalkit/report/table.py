"""The table on the screen: a part for each subject, in it one line a trial, then what the checks came to.

Where a unit has several trials, its line tells how many of them passed, and what they took together. Only trials that
passed or failed are counted in that: one in error, or one that did not run, says nothing about who is measured. Of
many trials in which something is amiss some are told one by one, and how many others there are.

In 80 columns only the unit's name and the marks give way, by going on in the next line, and no line ends in blanks.
What came from an agent (evidence, names of files, the model's slug) is printed without control characters. The table of
a thousand trials is printed at each run, so what it needs is imported only where it is needed.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby, zip_longest
from typing import IO, NamedTuple

from evalkit.report.findings import (
    MARK_STYLES,
    MARKS,
    STYLES,
    add_checks,
    add_counts,
    beside,
    by_check,
    counted,
    mark_of,
    mean_score,
)
from evalkit.report.layout import Page, chop, coloured, duration, short_count, styled, terminal_width, text_width
from evalkit.report.row import Row

__all__ = ["MOST_TOLD", "print_table"]

_HEADINGS = ("case", "#", "result", "checks", "judge", "turns", "tokens", "cost", "time")
_CASE, _NUMBER, _RESULT, _CHECKS = range(4)
_TOKENS = _HEADINGS.index("tokens")
_LEFT = (_CASE, _RESULT, _CHECKS)
"""Columns that are aligned to the left."""
_GAP = "  "
MOST_TOLD = 10
"""Trials that are told of one by one."""
_FEWEST_MARKS = 8
"""Marks in a line, where there is not room for all of them beside the name."""
_FEWEST_OF_NAME = 10
"""Columns of a name, also where a terminal is so narrow that lines are longer than it: nobody reads a letter a line."""


class _Line(NamedTuple):
    """A line of the table: what stands in its columns, and how its result is coloured."""

    cells: list[str]
    style: str = ""
    heading: bool = False


def print_table(rows: Sequence[Row], stream: IO[str], width: int | None = None, *, results: str = "results",
                most: int | None = MOST_TOLD) -> None:
    """Print a run's table. Colour only on a terminal; at most as wide as the terminal, 80 columns in a pipe.

    results: the folder that the places of rows are in. most: trials that are told of one by one; None: all in which
    something is amiss. Raises OSError where nobody reads the stream.
    """
    page = Page(width or terminal_width(stream), styled if coloured(stream) else lambda text, _: text)
    shown = [row for row in rows if row.ended]
    if shown and all(row.self_check for row in shown):
        page.add(_self_check(shown), "bold")
    if any(row.dry for row in shown):
        page.add("dry run: no model was called; fails are expected", "bold")
    units: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        units.setdefault((row.subject, row.lane, row.unit), []).append(row)
    repeated = len(units) < len(rows)
    _add_parts(page, rows, units.values() if repeated else [], mixed=len({row.self_check for row in shown}) > 1)
    _add_trials(page, rows, units, _shown(results), most)
    if any(row.tier for row in rows):
        from evalkit.report.tiers import add_tiers

        add_tiers(page, rows)
    page.lines.append("")
    _add_last_line(page, rows, shown)
    page.lines.append("")
    stream.write("\n".join(page.lines))


def _add_trials(page: Page, rows: Sequence[Row], units: dict[tuple[str, str, str], list[Row]], results: str,
                most: int | None) -> None:
    """What the checks came to: of units with several trials how often, then of trials in which something is amiss."""
    amiss = [row for row in rows if len(rows) == 1 or (row.amiss and row.status != "not run")]
    told, untold = amiss, []
    if most is not None and len(amiss) > most:
        from evalkit.report.worth_telling import add_untold, worth_telling

        chosen = worth_telling(amiss, most)
        told = [row for at, row in enumerate(amiss) if at in chosen]
        untold = [row for at, row in enumerate(amiss) if at not in chosen]
    trials: dict[tuple[str, str, str], list[Row]] = {}
    for row in told:
        trials.setdefault((row.subject, row.lane, row.unit), []).append(row)
    for unit, of_unit in units.items():
        if len(of_unit) > 1 and (unit in trials or not untold):
            add_counts(page, of_unit, alone=len(units) == 1)
        for row in trials.get(unit, ()):
            page.lines.append("")
            add_checks(page, row, several=len(rows) > 1, results=results)
    if untold:
        run = untold[0].place.partition("/")[0]
        reports = [f"{results}/{run}/{name}" for name in ("report.html", "summary.md")]
        add_untold(page, untold, run, [path for path in reports if os.path.exists(path)])  # noqa: PTH110 - as a text


def _add_last_line(page: Page, rows: Sequence[Row], shown: Sequence[Row]) -> None:
    passed, graded = counted(rows)
    said = ", ".join([f"{passed} passed", *([f"{graded - passed} failed"] if passed < graded else []), *beside(rows)])
    if shown and all(row.self_check for row in shown):
        said += f" ({_self_check(shown)})"
    page.add(said, "green" if passed == len(rows) else
             "red" if passed < graded or any(row.status == "contaminated" for row in rows) else "yellow")
    untold = Counter([check.id for row in shown for check in row.checks
                      if check.advisory and check.status == "error"])
    if untold:
        names = ", ".join([name + (f" ({count} trials)" if count > 1 else "") for name, count in untold.items()])
        page.add(f"advisory, and could not be graded: {names}", "yellow")


def _add_parts(page: Page, rows: Sequence[Row], units: Collection[Sequence[Row]], *, mixed: bool) -> None:
    """A part for each subject and lane; columns are as wide in all of them. units: where these are its lines."""
    parts: dict[tuple[str, str], list[Row]] = {}
    lines: dict[tuple[str, str], list[_Line]] = {}
    for row in rows:
        parts.setdefault((row.subject, row.lane), []).append(row)
    if units:
        for trials in units:
            lines.setdefault((trials[0].subject, trials[0].lane), []).append(_line_of_unit(trials))
    else:
        lines = {part: [_line_of(row) for row in members] for part, members in parts.items()}
    heading = _Line(list(_HEADINGS), heading=True)
    every = [heading, *(line for of_part in lines.values() for line in of_part)]
    if units or not any(row.trial > 1 for row in rows):  # an empty column is left out
        _empty(every, _NUMBER)
    if not any(row.model is not None and row.ended and not row.dry for row in rows):
        _empty(every, _TOKENS)
    widths = _widths(every, page.width)
    for number, (part, members) in enumerate(parts.items()):
        if number:
            page.lines.append("")
        shown = [row for row in members if row.ended]
        checked = mixed and any(row.self_check for row in shown)
        page.add(f"{part[0]}, {part[1]} lane{f' ({_self_check(shown)})' if checked else ''}", "bold")
        _add_lines(page, [heading, *lines[part]], widths)


def _empty(lines: Iterable[_Line], column: int) -> None:
    for line in lines:
        line.cells[column] = ""


def _line_of(row: Row) -> _Line:
    number = str(row.trial)
    if not row.ended:
        return _Line([row.unit, number, row.status, "", "", "", "", "", ""], STYLES[row.status])
    called = row.model is not None and not row.dry  # else there is nothing that turns and cost could be of
    return _Line([
        row.unit, number, row.status, "".join([MARKS[check.status] for check in row.checks]), mean_score(row.scores),
        str(row.turns) if called and row.turns is not None else "-",
        short_count(row.tokens) if called and row.tokens is not None else "-",
        f"${row.cost:.2f}" if called and row.cost is not None else "-", duration(row.seconds),
    ], STYLES[row.status])


def _line_of_unit(trials: Sequence[Row]) -> _Line:
    """The line of a unit's trials: how many passed, each check's mark, and the sums of what they took."""
    first = trials[0]
    if len(trials) == 1:
        return _line_of(first)
    shown = [row for row in trials if row.ended]
    called = [row for row in shown if row.model is not None and not row.dry]
    marks = "".join([mark_of(statuses) for statuses in by_check(trials).values()])
    scores = [score for row in shown for score in row.scores]
    statuses = {row.status for row in trials}
    passed, graded = counted(trials)
    said = "\n".join([*([f"{passed}/{graded}"] if graded else []), *beside(trials, why=False)])
    return _Line([
        first.unit, "", said, marks, mean_score(scores) if shown else "",
        _sum([row.turns for row in called], lambda turns: str(round(turns))),
        _sum([row.tokens for row in called], short_count),
        _sum([row.cost for row in called], lambda cost: f"${cost:.2f}"),
        duration(sum(row.seconds for row in shown)) if shown else "",
    ], STYLES[statuses.pop()] if len(statuses) == 1 else "yellow")


def _sum(values: Sequence[float | None], shown: Callable[[float], str]) -> str:
    """A total; "≥" where not every part of it is known."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return ("≥" if len(known) < len(values) else "") + shown(sum(known))


def _widths(lines: Sequence[_Line], width: int) -> list[int]:
    """The columns' widths: of all but the unit's name and the marks what they need, of these two what is left."""
    widths = [max([_cell_width(cell, column) for cell in cells])
              for column, cells in enumerate(zip(*(line.cells for line in lines), strict=True))]
    gaps = len(_GAP) * (sum(map(bool, widths)) - 1)
    room = width - sum(widths) - gaps + widths[_CASE] + widths[_CHECKS]
    widths[_CHECKS] = min(widths[_CHECKS], max(room - widths[_CASE], _FEWEST_MARKS))
    widths[_CASE] = min(widths[_CASE], max(room - widths[_CHECKS], _FEWEST_OF_NAME))
    return widths


def _cell_width(cell: str, column: int) -> int:
    """Only names hold characters of other widths than one, and only results have lines."""
    if column == _RESULT and "\n" in cell:
        return max(map(len, cell.split("\n")))
    return text_width(cell) if column == _CASE else len(cell)


def _add_lines(page: Page, lines: Iterable[_Line], widths: Sequence[int]) -> None:
    """Lines of the table. Most of a thousand need no colour and fold no cell: these are formatted at once."""
    form = _GAP.join([f"{{{column}:{'<' if column in _LEFT else '>'}{width}}}"
                      for column, width in enumerate(widths) if width])
    for line in lines:
        unit, marks = line.cells[_CASE], line.cells[_CHECKS]
        if (page.paint is not styled and "\n" not in line.cells[_RESULT] and unit.isascii()
                and len(unit) <= widths[_CASE] and len(marks) <= widths[_CHECKS]):
            page.lines.append(form.format(*line.cells).rstrip())
        else:
            _add_cells(page, line, widths)


def _add_cells(page: Page, line: _Line, widths: Sequence[int]) -> None:
    """One line of the table, as many lines as its longest cell takes."""
    columns = [(column, width) for column, width in enumerate(widths) if width]
    pieces = []
    for column, width in columns:
        cell = line.cells[column]
        if column == _CHECKS:
            pieces.append([cell[start : start + width] for start in range(0, len(cell), width)] or [""])
        elif column == _CASE:
            pieces.append(chop(cell, width) if text_width(cell) > width else [cell])
        else:
            pieces.append(cell.split("\n"))
    for parts in zip_longest(*pieces, fillvalue=""):
        whole = ""
        for (column, width), part in zip(columns, parts, strict=True):
            blanks = " " * (width - (text_width(part) if column == _CASE else len(part)))
            part = _painted(page, line, column, part)
            whole += (part + blanks if column in _LEFT else blanks + part) + _GAP
        page.lines.append(whole.rstrip())


def _painted(page: Page, line: _Line, column: int, part: str) -> str:
    if line.heading:
        return page.paint(part, "bold")
    if column == _RESULT:
        return page.paint(part, line.style)
    if column == _CHECKS:
        return "".join([page.paint("".join(marks), MARK_STYLES[mark]) for mark, marks in groupby(part)])
    return part


def _self_check(rows: Iterable[Row]) -> str:
    """What is said of known right answers: that no model was called, or the judge alone (which says more)."""
    return max((row.note for row in rows if row.self_check), key=len)


def _shown(folder: str) -> str:
    """A folder as a person here would name it."""
    here = os.getcwd() + os.sep  # noqa: PTH109 - as a text
    return folder.removeprefix(here)
