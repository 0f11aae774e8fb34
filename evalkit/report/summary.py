"""The summary of a run: every trial that has a result under results/<run>/, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalkit.digest import digest_file
from evalkit.plan.keys import Inputs
from evalkit.records import SCHEMA, read_record, write_json
from evalkit.report.result import TrialResult

__all__ = ["report_inputs", "write_report"]


def _results(folder: Path) -> list[Path]:
    return sorted(folder.glob("**/trial-*/result.json"))


def report_inputs(folder: Path) -> Inputs:
    """The results that a summary is made from."""
    return {path.parent.relative_to(folder).as_posix(): digest_file(path) for path in _results(folder)}


def write_report(folder: Path, run: str) -> dict[str, Any]:
    """Write summary.json: a line a trial, and the counts."""
    results = [(path, read_record(path, TrialResult)) for path in _results(folder)]
    trials = [{
        "place": path.parent.relative_to(folder).as_posix(), "case": result.case, "suite": result.suite,
        "agent": result.agent, "model": result.model, "trial": result.trial, "lane": result.lane,
        "self_check": result.self_check, "note": result.note, "dry": result.dry, "status": result.status,
        "reason": result.reason, "checks": {check.id: check.verdict.status for check in result.checks},
        "judge": result.scores, "turns": result.ending.usage.turns, "cost": result.ending.usage.cost,
        "seconds": result.seconds,
    } for path, result in results]
    counts = {status: sum(trial["status"] == status for trial in trials) for status in ("pass", "fail", "error")}
    write_json(folder / "summary.json", {"schema": SCHEMA, "run": run, "counts": counts, "trials": trials})
    return {"trials": len(trials)}
