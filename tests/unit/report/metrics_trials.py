"""Trials of which it is told how their work was done, for the metrics of units, tracks and pairs."""

from __future__ import annotations

from typing import Any

from evalkit.report.metrics import Told
from evalkit.report.metrics_data import TrialMetrics
from evalkit.report.metrics_work import Work
from evalkit.report.rates import Group

__all__ = ["CLAUDE", "told"]

CLAUDE = Group("claude acme/small", "local", "")


def told(track: str, case: str = "feed", number: int = 1, *, status: str = "pass", tokens: int | None = 100,
         cost: float | None = 0.5, group: Group = CLAUDE, known: bool = False, **work: Any) -> Told:
    """A trial. work: fields of Work; else it was green at once, at turn 2 of 3, with 100 lines."""
    given: dict[str, Any] = {"turns": 3, "touched": True, "first_pass": True, "runs": 1, "retries_to_green": 0,
                             "turns_to_green": 2, "tail": 1, "lines": 100, "shares": {"markup": 20}, **work}
    unit = f"{case}@{track}"
    return Told("native", group, track, known, TrialMetrics(
        f"claude/{unit}/trial-{number}", case, unit, status, tokens, cost, Work(**given)))
