"""authoring-metrics.json, and what `evalkit metrics` prints with --json: one class a table, with schemas in
docs/schemas.

Shares and rates are from 0 to 1, costs US dollars. None: nobody knows, or there is nothing to say it of.
"""

from __future__ import annotations

from attrs import field, frozen

from evalkit.report.data import DifferenceData, IntervalData
from evalkit.report.metrics_work import Work

__all__ = ["FiguresData", "GroupMetrics", "MetricsData", "PairMetrics", "RunMetrics", "TrackMetrics", "TrialMetrics",
           "UnitMetrics"]


@frozen
class TrialMetrics:
    """A trial. place: its folder below the run's. tokens: of all kinds together, as the summary has them, else by the
    transcript. cost: as the summary has it.
    """

    place: str
    case: str
    unit: str
    status: str
    tokens: int | None
    cost: float | None
    work: Work

    @property
    def violations(self) -> int:
        return sum(self.work.violations.values())


@frozen
class FiguresData:
    """The trials of a unit, or of a track: then means are over cases, of each the mean of its trials.

    success: trials that passed. first_pass: those whose first compliance run after a source was changed passed, of
    those that had one. retries_to_green, turns_to_green, tail: of those that had a compliance run that passed.
    teaching: failing runs that said a teaching diagnostic. turns, tokens, cost: a trial's.

    trials: how many; never_green: of these, with compliance runs of which none passed; unchecked: with none.
    lines: written to sources, of all trials. violations: by label, in all trials; per_1000: of 1,000 such lines.
    shares: of these lines, by name. unexplained, before_edit, by_output, dropped, gaps: sums of what each trial has.
    """

    trials: int
    success: IntervalData | None
    first_pass: IntervalData | None
    retries_to_green: IntervalData | None
    teaching: IntervalData | None
    turns_to_green: IntervalData | None
    tail: IntervalData | None
    turns: IntervalData | None
    tokens: IntervalData | None
    cost: IntervalData | None
    never_green: int
    unchecked: int
    lines: int
    violations: dict[str, int]
    per_1000: dict[str, float]
    all_per_1000: float | None
    shares: dict[str, float]
    unexplained: int
    before_edit: int
    by_output: int
    dropped: dict[str, int]
    gaps: int


@frozen
class UnitMetrics:
    """The trials of a unit."""

    unit: str
    case: str
    figures: FiguresData
    trials: tuple[TrialMetrics, ...]


@frozen
class TrackMetrics:
    """The units of one metric group of the suite."""

    track: str
    cases: int
    figures: FiguresData
    units: tuple[UnitMetrics, ...]


@frozen
class PairMetrics:
    """Two tracks, paired by case: the cases that are on both. measures: b less a, over cases."""

    a: str
    b: str
    cases: tuple[str, ...]
    measures: tuple[DifferenceData, ...]


@frozen
class GroupMetrics:
    """A subject in a lane, on an arm ("" where there are none)."""

    suite: str
    subject: str
    lane: str
    arm: str
    tracks: tuple[TrackMetrics, ...]
    pairs: tuple[PairMetrics, ...]


@frozen
class RunMetrics:
    """authoring-metrics.json. left_out: trials of which nothing is told, each with why."""

    run: str
    confidence: float
    groups: tuple[GroupMetrics, ...]
    left_out: dict[str, str] = field(factory=dict)


@frozen
class MetricsData:
    """evalkit metrics --json."""

    runs: tuple[RunMetrics, ...]
