"""A run that is over, read again from what it left: the lines of its summary, and the rows of its table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson

from evalkit.errors import HarnessError, UserError
from evalkit.records import read_plain, read_record
from evalkit.report.result import TrialResult
from evalkit.report.row import CheckRow, Row, row_of
from evalkit.report.summary import TrialSummary
from evalkit.report.told import checks_of
from evalkit.report.update import SUMMARY
from evalkit.values import fields_of

__all__ = ["checks_at", "lines_of_run", "rows_of_run", "runs"]

_TEXTS = ("place", "case", "unit", "suite", "agent", "lane", "status")


def runs(results: Path) -> list[str]:
    """The names of the runs that have a summary."""
    return sorted(path.parent.name for path in results.glob(f"*/{SUMMARY}"))


def lines_of_run(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's summary; what an earlier evalkit did not write yet has its default.

    Raises UserError where there is no such run, or its summary cannot be read.
    """
    later, needed = _later(), _needed()
    try:
        found = [{**later, **line} for line in orjson.loads((folder / SUMMARY).read_bytes())["trials"]]
        for number, line in enumerate(found, 1):
            wrong = [name for name in needed if name not in line] or [
                name for name in _TEXTS if not isinstance(line[name], str)]
            if wrong:
                raise ValueError(f"its trial {number} has no {wrong[0]}")
    except (FileNotFoundError, NotADirectoryError):
        known = runs(folder.parent)
        raise UserError(f"there is no run `{folder.name}` under results/",
                        hint=f"there are: {', '.join(known)}" if known else "doit run … makes one") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / SUMMARY} cannot be read: {error}", hint=f"doit run report:{folder.name}") from None
    return found


def _needed() -> list[str]:
    """What every line has, whichever evalkit wrote it."""
    return [item.name for item in fields_of(TrialSummary) if item.required]


def _later() -> dict[str, Any]:
    """What a line can do without, as the schema has it."""
    return {item.name: item.factory() if item.factory else item.default
            for item in fields_of(TrialSummary) if not item.required}


def rows_of_run(folder: Path, lines: Iterable[dict[str, Any]]) -> list[Row]:
    """The rows of a run's trials. Raises HarnessError where a result cannot be read."""
    rows = []
    for line in lines:
        place = f"{folder.name}/{line['place']}"
        if line["ended"]:
            rows.append(row_of(read_record(folder / line["place"] / "result.json", TrialResult), place))
        else:
            rows.append(Row(
                unit=line["unit"], case=line["case"], suite=line["suite"], agent=line["agent"], model=line["model"],
                trial=line["trial"], lane=line["lane"], place=place, status=line["status"], reason=line["reason"],
                self_check=line["self_check"], dry=line["dry"], cost=line["failed_cost"], retries=line["retries"],
                played=line["played"], tier=line["tier"]))
    return rows


def checks_at(folder: Path, place: str) -> Sequence[CheckRow]:
    """The checks of a trial with the first lines of their evidence; none where its result cannot be read."""
    try:
        return checks_of(read_plain(folder / place / "result.json"))
    except (OSError, HarnessError, KeyError, TypeError):
        return ()
