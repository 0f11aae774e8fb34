"""What agents and judges are expected to cost, and how long agents take: from the results that there are.

Every run's summary.json has a line a trial. An expectation is the mean of the lines that are most alike:

* an agent's cost and time: of the same unit and subject; else of the same subject on other units of the suite; else of
  the same model, whoever used it; else nobody knows;
* a judge's answer: of the same unit, else of the suite, else of all that was judged. A line has the cost of all answers
  of its judges together: each is taken for an equal part.

Failed attempts are not expected. How many trials at once there can be gives a bound of the time for all: no pool is
done sooner than its sum over its places, nor than its longest trial; nothing is said of the time of builds and checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson
from attrs import field, frozen

from evalkit.analysis.model import Case
from evalkit.plan.trials import Subject, Trial

__all__ = ["Earlier", "Figure", "Line", "Sum", "bound", "total"]

_Group: TypeAlias = tuple[str, ...]


class Line(NamedTuple):
    """An earlier trial. place: its folder under results/. judges: how many answers they gave. Costs are US dollars."""

    place: str
    unit: str
    suite: str
    agent: str
    model: str | None
    cost: float | None
    seconds: float | None
    judges: int = 0
    judge_cost: float | None = None


@frozen
class Figure:
    """A mean. runs: the earlier results that it rests on, at least one."""

    mean: float
    runs: frozenset[str]


@frozen
class Sum:
    """What several things are expected to come to. known, unknown: for how many of them there is a figure, or none.

    amount: of those with a figure. runs: how many earlier results it rests on.
    """

    amount: float
    known: int
    unknown: int
    runs: int


@frozen
class Earlier:
    """Earlier trials."""

    lines: Sequence[Line] = field(repr=False)

    @classmethod
    def of(cls, results: Path) -> Earlier:
        """Of all runs of a project. A summary that cannot be read is left out."""
        lines: list[Line] = []
        for path in sorted(results.glob("*/summary.json")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                found = orjson.loads(path.read_bytes())["trials"]
                lines += [_line(path.parent.name, data) for data in found
                          if data["ended"] and not (data["dry"] or data.get("played"))]
        return cls(lines)

    def cost(self, trial: Trial) -> Figure | None:
        """What the agent's run of a trial is expected to cost."""
        return self._agent(self._costs, trial)

    def seconds(self, trial: Trial) -> Figure | None:
        """How long the agent's run of a trial is expected to take."""
        return self._agent(self._seconds, trial)

    def judge_cost(self, case: Case) -> Figure | None:
        """What one answer of a judge, by one model, on a unit is expected to cost."""
        return _first(self._judged, ("unit", case.unit), ("suite", case.suite.name), ())

    @staticmethod
    def _agent(figures: Mapping[_Group, Figure], trial: Trial) -> Figure | None:
        subject, case = trial.subject, trial.case
        wanted = [("unit", case.unit, *_names(subject)), ("suite", case.suite.name, *_names(subject))]
        return _first(figures, *wanted, *([("model", subject.model)] if subject.model else []))

    @cached_property
    def _costs(self) -> dict[_Group, Figure]:
        return _figures(self.lines, _of_agent, lambda line: line.cost)

    @cached_property
    def _seconds(self) -> dict[_Group, Figure]:
        return _figures(self.lines, _of_agent, lambda line: line.seconds)

    @cached_property
    def _judged(self) -> dict[_Group, Figure]:
        return _figures(self.lines, lambda line: (("unit", line.unit), ("suite", line.suite), ()),
                        lambda line: line.judge_cost / line.judges if line.judges and line.judge_cost else None)


def total(figures: Iterable[Figure | None]) -> Sum:
    """What all of these come to together."""
    every = list(figures)
    known = [figure for figure in every if figure is not None]
    return Sum(sum(figure.mean for figure in known), len(known), len(every) - len(known),
               len(frozenset[str]().union(*(figure.runs for figure in known))))


def bound(seconds: Iterable[tuple[str, Figure | None]], places: Mapping[str, int]) -> float:
    """Before when trials are not done, in seconds. seconds: of each the pool where it works, and its figure.

    places: how many work at once in each pool. Trials without a figure take no time here.
    """
    pools: dict[str, list[float]] = {}
    for pool, figure in seconds:
        if figure is not None:
            pools.setdefault(pool, []).append(figure.mean)
    return max((max(sum(times) / places[pool], *times) for pool, times in pools.items()), default=0.0)


def _names(subject: Subject) -> tuple[str, str]:
    return subject.agent, subject.model or ""


def _of_agent(line: Line) -> Sequence[_Group]:
    subject = (line.agent, line.model or "")
    groups: list[_Group] = [("unit", line.unit, *subject), ("suite", line.suite, *subject)]
    return [*groups, ("model", line.model)] if line.model else groups


def _figures(lines: Iterable[Line], groups: Callable[[Line], Sequence[_Group]],
             value: Callable[[Line], float | None]) -> dict[_Group, Figure]:
    """The means of all groups of lines that have a value."""
    found: dict[_Group, list[tuple[float, str]]] = {}
    for line in lines:
        number = value(line)
        if number is not None:
            for group in groups(line):
                found.setdefault(group, []).append((number, line.place))
    return {group: Figure(sum(number for number, _ in members) / len(members), frozenset(place for _, place in members))
            for group, members in found.items()}


def _first(figures: Mapping[_Group, Figure], *wanted: _Group) -> Figure | None:
    return next((figures[group] for group in wanted if group in figures), None)


def _line(run: str, data: Mapping[str, Any]) -> Line:
    """A line of a summary. Raises KeyError or TypeError where it is none."""
    return Line(f"{run}/{data['place']}", data["unit"], data["suite"], data["agent"], data["model"],
                _number(data["cost"]), _number(data["seconds"]), data.get("judge_calls") or len(data["scores"]),
                _number(data["judge_cost"]))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
