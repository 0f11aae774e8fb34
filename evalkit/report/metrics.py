"""Authoring metrics of a run: trials -> units, tracks and pairs of tracks; pure.

A number over cases is the mean of the cases' means, with Student's t interval over cases (cut at 0, of rates at 1 too,
or by Wilson where each case has one trial); that of a single case is over its trials, of rates by Wilson. Violations of
1,000 lines, and shares of lines, are sums divided by sums. Pairs have the difference of each case on both tracks, with
a t interval over cases; a single case has Welch's over its trials. Known answers have no intervals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from attrs import frozen

from evalkit.report import stats
from evalkit.report.data import DifferenceData, IntervalData, interval_data
from evalkit.report.metrics_data import (
    FiguresData,
    GroupMetrics,
    PairMetrics,
    TrackMetrics,
    TrialMetrics,
    UnitMetrics,
)
from evalkit.report.rates import Group, mean_over
from evalkit.report.stats import Interval, mean_of
from evalkit.values import evolve

__all__ = ["Told", "group_metrics"]

Trials: TypeAlias = Sequence[TrialMetrics]


@frozen
class Told:
    """A trial and where it belongs. track: its metric group; known: it is a known answer."""

    suite: str
    group: Group
    track: str
    known: bool
    trial: TrialMetrics


class _Measure(NamedTuple):
    """A number that a trial may have. rate: it is 0 or 1."""

    of: Callable[[TrialMetrics], float | None]
    rate: bool = False


def _first_pass(trial: TrialMetrics) -> float | None:
    return None if trial.work.first_pass is None else float(trial.work.first_pass)


_MEASURES: dict[str, _Measure] = {
    "success": _Measure(lambda trial: float(trial.status == "pass"), rate=True),
    "first_pass": _Measure(_first_pass, rate=True),
    "retries_to_green": _Measure(lambda trial: trial.work.retries_to_green),
    "teaching": _Measure(lambda trial: trial.work.teaching),
    "turns_to_green": _Measure(lambda trial: trial.work.turns_to_green),
    "tail": _Measure(lambda trial: trial.work.tail),
    "turns": _Measure(lambda trial: trial.work.turns),
    "tokens": _Measure(lambda trial: trial.tokens),
    "cost": _Measure(lambda trial: trial.cost),
}


def group_metrics(told: Iterable[Told], order: Sequence[str], *, draw: bool = True) -> tuple[GroupMetrics, ...]:
    """The metrics by suite and subject. order: the metric groups, as the suites declare them. draw: with intervals."""
    found: dict[tuple[str, Group], list[Told]] = {}
    for one in told:
        found.setdefault((one.suite, one.group), []).append(one)
    return tuple([_group(suite, group, members, order, draw=draw and not any(one.known for one in members))
                  for (suite, group), members in found.items()])


def _group(suite: str, group: Group, members: Sequence[Told], order: Sequence[str], *, draw: bool) -> GroupMetrics:
    tracks: dict[str, list[TrialMetrics]] = {}
    for one in members:
        tracks.setdefault(one.track, []).append(one.trial)
    names = sorted(tracks, key=lambda name: order.index(name) if name in order else len(order))
    pairs = [_pair(a, b, tracks[a], tracks[b], draw=draw) for a, b in combinations(names, 2)]
    return GroupMetrics(suite, *group, tuple([_track(name, tracks[name], draw=draw) for name in names]),
                        tuple([pair for pair in pairs if pair is not None]))


def _track(name: str, trials: Trials, *, draw: bool) -> TrackMetrics:
    units: dict[str, list[TrialMetrics]] = {}
    for trial in trials:
        units.setdefault(trial.unit, []).append(trial)
    return TrackMetrics(name, len({trial.case for trial in trials}), _figures(trials, draw=draw), tuple(
        [UnitMetrics(unit, of_unit[0].case, _figures(of_unit, draw=draw), tuple(of_unit))
         for unit, of_unit in units.items()]))


# ---- figures ----
def _figures(trials: Trials, *, draw: bool) -> FiguresData:
    work = [trial.work for trial in trials]
    lines = sum(one.lines for one in work)
    violations = _sum(one.violations for one in work)
    return FiguresData(
        trials=len(trials), **{name: _mean(trials, measure, draw=draw) for name, measure in _MEASURES.items()},
        never_green=sum(one.runs > 0 and one.retries_to_green is None for one in work),
        unchecked=sum(not one.runs for one in work), lines=lines, violations=violations,
        per_1000={label: round(1000 * number / lines, 3) for label, number in violations.items()} if lines else {},
        all_per_1000=_per_1000(trials), shares={name: round(share, 6) for name, share in _shares(trials).items()},
        unexplained=sum(one.unexplained for one in work), before_edit=sum(one.before_edit for one in work),
        by_output=sum(one.by_output for one in work), dropped=_sum(one.dropped for one in work),
        gaps=sum(one.gaps for one in work))


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Together, the most frequent first."""
    found: Counter[str] = Counter()
    for one in counts:
        found.update(one)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _per_1000(trials: Trials) -> float | None:
    lines = sum(trial.work.lines for trial in trials)
    return round(1000 * sum(trial.violations for trial in trials) / lines, 3) if lines else None


def _shares(trials: Trials) -> dict[str, float]:
    lines = sum(trial.work.lines for trial in trials)
    return {name: count / lines for name, count in _sum(trial.work.shares for trial in trials).items()} if lines else {}


def _values(trials: Trials, measure: _Measure) -> dict[str, list[float]]:
    """By case, of the trials that have one."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        if (value := measure.of(trial)) is not None:
            found.setdefault(trial.case, []).append(float(value))
    return found


def _mean(trials: Trials, measure: _Measure, *, draw: bool) -> IntervalData | None:
    values = _values(trials, measure)
    if not values:
        return None
    each = [*values.values()]
    if measure.rate and draw and (len(each) == 1 or all(len(of_case) == 1 for of_case in each)):
        flat = [value for of_case in each for value in of_case]
        return interval_data(stats.wilson(round(sum(flat)), len(flat)))
    found = mean_over(each[0] if len(each) == 1 else [*map(mean_of, each)], draw=draw)
    return interval_data(_cut(found, 0.0, 1.0 if measure.rate else math.inf))


def _cut(found: Interval, least: float, most: float) -> Interval:
    return evolve(found, low=max(least, found.low), high=min(most, found.high)) if found.drawn else found


# ---- pairs ----
def _pair(a: str, b: str, these: Trials, those: Trials, *, draw: bool) -> PairMetrics | None:
    """The cases that are on both tracks; None where there is none."""
    both = sorted({trial.case for trial in these} & {trial.case for trial in those})
    if not both:
        return None
    found = []
    for name, measure in _MEASURES.items():
        first, second = _values(these, measure), _values(those, measure)
        cases = [case for case in both if case in first and case in second]
        if cases:
            single = stats.welch(second[cases[0]], first[cases[0]]) if len(cases) == 1 and draw else None
            found.append(_difference(name, [mean_of(first[case]) for case in cases],
                                     [mean_of(second[case]) for case in cases], single, rate=measure.rate, draw=draw))
    for name, of in _ratios(these, those).items():
        values = [(one, other) for case in both if (one := of(_of_case(these, case))) is not None
                  and (other := of(_of_case(those, case))) is not None]
        if values:
            found.append(_difference(name, [pair[0] for pair in values], [pair[1] for pair in values], None,
                                     rate=name.startswith("share "), draw=draw))
    return PairMetrics(a, b, tuple(both), tuple(found))


def _of_case(trials: Trials, case: str) -> list[TrialMetrics]:
    return [trial for trial in trials if trial.case == case]


def _ratios(these: Trials, those: Trials) -> dict[str, Callable[[Trials], float | None]]:
    """What is a sum divided by a sum: of a case's trials one number."""
    shares = [name for name in _shares(these) if name in _shares(those)]
    return {"violations_per_1000": _per_1000, **{f"share {name}": _share(name) for name in shares}}


def _share(name: str) -> Callable[[Trials], float | None]:
    return lambda trials: _shares(trials).get(name)


def _difference(name: str, a: Sequence[float], b: Sequence[float], single: Interval | None, *,
                rate: bool, draw: bool) -> DifferenceData:
    apart = single or mean_over([second - first for first, second in zip(a, b, strict=True)], draw=draw)
    return DifferenceData(name, len(a), round(mean_of(a), 6), round(mean_of(b), 6),
                          interval_data(_cut(apart, -1.0, 1.0) if rate else apart), None, None)
