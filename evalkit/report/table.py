"""The table on the screen: a part for each subject, in it one line a trial, then what the checks came to.

Where a unit has several trials, its line tells how many of them passed, and what they took together. Only trials that
passed or failed are counted in that: one in error, or one that did not run, says nothing about who is measured.

In 80 columns only the unit's name and the marks give way, by going on in the next line, and no line ends in blanks.
What came from an agent (evidence, names of files, the model's slug) is printed without control characters. The table of
a thousand trials is printed at each run, so what it needs is imported only where it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, zip_longest
from typing import IO, NamedTuple

from evalkit.report.layout import chop, coloured, folded, styled, terminal_width, text_width
from evalkit.report.row import LONGEST_LINE, CheckRow, Row

__all__ = ["Row", "print_table"]

_MARKS = {"pass": "✓", "fail": "✗", "skipped": "s", "error": "!"}
_SOMETIMES = "~"
"""The mark of a check that passed in some of a unit's trials and failed in others."""
_STYLES = {"pass": "green", "fail": "red", "error": "yellow", "not run": "yellow", "skipped": "dim"}
_MARK_STYLES = {**{mark: _STYLES[status] for status, mark in _MARKS.items()}, _SOMETIMES: "yellow"}
_HEADINGS = ("case", "#", "result", "checks", "judge", "turns", "cost", "tokens", "time")
_CASE, _NUMBER, _RESULT, _CHECKS = range(4)
_LEFT = (_CASE, _RESULT, _CHECKS)
"""Columns that are aligned to the left."""
_GAP = 2
_FEWEST_MARKS = 8
"""Marks in a line, where there is not room for all of them beside the name."""
_LONGEST_ID = 24


class _Line(NamedTuple):
    """A line of the table: what stands in its columns, and how its result is coloured."""

    cells: list[str]
    style: str = ""
    heading: bool = False


class _Page:
    """Lines on their way to a stream: folded to its width, coloured where it shows colours."""

    def __init__(self, width: int, paint: Callable[[str, str], str]) -> None:
        self.width = width
        self.paint = paint
        self.lines: list[str] = []

    def add(self, text: str, style: str = "") -> None:
        """A text of any origin, as the lines that it takes."""
        if not text.isprintable():
            from evalkit.grade.evidence import plain

            text = plain(text)
        if len(text) > LONGEST_LINE:
            text = text[: LONGEST_LINE - 1] + "…"
        self.lines += [self.paint(line, style) for line in folded(text, self.width)]


def print_table(rows: Sequence[Row], stream: IO[str], width: int | None = None, *, results: str = "results") -> None:
    """Print a run's table. Colour only on a terminal; at most as wide as the terminal, 80 columns in a pipe.

    results: the folder that the places of rows are in. Raises OSError where nobody reads the stream.
    """
    page = _Page(width or terminal_width(stream), styled if coloured(stream) else lambda text, _: text)
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
    told = set()
    for row in rows:
        unit = (row.subject, row.lane, row.unit)
        if len(units[unit]) > 1 and unit not in told:
            told.add(unit)
            _add_counts(page, units[unit])
        if len(rows) == 1 or (row.amiss and row.status != "not run"):
            page.lines.append("")
            _add_checks(page, row, several=len(rows) > 1, results=_shown(results))
    page.lines.append("")
    style = "green" if all(row.status == "pass" for row in rows) else (
        "red" if any(row.status == "fail" for row in rows) else "yellow")
    said = _passed(rows, "")
    page.add(f"{said} ({_self_check(shown)})" if shown and all(row.self_check for row in shown) else said, style)
    page.lines.append("")
    stream.write("\n".join(page.lines))


# ---- the table ----
def _add_parts(page: _Page, rows: Sequence[Row], units: Iterable[Sequence[Row]], *, mixed: bool) -> None:
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
    if not units:
        _empty(every, _HEADINGS.index("tokens"))
    widths = _widths(every, page.width)
    for number, (part, members) in enumerate(parts.items()):
        if number:
            page.lines.append("")
        shown = [row for row in members if row.ended]
        checked = mixed and any(row.self_check for row in shown)
        page.add(f"{part[0]}, {part[1]} lane{f' ({_self_check(shown)})' if checked else ''}", "bold")
        for line in (heading, *lines[part]):
            _add_cells(page, line, widths)


def _empty(lines: Iterable[_Line], column: int) -> None:
    for line in lines:
        line.cells[column] = ""


def _line_of(row: Row) -> _Line:
    number = str(row.trial)
    if not row.ended:
        return _Line([row.unit, number, row.status, "", "", "", "", "", ""], _STYLES[row.status])
    called = row.model is not None and not row.dry  # else there is nothing that turns and cost could be of
    return _Line([
        row.unit, number, row.status, "".join([_MARKS[check.status] for check in row.checks]), _mean(row.scores),
        str(row.turns) if called and row.turns is not None else "-",
        f"${row.cost:.2f}" if called and row.cost is not None else "-", "", _duration(row.seconds),
    ], _STYLES[row.status])


def _line_of_unit(trials: Sequence[Row]) -> _Line:
    """The line of a unit's trials: how many passed, each check's mark, and the sums of what they took."""
    first = trials[0]
    if len(trials) == 1:
        line = _line_of(first)
        if first.ended and first.model is not None and not first.dry:
            line.cells[_HEADINGS.index("tokens")] = _sum([first.tokens], _short)
        return line
    shown = [row for row in trials if row.ended]
    called = [row for row in shown if row.model is not None and not row.dry]
    marks = "".join([_mark(statuses) for statuses in _by_check(trials).values()])
    scores = [score for row in shown for score in row.scores]
    statuses = {row.status for row in trials}
    return _Line([
        first.unit, "", _passed(trials), marks, _mean(scores) if shown else "",
        _sum([row.turns for row in called], lambda turns: str(round(turns))),
        _sum([row.cost for row in called], lambda cost: f"${cost:.2f}"),
        _sum([row.tokens for row in called], _short),
        _duration(sum(row.seconds for row in shown)) if shown else "",
    ], _STYLES[statuses.pop()] if len(statuses) == 1 else "yellow")


def _passed(rows: Sequence[Row], of: str = "/") -> str:
    """How many trials passed, and apart from them errors and what did not run.

    of: "/" for the short form of a table's cell, a line each; "" for counts in words, else what follows "3/5".
    """
    counts = {"pass": 0, "fail": 0, "error": 0, "not run": 0}
    for row in rows:
        counts[row.status] += 1
    graded = counts["pass"] + counts["fail"]
    words = []
    if of == "/":
        words += [f"{counts['pass']}/{graded}"] if graded else []
    elif of:
        words += [f"{counts['pass']}/{graded}{of}"]
    else:
        words += [f"{counts['pass']} passed"] + ([f"{counts['fail']} failed"] if counts["fail"] else [])
    if counts["error"]:
        words.append(f"{counts['error']} {'error' if of == '/' else 'in error'}")
    if counts["not run"]:
        reasons = {row.reason for row in rows if row.status == "not run"}
        why = f" ({reasons.pop()})" if len(reasons) == 1 and of != "/" else ""
        words.append(f"{counts['not run']} not run{why}")
    retries = sum(row.retries for row in rows)
    if retries and of != "/":
        words.append(f"{retries} {'retry' if retries == 1 else 'retries'}")
    return ("\n" if of == "/" else ", ").join(words)


def _by_check(trials: Iterable[Row]) -> dict[str, list[CheckRow]]:
    """What each check came to in all trials, in the order of the checks."""
    found: dict[str, list[CheckRow]] = {}
    for row in trials:
        for check in row.checks:
            found.setdefault(check.id, []).append(check)
    return found


def _mark(checks: Sequence[CheckRow]) -> str:
    """The mark of a check in all of a unit's trials: its own, where it always came to the same."""
    statuses = {check.status for check in checks}
    if len(statuses) > 1:
        statuses &= {"pass", "fail"}
    return _MARKS[statuses.pop()] if len(statuses) == 1 else _SOMETIMES if statuses else _MARKS["error"]


def _mean(scores: Sequence[float]) -> str:
    return f"{sum(scores) / len(scores):.1f}" if scores else "-"


def _sum(values: Sequence[float | None], shown: Callable[[float], str]) -> str:
    """A total; "≥" where not every part of it is known."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return ("≥" if len(known) < len(values) else "") + shown(sum(known))


def _short(count: float) -> str:
    """A count of tokens, in three digits or so."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.9995:
            return f"{count / size:.3g}{unit}" if count < size * 999.5 else f"{count / size:.0f}{unit}"
    return f"{count:.0f}"


def _widths(lines: Sequence[_Line], width: int) -> list[int]:
    """The columns' widths: of all but the unit's name and the marks what they need, of these two what is left."""
    widths = [max([_cell_width(cell, column) for cell in cells])
              for column, cells in enumerate(zip(*(line.cells for line in lines), strict=True))]
    gaps = _GAP * (sum(map(bool, widths)) - 1)
    room = width - sum(widths) - gaps + widths[_CASE] + widths[_CHECKS]
    widths[_CHECKS] = min(widths[_CHECKS], max(room - widths[_CASE], _FEWEST_MARKS))
    widths[_CASE] = max(1, min(widths[_CASE], room - widths[_CHECKS]))
    return widths


def _cell_width(cell: str, column: int) -> int:
    """Only names hold characters of other widths than one, and only results have lines."""
    if column == _RESULT and "\n" in cell:
        return max(map(len, cell.split("\n")))
    return text_width(cell) if column == _CASE else len(cell)


def _add_cells(page: _Page, line: _Line, widths: Sequence[int]) -> None:
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
        whole = "".join([
            _painted(page, line, column, part) + blanks + " " * _GAP if column in _LEFT else
            blanks + _painted(page, line, column, part) + " " * _GAP
            for (column, width), part in zip(columns, parts, strict=True)
            for blanks in (" " * (width - _cell_width(part, column)),)])
        page.lines.append(whole.rstrip())


def _painted(page: _Page, line: _Line, column: int, part: str) -> str:
    if line.heading:
        return page.paint(part, "bold")
    if column == _RESULT:
        return page.paint(part, line.style)
    if column == _CHECKS:
        return "".join([page.paint("".join(marks), _MARK_STYLES[mark]) for mark, marks in groupby(part)])
    return part


# ---- what the checks came to ----
def _add_counts(page: _Page, trials: Sequence[Row]) -> None:
    """How often each check passed in a unit's trials, where something is not as it should be."""
    checks = _by_check(trials)
    if not any(row.amiss for row in trials) or not checks:
        return
    page.lines.append("")
    page.add(f"{trials[0].unit} ({trials[0].subject}): {_passed(trials, ' trials passed')}")
    wide = min(_LONGEST_ID, max(map(len, checks)))
    counts = {name: f"{sum(check.status == 'pass' for check in of)}/"
                    f"{sum(check.status in ('pass', 'fail') for check in of)}" for name, of in checks.items()}
    room = max(map(len, counts.values()))
    for name, of in checks.items():
        apart = [f"{count} {word}" for status, word in (("error", "in error"), ("skipped", "skipped"))
                 if (count := sum(check.status == status for check in of))]
        if scores := [check.score for check in of if check.score is not None]:
            apart.append(f"mean score {_mean(scores)}")
        odd = next((check for check in of if check.status != "pass"), of[0])
        said = odd.said if odd.why or odd.status == "pass" else ""  # else it is what came of one trial
        head = f" {counts[name]:>{room}}  " + (f"{name:<{wide}}  " if said else name)
        _add_marked(page, _mark(of), head, said,
                    f"  ({', '.join(apart)})" if apart else "", advisory=of[0].advisory)


def _add_checks(page: _Page, row: Row, *, several: bool, results: str) -> None:
    name = f"{row.unit} ({row.subject}, trial {row.trial})" if several else row.unit
    if not row.ended:
        page.add(f"{name}: {'not run' if row.status == 'not run' else 'no result'}: {row.reason}")
        return
    if several:
        page.add(f"{name}: {row.reason}")
    if row.note and not row.self_check:
        page.add(f"  {row.note}")
    if row.ended != "completed":
        page.add(f"  the agent's run: {row.ended}: {row.detail}")
    checks = [check for check in row.checks if check.amiss or not several]
    wide = min(_LONGEST_ID, max((len(check.id) for check in checks), default=0))
    for check in checks:
        _add_check(page, check, wide)
    for note in row.notes:
        page.add(f"  note: {note}")
    if any(check.amiss for check in checks):
        page.lines.append(f"  all evidence: {results}/{row.place}/result.json")  # not folded: a path is to be copied


def _add_check(page: _Page, check: CheckRow, wide: int) -> None:
    """A line with the check's description, or what it came to; of one that is not just passed also why."""
    _add_marked(page, _MARKS[check.status], f" {check.id:<{wide}}  ", check.said, advisory=check.advisory)
    if check.why:
        page.add(f"      {check.why}")
    for line in check.evidence:
        page.add(f"      | {line}", "dim")
    if check.more:
        page.add(f"      | … {check.more} more lines", "dim")


def _add_marked(page: _Page, mark: str, head: str, said: str, tail: str = "", *, advisory: bool) -> None:
    """A mark and a text that is cut where the line ends; what follows it is not."""
    dim = "  (advisory)" if advisory else ""
    room = page.width - 2 - len(mark) - len(head) - len(tail) - len(dim)
    if text_width(said) > room:
        said = chop(said, max(1, room - 1))[0].rstrip() + "…"
    page.lines.append(f"  {page.paint(mark, _MARK_STYLES[mark])}{head}{said}{tail}{page.paint(dim, 'dim')}".rstrip())


def _self_check(rows: Iterable[Row]) -> str:
    """What is said of known right answers: that no model was called, or the judge alone (which says more)."""
    return max((row.note for row in rows if row.self_check), key=len)


def _duration(seconds: float) -> str:
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def _shown(folder: str) -> str:
    """A folder as a person here would name it."""
    here = os.getcwd() + os.sep  # noqa: PTH109 - as a text
    return folder.removeprefix(here)
