"""The summary of a run: every trial that has a result under results/<run>/, in one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from evalkit.digest import digest_file
from evalkit.grade.verdict import Status
from evalkit.plan.keys import Inputs
from evalkit.records import read_record, write_record
from evalkit.report.result import TrialResult, TrialStatus

__all__ = ["RunSummary", "TrialSummary", "report_inputs", "write_report"]


@frozen
class TrialSummary:
    """A trial in a line. place: its folder under results/<run>/. judge: the scores of its judges, 0 to 10."""

    place: str
    case: str
    unit: str
    suite: str
    agent: str
    model: str | None
    trial: int
    lane: str
    self_check: bool
    note: str
    dry: bool
    status: TrialStatus
    reason: str
    checks: dict[str, Status]
    judge: tuple[float, ...]
    turns: int | None
    cost: float | None
    seconds: float


@frozen
class RunSummary:
    """summary.json. counts: trials by status."""

    run: str
    counts: dict[TrialStatus, int]
    trials: tuple[TrialSummary, ...]


def _results(folder: Path) -> list[Path]:
    return sorted(folder.glob("**/trial-*/result.json"))


def report_inputs(folder: Path) -> Inputs:
    """The results that a summary is made from."""
    return {path.parent.relative_to(folder).as_posix(): digest_file(path) for path in _results(folder)}


def write_report(folder: Path, run: str) -> dict[str, Any]:
    """Write summary.json: a line a trial, and the counts. Raises `BadRecord` for a damaged result."""
    trials = tuple(_trials(folder))
    statuses: tuple[TrialStatus, ...] = ("pass", "fail", "error")
    counts = {status: sum(trial.status == status for trial in trials) for status in statuses}
    write_record(folder / "summary.json", RunSummary(run, counts, trials))
    return {"trials": len(trials)}


def _trials(folder: Path) -> Iterator[TrialSummary]:
    for path in _results(folder):
        result = read_record(path, TrialResult)
        usage = result.ending.usage
        yield TrialSummary(
            place=path.parent.relative_to(folder).as_posix(), case=result.case, unit=result.unit, suite=result.suite,
            agent=result.agent, model=result.model, trial=result.trial, lane=result.lane,
            self_check=result.self_check, note=result.note, dry=result.dry, status=result.status,
            reason=result.reason, checks={check.id: check.verdict.status for check in result.checks},
            judge=tuple(result.scores), turns=usage.turns, cost=usage.cost, seconds=result.seconds,
        )
