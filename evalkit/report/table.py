"""The table on the screen: one line a trial, then what failed, with the first lines of its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

from attrs import frozen
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalkit.report.result import SELF_CHECK, CheckResult, TrialResult

__all__ = ["Row", "print_table"]

_MARKS = {"pass": ("✓", "green"), "fail": ("✗", "red"), "skipped": ("s", "dim"), "error": ("!", "yellow")}
_STYLES = {"pass": "green", "fail": "red", "error": "yellow", "not run": "yellow"}
_EVIDENCE_LINES = 6


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
    console = Console(file=stream, width=width or (None if stream.isatty() else 80), highlight=False, soft_wrap=False)
    results = [row.result for row in rows if row.result is not None]
    if results and all(result.self_check for result in results):
        console.print(Text(SELF_CHECK, style="bold"))
    elif any(result.self_check for result in results):
        console.print(Text(f"rows of the agent `oracle`: {SELF_CHECK}", style="bold"))
    if any(result.dry for result in results):
        console.print(Text("dry run: no model was called; fails are expected", style="bold"))
    console.print(_table(rows))
    for row in rows:
        _details(console, row, several=len(rows) > 1)
    console.print(_last_line(rows))


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    trials = any(row.trial > 1 for row in rows)
    table.add_column("case", overflow="fold")
    table.add_column("agent", overflow="fold")
    if trials:
        table.add_column("#", justify="right")
    table.add_column("lane")
    table.add_column("result")
    table.add_column("checks", overflow="fold")
    table.add_column("judge", justify="right")
    table.add_column("turns", justify="right")
    table.add_column("cost", justify="right")
    table.add_column("time", justify="right")
    for row in rows:
        cells: list[str | Text] = [row.case, row.subject]
        if trials:
            cells.append(str(row.trial))
        table.add_row(*cells, row.lane, *_outcome(row.result))
    return table


def _outcome(result: TrialResult | None) -> list[Text | str]:
    if result is None:
        return [Text("error", style="yellow"), "", "", "", "", ""]
    marks = Text()
    for check in result.checks:
        mark, style = _MARKS[check.verdict.status]
        marks.append(mark, style=style)
    usage = result.ending.usage
    scores = result.scores
    return [
        Text(result.status, style=_STYLES[result.status]),
        marks,
        f"{sum(scores) / len(scores):.1f}" if scores else "-",
        "-" if usage.turns is None else str(usage.turns),
        "-" if usage.cost is None else f"${usage.cost:.2f}",
        _duration(result.seconds + sum(check.seconds for check in result.checks)),
    ]


def _details(console: Console, row: Row, *, several: bool) -> None:
    if row.result is None:
        console.print(f"\n{row.case}: no result: {row.failure}", markup=False)
        return
    result = row.result
    console.print()
    if several:
        console.print(f"{row.case} ({row.subject}, trial {row.trial})", markup=False)
    if result.ending.status != "completed":
        console.print(f"  the agent's run: {result.ending.status}: {result.ending.detail}", markup=False)
    wide = max((len(check.id) for check in result.checks), default=0)
    for check in result.checks:
        mark, style = _MARKS[check.verdict.status]
        line = Text("  ")
        line.append(mark, style=style)
        line.append(f" {check.id:<{wide}}  {check.verdict.summary}")
        if check.advisory:
            line.append("  (advisory)", style="dim")
        console.print(line)
        _evidence(console, check)
    for note in (*result.left_out, *result.ending.notes)[:_EVIDENCE_LINES]:
        console.print(f"  note: {note}", markup=False)
    if any(check.verdict.status in ("fail", "error") for check in result.checks):
        console.print(f"  all evidence: {_shown(row.place)}/result.json", markup=False)


def _evidence(console: Console, check: CheckResult) -> None:
    if check.verdict.status not in ("fail", "error"):
        return
    if check.description:
        console.print(Text(f"      wanted: {check.description}", style="dim"))
    lines = [line for line in check.verdict.evidence.splitlines() if line.strip()]
    for line in lines[:_EVIDENCE_LINES]:
        console.print(Text(f"      | {_plain(line)[:200]}", style="dim"), overflow="fold")
    if len(lines) > _EVIDENCE_LINES:
        console.print(Text(f"      | … {len(lines) - _EVIDENCE_LINES} more lines", style="dim"))


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
        said += f" ({SELF_CHECK})"
    style = "green" if counts["pass"] == len(rows) else "red" if counts["fail"] else "yellow"
    return Text(f"\n{said}", style=style)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def _shown(path: Path) -> str:
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def _plain(line: str) -> str:
    """A line that an agent's program printed, without control characters: it must not drive the reader's terminal."""
    return "".join(char if char.isprintable() else " " for char in line.expandtabs(2))
