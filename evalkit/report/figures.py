"""The figures of a run by who was measured: pass rates, k of n trials, scores, each with its interval; pure.

Only trials that passed or failed count, and known answers and dry runs are left out (rates.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from attrs import frozen

from evalkit.report import rates, stats
from evalkit.report.data import GroupData, ScoreData, UnitData, interval_data
from evalkit.report.rates import Group, Line
from evalkit.report.stats import Interval
from evalkit.values import evolve

__all__ = ["GroupFigures", "Score", "UnitFigures", "figures", "measures_of"]


@frozen
class UnitFigures:
    """A unit. rate: of its trials that count. at, hat: pass@k and pass^k, None where it has fewer than k trials."""

    unit: str
    passed: int
    count: int
    rate: Interval
    at: float | None
    hat: float | None


class Score(NamedTuple):
    """The mean of a judge's scores (0 to 10) or of a measure (0 to 1). over: what the values are of."""

    found: Interval
    over: Literal["case", "trial"]


@frozen
class GroupFigures:
    """A subject in a lane, on an arm. k: of pass@k and pass^k, 0 where no unit has two trials.

    rate, at, hat: means over cases, each with its interval over cases. scores: by name, means over cases; of what only
    one case has, over its trials.
    """

    group: Group
    units: tuple[UnitFigures, ...]
    rate: Interval
    k: int
    at: Interval | None
    hat: Interval | None
    scores: Mapping[str, Score]

    def to_data(self) -> GroupData:
        """As it is printed for programs."""
        units = [UnitData(unit.unit, unit.passed, unit.count, interval_data(unit.rate), unit.at, unit.hat)
                 for unit in self.units]
        return GroupData(
            *self.group, interval_data(self.rate), self.k or None,
            None if self.at is None else interval_data(self.at), None if self.hat is None else interval_data(self.hat),
            {name: ScoreData(interval_data(score.found), score.over) for name, score in self.scores.items()},
            tuple(units))


def figures(lines: Iterable[Line], k: int | None = None, *, draw: bool = True) -> list[GroupFigures]:
    """The figures of a run's lines. k: of pass@k; None: the fewest trials of a unit that has several.

    draw: with intervals. Raises UserError where these need what is not installed.
    """
    found = []
    for group, members in rates.groups(line for line in lines if not rates.is_known(line)).items():
        rate = rates.pass_rate(members, draw=draw)
        if rate is not None:
            found.append(_group(group, members, rate, k, draw=draw))
    return found


def _group(group: Group, lines: Sequence[Line], rate: Interval, k: int | None, *, draw: bool) -> GroupFigures:
    by_unit: dict[str, list[Line]] = {}
    for line in lines:
        by_unit.setdefault(line["unit"], []).append(line)
    several = [count for members in by_unit.values() if (count := rates.passed_of(members)[1]) > 1]
    chosen = k or min(several, default=0)
    units = [unit for name, members in by_unit.items() if (unit := _unit(name, members, chosen, draw=draw)) is not None]
    return GroupFigures(
        group, tuple(units), rate, chosen, _k_over_cases(lines, chosen, stats.pass_at, draw=draw),
        _k_over_cases(lines, chosen, stats.pass_hat, draw=draw), _scores(lines, draw=draw))


def _unit(name: str, lines: Sequence[Line], k: int, *, draw: bool) -> UnitFigures | None:
    rate = rates.unit_rate(lines, draw=draw)
    if rate is None:
        return None
    passed, count = rates.passed_of(lines)
    enough = 0 < k <= count
    return UnitFigures(name, passed, count, rate, stats.pass_at(k, passed, count) if enough else None,
                       stats.pass_hat(k, passed, count) if enough else None)


def _k_over_cases(lines: Iterable[Line], k: int, estimate: Any, *, draw: bool) -> Interval | None:
    """The mean over the cases that have k trials; several units of a case are told of by their mean."""
    units: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        units.setdefault(line["case"], {}).setdefault(line["unit"], []).append(line)
    values = []
    for of_case in units.values():
        counted = [rates.passed_of(members) for members in of_case.values()]
        found = [estimate(k, passed, count) for passed, count in counted if 0 < k <= count]
        values += [stats.mean_of(found)] if found else []
    if not values:
        return None
    return _within(rates.mean_over(values, draw=draw), 1.0)


def _scores(lines: Sequence[Line], *, draw: bool) -> dict[str, Score]:
    names = dict.fromkeys(name for line in lines if rates.counts(line) for name in measures_of(line))
    found = {}
    for name in names:
        values = rates.case_values(lines, lambda line, name=name: measures_of(line).get(name))
        several = len(values) > 1
        told = [stats.mean_of(of_case) for of_case in values.values()] if several else next(iter(values.values()))
        top = 10.0 if name.startswith("judge ") else 1.0
        found[name] = Score(_within(rates.mean_over(told, draw=draw), top), "case" if several else "trial")
    return found


def measures_of(line: Line) -> dict[str, float]:
    """The numbers of a trial: its judges' scores, and the measures of its checks, of equal names the mean."""
    parts: dict[str, list[float]] = {}
    for measures in (line.get("measures") or {}).values():
        for name, value in measures.items():
            parts.setdefault(name, []).append(float(value))
    return {**{f"judge {name}": float(score) for name, score in line["scores"].items()},
            **{name: stats.mean_of(values) for name, values in parts.items()}}


def _within(found: Interval, top: float) -> Interval:
    """An interval cut at what the values can be."""
    return evolve(found, low=max(0.0, found.low), high=min(top, found.high)) if found.drawn else found
