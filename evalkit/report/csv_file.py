"""results.csv: a line for every trial, for spreadsheets and data frames.

Numbers that nobody knows are empty. A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula; of
a text that does, which may be an agent's, the cell begins with an apostrophe instead.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from evalkit.report.summary import TrialSummary

__all__ = ["COLUMNS", "CSV", "csv_row", "csv_text"]

CSV = "results.csv"
COLUMNS = ("suite", "case", "unit", "track", "arm", "tier", "agent", "agent_version", "model", "played", "lane",
           "trial", "status", "reason", "ended", "passed", "failed", "skipped", "in_error", "failed_checks",
           "judge", "turns", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost",
           "failed_cost", "judge_cost", "seconds", "retries", "self_check", "dry", "finished_at", "place")
"""passed, failed, skipped, in_error: checks. judge: the mean score, 0 to 10. Costs are US dollars."""
_STATUSES = ("pass", "fail", "skipped", "error")


def csv_row(line: TrialSummary) -> str:
    """A trial's line, with its line end."""
    track, arm = unit_parts(line.unit)
    counts = [sum(status == wanted for status in line.checks.values()) for wanted in _STATUSES]
    failed = " ".join(name for name, status in line.checks.items() if status == "fail")
    tokens = [line.tokens.get(kind) for kind in ("input", "output", "cache_read", "cache_write")]
    judge = round(sum(line.judge) / len(line.judge), 4) if line.judge else None
    return _row([line.suite, line.case, line.unit, track, arm, line.tier, line.agent, line.agent_version, line.model,
                 line.played, line.lane, line.trial, line.status, line.reason, line.ended, *counts, failed, judge,
                 line.turns, *tokens, line.cost, line.failed_cost, line.judge_cost, line.seconds, line.retries,
                 int(line.self_check), int(line.dry), line.finished_at, line.place])


def csv_text(rows: Iterable[str]) -> str:
    """The file, from its lines."""
    return _row(COLUMNS) + "".join(rows)


def unit_parts(unit: str) -> tuple[str, str]:
    """The track and the arm of a unit `case@track+arm`; "" where it has none."""
    name, _, arm = unit.partition("+")
    return name.partition("@")[2], arm


def _row(cells: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([_cell(cell) for cell in cells])
    return text.getvalue()


def _cell(cell: Any) -> Any:
    """A text on one line, and no formula."""
    if not isinstance(cell, str):
        return cell
    cell = cell.replace("\r", " ").replace("\n", " ")
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t") else cell
