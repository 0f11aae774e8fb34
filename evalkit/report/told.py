"""What the reports of a run have of each trial, put into words where its result is read: once, and kept.

A result's checks with the first lines of their evidence are in no summary. So the parts of junit.xml, results.csv and
summary.md that tell of a trial are made beside its line of summary.json, and a report is these parts, put together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.report.csv_file import csv_row
from evalkit.report.junit import testcase
from evalkit.report.markdown_parts import trial_block
from evalkit.report.row import CheckRow, check_row, one_line
from evalkit.report.summary import TrialSummary
from evalkit.values import Value

__all__ = ["Told", "checks_of", "told_of"]


class Told(Value):
    """The parts of a trial. test: of junit.xml. row: of results.csv. block: of summary.md, "" of one that passed."""

    test: str
    row: str
    block: str


def told_of(line: TrialSummary, result: Mapping[str, Any] | None = None) -> Told:
    """The parts of a trial. result: the data of its result.json; None where it has none.

    Raises KeyError or TypeError where the data is no result.
    """
    checks: Sequence[CheckRow] = checks_of(result) if result is not None else ()
    ending = result["ending"] if result is not None else {}
    detail = one_line(str(ending.get("detail") or "")) if line.ended not in ("", "completed") else ""
    return Told(testcase(line, checks, detail), csv_row(line), trial_block(line, checks, detail))


def checks_of(result: Mapping[str, Any]) -> list[CheckRow]:
    """The checks of a result, from the data of its result.json. Raises KeyError or TypeError where that is none."""
    return [check_row(check["id"], check["verdict"]["status"], check["description"], check["verdict"]["summary"],
                      check["verdict"].get("evidence") or "", bool(check["advisory"]), check["verdict"].get("score"))
            for check in result["checks"]]
