"""The table on the screen: a part for each subject, in it one line a trial, then what the checks came to.

Laid out here and not by a table of rich: in 80 columns only the case's name and the marks give way, by going on in the
next line, and no line ends in blanks. What came from an agent (evidence, names of files, the model's slug) is printed
as it stands, never as rich's markup, and without control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import IO

from attrs import frozen
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from evalkit.grade.evidence import plain
from evalkit.report.result import SELF_CHECK_JUDGED, CheckResult, TrialResult

__all__ = ["Row", "print_table"]

_MARKS = {"pass": ("✓", "green"), "fail": ("✗", "red"), "skipped": ("s", "dim"), "error": ("!", "yellow")}
_STYLES = {"pass": "green", "fail": "red", "error": "yellow"}
_HEADINGS = ("case", "#", "result", "checks", "judge", "turns", "cost", "time")
_CASE, _NUMBER, _RESULT, _CHECKS = range(4)
_LEFT = (_CASE, _RESULT, _CHECKS)
"""Columns that are aligned to the left."""
_GAP = 2
_FEWEST_MARKS = 8
"""Marks in a line, where there is not room for all of them beside the name."""
_EVIDENCE_LINES = 6
_LONGEST_LINE = 200
_LONGEST_ID = 24


@frozen
class Row:
    """A trial to show: its result, or why there is none. place: its folder under results/."""

    case: str
    subject: str
    trial: int
    lane: str
    place: Path
    result: TrialResult | None
    failure: str = ""


def print_table(rows: Sequence[Row], stream: IO[str], *, width: int | None = None) -> None:
    """Print a run's table. Colour only on a terminal; at most as wide as the terminal, 80 columns in a pipe."""
    console = _Console(file=stream, width=width or (None if stream.isatty() else 80), highlight=False, markup=False,
                      emoji=False)
    results = [row.result for row in rows if row.result is not None]
    if results and all(result.self_check for result in results):
        console.print(Text(_self_check(results), style="bold"))
    if any(result.dry for result in results):
        console.print(Text("dry run: no model was called; fails are expected", style="bold"))
    _print_parts(console, rows, mixed=len({result.self_check for result in results}) > 1)
    for row in rows:
        if len(rows) == 1 or _worth_telling(row):
            console.print()
            _print_checks(console, row, several=len(rows) > 1)
    console.print()
    console.print(_last_line(rows))


class _Console(Console):
    """rich ends the whole process with status 1 where its output is cut; here the verdicts decide the status."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


# ---- the table ----
def _print_parts(console: Console, rows: Sequence[Row], *, mixed: bool) -> None:
    """A part for each subject and lane; columns are as wide in all of them."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        parts.setdefault((row.subject, row.lane), []).append(row)
    cells = {part: [_cells(row) for row in members] for part, members in parts.items()}
    heading = [Text(heading, style="bold") for heading in _HEADINGS]
    if not any(row.trial > 1 for row in rows):  # an empty column is left out
        for line in (heading, *(line for lines in cells.values() for line in lines)):
            line[_NUMBER] = Text()
    widths = _widths([heading, *(line for lines in cells.values() for line in lines)], console.width)
    for number, ((subject, lane), members) in enumerate(parts.items()):
        if number:
            console.print()
        shown = [row.result for row in members if row.result]
        checked = mixed and any(result.self_check for result in shown)
        _print_line(console, f"{subject}, {lane} lane{f' ({_self_check(shown)})' if checked else ''}", style="bold")
        for line in (heading, *cells[subject, lane]):
            _print_cells(console, line, widths)


def _cells(row: Row) -> list[Text]:
    result = row.result
    if result is None:
        return [Text(cell) for cell in (row.case, str(row.trial), "error", "", "", "", "", "")]
    scores, usage = result.scores, result.ending.usage
    called = result.model is not None and not result.dry  # else there is nothing that turns and cost could be of
    return [
        Text(row.case), Text(str(row.trial)), Text(result.status, style=_STYLES[result.status]),
        Text.assemble(*(_MARKS[check.verdict.status] for check in result.checks)),
        Text(f"{sum(scores) / len(scores):.1f}" if scores else "-"),
        Text(str(usage.turns) if called and usage.turns is not None else "-"),
        Text(f"${usage.cost:.2f}" if called and usage.cost is not None else "-"),
        Text(_duration(result.seconds)),
    ]


def _widths(lines: Iterable[Sequence[Text]], width: int) -> list[int]:
    """The columns' widths: of all but the case's name and the marks what they need, of these two what is left."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)]
    gaps = _GAP * (sum(map(bool, widths)) - 1)
    room = width - sum(widths) - gaps + widths[_CASE] + widths[_CHECKS]
    widths[_CHECKS] = min(widths[_CHECKS], max(room - widths[_CASE], _FEWEST_MARKS))
    widths[_CASE] = max(1, min(widths[_CASE], room - widths[_CHECKS]))
    return widths


def _print_cells(console: Console, cells: Sequence[Text], widths: Sequence[int]) -> None:
    """One row, as many lines as its longest cell takes."""
    shown = [(number, _folded(cell, width), width)
             for number, (cell, width) in enumerate(zip(cells, widths, strict=True)) if width]
    for line in zip_longest(*(parts for _, parts, _ in shown), fillvalue=Text()):
        whole = Text()
        for (number, _, width), part in zip(shown, line, strict=True):
            blanks = " " * (width - part.cell_len)
            whole.append_text(Text.assemble(part, blanks) if number in _LEFT else Text.assemble(blanks, part))
            whole.append(" " * _GAP)
        whole.rstrip()
        console.print(whole, soft_wrap=True)


def _folded(cell: Text, width: int) -> list[Text]:
    offsets, offset = [], 0
    for part in chop_cells(cell.plain, width)[:-1]:
        offset += len(part)
        offsets.append(offset)
    return list(cell.divide(offsets))


# ---- what the checks came to ----
def _worth_telling(row: Row) -> bool:
    """Whether a row of several is gone into: something is not as it should be."""
    result = row.result
    return (result is None or result.status != "pass" or result.ending.status != "completed"
            or any(map(_amiss, result.checks)))


def _amiss(check: CheckResult) -> bool:
    return check.verdict.status in ("fail", "error")


def _print_checks(console: Console, row: Row, *, several: bool) -> None:
    result = row.result
    name = f"{row.case} ({row.subject}, trial {row.trial})" if several else row.case
    if result is None:
        _print_line(console, f"{name}: no result: {row.failure}")
        return
    if several:
        _print_line(console, f"{name}: {result.reason}")
    if result.note and not result.self_check:
        _print_line(console, f"  {result.note}")
    if result.ending.status != "completed":
        _print_line(console, f"  the agent's run: {result.ending.status}: {result.ending.detail}")
    checks = [check for check in result.checks if _amiss(check) or not several]
    wide = min(_LONGEST_ID, max((len(check.id) for check in checks), default=0))
    for check in checks:
        _print_check(console, check, wide)
    for note in (*result.left_out, *result.ending.notes)[:_EVIDENCE_LINES]:
        _print_line(console, f"  note: {note}")
    if any(map(_amiss, checks)):
        # Not folded: a path is to be copied.
        console.print(Text(f"  all evidence: {_shown(row.place)}/result.json"), soft_wrap=True)


def _print_check(console: Console, check: CheckResult, wide: int) -> None:
    """A line with the check's description, or what it came to; of one that is not just passed also why."""
    verdict = check.verdict
    mark, style = _MARKS[verdict.status]
    line = Text.assemble("  ", (mark, style), f" {check.id:<{wide}}  ")
    said = plain(check.description or verdict.summary)
    advisory = "  (advisory)" if check.advisory else ""
    room = console.width - line.cell_len - len(advisory)
    if cell_len(said) > room:
        said = chop_cells(said, max(1, room - 1))[0].rstrip() + "…"
    line.append(said)
    line.append(advisory, style="dim")
    console.print(line, soft_wrap=True)
    if check.description and (verdict.status != "pass" or verdict.score is not None):
        _print_line(console, f"      {verdict.summary}")
    if _amiss(check):
        lines = [line for line in verdict.evidence.splitlines() if line.strip()]
        for evidence in lines[:_EVIDENCE_LINES]:
            _print_line(console, f"      | {evidence}", style="dim")
        if len(lines) > _EVIDENCE_LINES:
            _print_line(console, f"      | … {len(lines) - _EVIDENCE_LINES} more lines", style="dim")


def _print_line(console: Console, line: str, style: str = "") -> None:
    line = plain(line)
    if len(line) > _LONGEST_LINE:
        line = line[: _LONGEST_LINE - 1] + "…"
    for part in Text(line, style=style).wrap(console, console.width, overflow="fold"):
        part.rstrip()
        console.print(part)


def _self_check(results: Sequence[TrialResult]) -> str:
    """What is said of known right answers: that no model was called, or the judge alone."""
    notes = {result.note for result in results if result.self_check}
    return notes.pop() if len(notes) == 1 else SELF_CHECK_JUDGED


def _last_line(rows: Sequence[Row]) -> Text:
    counts = {"pass": 0, "fail": 0, "error": 0}
    for row in rows:
        counts[row.result.status if row.result else "error"] += 1
    words = [f"{counts['pass']} passed"]
    words += [f"{counts['fail']} failed"] if counts["fail"] else []
    words += [f"{counts['error']} in error"] if counts["error"] else []
    checked = [row.result for row in rows if row.result is not None]
    said = ", ".join(words)
    if checked and all(result.self_check for result in checked):
        said += f" ({_self_check(checked)})"
    return Text(said, style="green" if counts["pass"] == len(rows) else "red" if counts["fail"] else "yellow")


def _duration(seconds: float) -> str:
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def _shown(path: Path) -> str:
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
