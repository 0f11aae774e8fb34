"""What `evalkit report`, `compare` and `history` print with --json: one class a table, with schemas in docs/schemas.

Shares are from 0 to 1, scores of judges from 0 to 10, costs US dollars, times seconds. None: nobody knows, or there is
too little to say it.
"""

from __future__ import annotations

import sys
from typing import Literal

import orjson
from attrs import frozen

from evalkit.records import SCHEMA
from evalkit.report.stats import Interval
from evalkit.structure import unstructure

__all__ = ["CheckDifferenceData", "CheckEvidence", "CompareData", "ComparisonData", "DifferenceData", "FlipData",
           "GroupData", "HistoryData", "HistoryEntry", "IntervalData", "PowerData", "ReportData", "ScoreData",
           "SideData", "TrialData", "UnitData", "interval_data", "print_data"]


@frozen
class IntervalData:
    """A number of `count` values. low, high, method: of its 95 % interval; None where none is drawn."""

    value: float
    low: float | None
    high: float | None
    count: int
    method: str | None


def interval_data(found: Interval) -> IntervalData:
    if not found.drawn:
        return IntervalData(round(found.value, 6), None, None, found.count, None)
    return IntervalData(round(found.value, 6), round(found.low, 6), round(found.high, 6), found.count, found.method)


# ---- evalkit report ----
@frozen
class UnitData:
    """A unit's trials that passed or failed. pass_at_k, pass_hat_k: None where there are fewer than k."""

    unit: str
    passed: int
    trials: int
    pass_rate: IntervalData
    pass_at_k: float | None
    pass_hat_k: float | None


@frozen
class ScoreData:
    """A judge's mean score, or that of a measure. over: what the values are of."""

    found: IntervalData
    over: Literal["case", "trial"]


@frozen
class GroupData:
    """A subject in a lane, on an arm ("" where there are none). Rates are means over cases."""

    subject: str
    lane: str
    arm: str
    pass_rate: IntervalData
    k: int | None
    pass_at_k: IntervalData | None
    pass_hat_k: IntervalData | None
    scores: dict[str, ScoreData]
    units: tuple[UnitData, ...]


@frozen
class ReportData:
    """evalkit report --json."""

    run: str
    confidence: float
    groups: tuple[GroupData, ...]


# ---- evalkit compare ----
@frozen
class SideData:
    """A side. arm: None where it was not chosen. trials: by status."""

    run: str
    subject: str
    arm: str | None
    trials: dict[str, int]


@frozen
class DifferenceData:
    """A number on both sides, over the cases that have it on both. difference: b less a. p: of `test`."""

    name: str
    cases: int
    a: float
    b: float
    difference: IntervalData
    p: float | None
    test: str | None


@frozen
class CheckDifferenceData:
    """A check. p_holm: its p, corrected for all checks that were tested."""

    check: DifferenceData
    p_holm: float | None


@frozen
class CheckEvidence:
    """A check of a trial, with the first lines of its evidence."""

    id: str
    status: str
    said: str
    evidence: tuple[str, ...]


@frozen
class TrialData:
    """A trial that shows a flip. place: its folder under results/."""

    place: str
    status: str
    reason: str
    checks: tuple[CheckEvidence, ...]


@frozen
class FlipData:
    """A case whose pass rates differ. a, b: how many trials passed, and of how many."""

    case: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    better: bool
    trial_a: TrialData
    trial_b: TrialData


@frozen
class PowerData:
    """What it takes to see a difference of `detect` with 80 % at 5 % two-sided. trials: of each case on a side, on
    average. trials_needed: with these cases, None where no number does. cases_needed: with these trials.
    """

    detect: float
    cases: int
    trials: float
    trials_needed: int | None
    cases_needed: int | None
    enough: bool


@frozen
class ComparisonData:
    """A subject of each side. not_compared: cases, each with why."""

    a: SideData
    b: SideData
    pass_rate: DifferenceData | None
    measures: tuple[DifferenceData, ...]
    checks: tuple[CheckDifferenceData, ...]
    flips: tuple[FlipData, ...]
    not_compared: dict[str, str]
    power: PowerData | None
    verdict: str


@frozen
class CompareData:
    """evalkit compare --json. a, b: as they were named. notes: which subjects are not compared."""

    a: str
    b: str
    notes: tuple[str, ...]
    comparisons: tuple[ComparisonData, ...]


# ---- evalkit history ----
@frozen
class HistoryEntry:
    """A unit's trials with a subject in a run. beside: those that neither passed nor failed, by status. failed_checks:
    how often each failed. finished_at: of the last one, ISO 8601. turns, cost, seconds: sums.
    """

    run: str
    unit: str
    subject: str
    lane: str
    arm: str
    finished_at: str | None
    trials: int
    pass_rate: IntervalData | None
    beside: dict[str, int]
    failed_checks: dict[str, int]
    judge: float | None
    turns: float | None
    cost: float | None
    seconds: float | None
    agent_versions: tuple[str, ...]


@frozen
class HistoryData:
    """evalkit history --json."""

    case: str
    entries: tuple[HistoryEntry, ...]


def print_data(data: object) -> None:
    """Print one of these, or of metrics_data.py, as JSON with the schema's number."""
    text = orjson.dumps({"schema": SCHEMA, **unstructure(data)}, option=orjson.OPT_INDENT_2)
    sys.stdout.write(text.decode() + "\n")
