"""Pass rates and scores of a run's trials, with intervals where something can be said; pure.

Trials are lines of summary.json, as plain data. Only those that passed or failed count. Known answers (the reference
answer, `nop`, wrong answers, replays) and dry runs are no samples of anything: they have rates, and no intervals.

A rate over cases is the mean of the cases' rates: each case counts alike, however many trials, tracks or units it has.
Its interval goes over cases, since the trials of a case are not independent of each other: by Student's t over the
cases' rates, cut at 0 and 1; where each case has a single trial, by Wilson.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from evalkit.report import stats
from evalkit.report.arm_order import arm_order
from evalkit.report.stats import Interval
from evalkit.values import evolve

__all__ = ["Group", "Line", "case_values", "counts", "group_of", "groups", "is_known", "mean_over", "pass_rate",
           "passed_of", "subject_of", "unit_rate"]

Line: TypeAlias = Mapping[str, Any]
"""A line of summary.json."""
_KNOWN = ("nop", "wrong:", "replay:")


class Group(NamedTuple):
    """Who was measured, where and on which arm. arm: "" where the units have none."""

    subject: str
    lane: str
    arm: str

    @property
    def shown(self) -> str:
        return f"{self.subject}, {self.lane} lane" + (f", arm {self.arm}" if self.arm else "")


def subject_of(line: Line) -> str:
    """Who was measured, as it is shown."""
    name = line["agent"] if line["model"] is None else f"{line['agent']} {line['model']}"
    return name + (f" played from {line['played']}" if line.get("played") else "")


def group_of(line: Line) -> Group:
    return Group(subject_of(line), line["lane"], str(line["unit"]).partition("+")[2])


def groups(lines: Iterable[Line]) -> dict[Group, list[Line]]:
    """Lines by who was measured, in the order of the first ones; of the arms of one in that of their suite."""
    found: dict[Group, list[Line]] = {}
    seen: list[tuple[Hashable, str]] = []
    for line in lines:
        group = group_of(line)
        found.setdefault(group, []).append(line)
        seen.append(((*group[:2], line["unit"].partition("+")[0]), group.arm))
    arms = arm_order(seen)
    if len(arms) == 1:
        return found
    first: dict[tuple[str, ...], int] = {}
    for group in found:
        first.setdefault(group[:2], len(first))
    return {group: found[group] for group in sorted(found, key=lambda group: (first[group[:2]], arms[group.arm]))}


def is_known(line: Line) -> bool:
    """Whether the trial is of a known answer, or of a dry run: no sample of anything."""
    return bool(line["self_check"] or line["dry"]) or str(line["agent"]).startswith(_KNOWN)


def counts(line: Line) -> bool:
    """Whether the trial passed or failed: all others say nothing about who was measured."""
    return line["status"] in ("pass", "fail")


def passed_of(lines: Iterable[Line]) -> tuple[int, int]:
    """How many trials passed, and how many there are that count."""
    statuses = [line["status"] for line in lines]
    passed = statuses.count("pass")
    return passed, passed + statuses.count("fail")


def unit_rate(lines: Sequence[Line], *, draw: bool = True) -> Interval | None:
    """The pass rate of a unit's trials; None where none counts. draw: with its interval."""
    passed, count = passed_of(lines)
    if not count:
        return None
    if is_known(lines[0]) or not draw:
        return _without(passed / count, count)
    return stats.wilson(passed, count)


def _without(value: float, count: int) -> Interval:
    return Interval(value, -math.inf, math.inf, count)


def case_values(lines: Iterable[Line], of: Any) -> dict[str, list[float]]:
    """Of each case the values of its trials that count, where they have one. of: the value of a line, or None."""
    found: dict[str, list[float]] = {}
    for line in lines:
        if counts(line) and (value := of(line)) is not None:
            found.setdefault(f"{line['suite']} {line['case']}", []).append(float(value))
    return found


def mean_over(values: Sequence[float], *, draw: bool = True) -> Interval:
    """The mean of at least one value, of cases for instance. draw: with its t interval."""
    return stats.mean_t(values) if draw else _without(stats.mean_of(values), len(values))


def pass_rate(lines: Sequence[Line], *, draw: bool = True) -> Interval | None:
    """The mean over cases of their pass rates; None where no trial counts. draw: with its interval."""
    values = case_values(lines, lambda line: line["status"] == "pass")
    if not values:
        return None
    if any(is_known(line) for line in lines) or not draw:
        return _without(stats.mean_of([*map(stats.mean_of, values.values())]), len(values))
    if all(len(of_case) == 1 for of_case in values.values()):
        return stats.wilson(round(sum(of_case[0] for of_case in values.values())), len(values))
    found = stats.mean_t([stats.mean_of(of_case) for of_case in values.values()])
    if not found.drawn:
        return found
    return evolve(found, low=max(0.0, found.low), high=min(1.0, found.high))
