"""Two sides of trials, compared case by case; pure.

A case's value on a side is the mean over its trials that passed or failed (of a case with several units: over these,
of each the mean of its trials). What is compared are the differences of the cases that are on both sides, B less A:

* with one trial of each case on each side, by McNemar's exact test over the cases that differ;
* else by a permutation test: each case's difference could as well have had the other sign;
* of a single case, whose trials are all there is, by a permutation of its trials between the sides.

The interval of a difference is Student's t over the cases' differences (of a single case Welch's, over its trials).
Checks are tested in the same way, and their p values corrected for their number by Holm. Errors, contaminated trials
and what did not run are neither pass nor fail; what is on one side alone is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from evalkit.report import rates, stats
from evalkit.report.data import DifferenceData, interval_data
from evalkit.report.figures import measures_of
from evalkit.report.rates import Line
from evalkit.report.stats import Interval, Test
from evalkit.values import evolve

__all__ = ["CaseValues", "CheckDifference", "Comparison", "Difference", "Flip", "compare_lines", "variances"]

CaseValues = Mapping[str, Sequence[float]]
"""Case -> the values of its trials."""
_TAKEN: Mapping[str, Callable[[Line], Any]] = {
    "turns": lambda line: line["turns"],
    "tokens": lambda line: sum(line["tokens"].values()) if line["tokens"] else None,
    "cost": lambda line: line["cost"],
    "seconds": lambda line: line["seconds"],
}
"""What a trial takes. None where nobody knows."""


@frozen
class Difference:
    """A number on both sides, over the cases that have it on both. apart: B less A. test: None where none is made."""

    name: str
    cases: int
    one: float
    other: float
    apart: Interval
    test: Test | None

    def to_data(self) -> DifferenceData:
        """As it is printed for programs."""
        return DifferenceData(self.name, self.cases, round(self.one, 6), round(self.other, 6),
                              interval_data(self.apart), round(self.test.p, 6) if self.test else None,
                              self.test.method if self.test else None)


@frozen
class CheckDifference:
    """A check. holm: its p value, corrected for all checks that were tested; None where it was not."""

    difference: Difference
    holm: float | None


@frozen
class Flip:
    """A unit that passes more often on one side. one, other: (passed, count) of A and of B; the lines: of trials that
    show it, where there is a pass and a fail to show; else of the first ones.
    """

    unit: str
    one: tuple[int, int]
    other: tuple[int, int]
    line_one: Line = field(repr=False)
    line_other: Line = field(repr=False)

    @property
    def better(self) -> bool:
        return self.other[0] * self.one[1] > self.one[0] * self.other[1]


@frozen
class Comparison:
    """What came of it.

    rate: None where no case can be compared. values: the passes of each side's trials, by case, of the cases that are
    compared (of a case with several units without what differs between these). apart: units that are not, each with
    why. counts: trials by status, of A and of B.
    """

    rate: Difference | None
    measures: tuple[Difference, ...]
    checks: tuple[CheckDifference, ...]
    flips: tuple[Flip, ...]
    apart: tuple[tuple[str, str], ...]
    values: tuple[CaseValues, CaseValues] = field(repr=False)
    counts: tuple[Mapping[str, int], Mapping[str, int]]


def compare_lines(one: Iterable[Line], other: Iterable[Line], *, arms: bool = False,
                  checks: Sequence[str] = ()) -> Comparison:
    """Compare B (other) with A (one). arms: these are what differs, so units are paired without them.

    checks: those to compare; all where there are none. Raises UserError where statistics need what is not installed.
    """
    ones, others = _by_unit(one, arms=arms), _by_unit(other, arms=arms)
    apart = list(_apart(ones, others))
    both = [unit for unit in ones if unit in others and not {unit} & dict(apart).keys()]
    sides = ({unit: _counted(ones[unit]) for unit in both}, {unit: _counted(others[unit]) for unit in both})
    values = (_values(sides[0], _passed), _values(sides[1], _passed))
    rate = _cut(_difference("pass rate", *values)) if both else None
    return Comparison(
        rate, tuple(_measures(*sides)), tuple(_checks(*sides, checks)), tuple(_flips(*sides)), tuple(apart),
        (_within_units(sides[0]), _within_units(sides[1])), (_statuses(ones), _statuses(others)))


def _by_unit(lines: Iterable[Line], *, arms: bool) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line["unit"].partition("+")[0] if arms else line["unit"], []).append(line)
    return found


def _apart(ones: Mapping[str, Sequence[Line]], others: Mapping[str, Sequence[Line]]) -> Iterable[tuple[str, str]]:
    """Units that cannot be compared, and why."""
    for unit in dict.fromkeys([*ones, *others]):
        for name, here in (("A", ones), ("B", others)):
            if unit not in here:
                yield unit, f"not in {name}"
            elif not _counted(here[unit]):
                yield unit, f"{name} has no verdict: {_told(here[unit])}"
            else:
                continue
            break


def _told(lines: Sequence[Line]) -> str:
    statuses = [line["status"] for line in lines]
    words = {"error": "in error"}
    return ", ".join(f"{statuses.count(status)} {words.get(status, status)}" for status in dict.fromkeys(statuses))


def _counted(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if rates.counts(line)]


def _statuses(units: Mapping[str, Sequence[Line]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for lines in units.values():
        for line in lines:
            found[line["status"]] = found.get(line["status"], 0) + 1
    return found


# ---- numbers ----
def _passed(line: Line) -> float:
    return float(line["status"] == "pass")


def _values(units: Mapping[str, Sequence[Line]], of: Callable[[Line], Any]) -> dict[str, list[float]]:
    """By case. Where a case has several units, each of them counts alike: their means stand for their trials."""
    found: dict[str, dict[str, list[float]]] = {}
    for unit, lines in units.items():
        for line in lines:
            if (value := of(line)) is not None:
                found.setdefault(line["case"], {}).setdefault(unit, []).append(float(value))
    return {case: [stats.mean_of(values) for values in of_case.values()] if len(of_case) > 1
            else next(iter(of_case.values())) for case, of_case in found.items()}


def _within_units(units: Mapping[str, Sequence[Line]]) -> dict[str, list[float]]:
    """The passes of each case's trials. Of a case with several units they lie about the mean of these as they do about
    their own, so that their variance is the pooled one within units; of single trials the two cannot be told apart.
    """
    found: dict[str, list[list[float]]] = {}
    for lines in units.values():
        found.setdefault(lines[0]["case"], []).append([_passed(line) for line in lines])
    values = {}
    for case, of_units in found.items():
        count, means = sum(map(len, of_units)), [stats.mean_of(each) for each in of_units]
        if len(of_units) == 1 or count == len(of_units):
            values[case] = [value for each in of_units for value in each]
            continue
        middle, scale = stats.mean_of(means), math.sqrt((count - 1) / (count - len(of_units)))
        values[case] = [middle + (value - mean) * scale for each, mean in zip(of_units, means, strict=True)
                        for value in each]
    return values


def _difference(name: str, ones: CaseValues, others: CaseValues, *, tested: bool = True) -> Difference | None:
    """A number over the cases that have it on both sides; None where none has."""
    both = [case for case in ones if case in others]
    if not both:
        return None
    means = [(stats.mean_of(ones[case]), stats.mean_of(others[case])) for case in both]
    one, other = stats.mean_of([mean for mean, _ in means]), stats.mean_of([mean for _, mean in means])
    if len(both) == 1:
        these, those = others[both[0]], ones[both[0]]
        enough = min(len(these), len(those)) > 1
        test = stats.permutation(these, those) if enough and tested else None
        return Difference(name, 1, one, other, stats.welch(these, those), test)
    differences = [after - before for before, after in means]
    found = stats.mean_t(differences)
    if not tested:
        return Difference(name, len(both), one, other, found, None)
    single = all(len(side[case]) == 1 and side[case][0] in (0.0, 1.0) for side in (ones, others) for case in both)
    test = stats.mcnemar(differences.count(-1.0), differences.count(1.0)) if single else \
        stats.paired_permutation(differences)
    return Difference(name, len(both), one, other, found, test)


def _cut(found: Difference | None) -> Difference | None:
    """A difference of shares is between -1 and 1, and so is its interval."""
    if found is None or not found.apart.drawn:
        return found
    return evolve(found, apart=evolve(found.apart, low=max(-1.0, found.apart.low), high=min(1.0, found.apart.high)))


def _measures(ones: Mapping[str, Sequence[Line]], others: Mapping[str, Sequence[Line]]) -> Iterable[Difference]:
    """Scores and measures, then what trials take: of those that are known on both sides."""
    names = dict.fromkeys(name for lines in ones.values() for line in lines for name in measures_of(line))
    for name in names:
        def of(line: Line, name: str = name) -> float | None:
            return measures_of(line).get(name)

        found = _difference(name, _values(ones, of), _values(others, of))
        if found is not None:
            yield found
    for name, taken in _TAKEN.items():
        found = _difference(name, _values(ones, taken), _values(others, taken), tested=False)
        if found is not None:
            yield found


def _checks(ones: Mapping[str, Sequence[Line]], others: Mapping[str, Sequence[Line]],
            chosen: Sequence[str]) -> list[CheckDifference]:
    """The checks that are on both sides, those with the smallest p first. Judges are compared by their scores."""
    names = dict.fromkeys(check for lines in ones.values() for line in lines for check in line["checks"]
                          if check not in line["scores"])
    found = []
    for name in names:
        if chosen and name not in chosen:
            continue

        def of(line: Line, name: str = name) -> float | None:
            status = line["checks"].get(name)
            return float(status == "pass") if status in ("pass", "fail") else None

        difference = _cut(_difference(name, _values(ones, of), _values(others, of)))
        if difference is not None:
            found.append(difference)
    tested = [difference for difference in found if difference.test is not None]
    ps = stats.holm([difference.test.p for difference in tested if difference.test is not None])
    corrected = dict(zip((difference.name for difference in tested), ps, strict=True))
    told = [CheckDifference(difference, corrected.get(difference.name)) for difference in found]
    return sorted(told, key=lambda check: (2.0 if check.holm is None else check.holm,
                                           -abs(check.difference.apart.value)))


def _flips(ones: Mapping[str, Sequence[Line]], others: Mapping[str, Sequence[Line]]) -> list[Flip]:
    """Units whose pass rates differ: those that got worse first."""
    found = []
    for unit, lines in ones.items():
        before, after = rates.passed_of(lines), rates.passed_of(others[unit])
        if before[0] * after[1] != after[0] * before[1]:
            better = after[0] * before[1] > before[0] * after[1]
            found.append(Flip(unit, before, after, _showing(lines, "fail" if better else "pass"),
                              _showing(others[unit], "pass" if better else "fail")))
    return sorted(found, key=lambda flip: flip.better)


def _showing(lines: Sequence[Line], status: str) -> Line:
    return next((line for line in lines if line["status"] == status), lines[0])


# ---- spread ----
def variances(ones: CaseValues, others: CaseValues) -> tuple[float, float]:
    """The variance of one trial's difference within a case, and that of the cases' own differences.

    Of cases with several trials on both sides the first is estimated without bias, and the second is what is left of
    the differences' variance. With single trials the two cannot be told apart: then all of it is taken for the first.
    Where nothing varies, or there is one case, the first is that of trials with the pass rates of both sides, each
    with a pass and a fail added to it (Laplace): few trials that agree do not show that all would.
    """
    both = [case for case in ones if case in others]
    several = [case for case in both if min(len(ones[case]), len(others[case])) > 1]
    within = 0.0
    between = 0.0
    differences = [stats.mean_of(others[case]) - stats.mean_of(ones[case]) for case in both]
    spread = _variance(differences) if len(both) > 1 else 0.0
    if several:
        within = stats.mean_of([_variance(ones[case]) + _variance(others[case]) for case in several])
        noise = stats.mean_of([_variance(ones[case]) / len(ones[case]) + _variance(others[case]) / len(others[case])
                               for case in several])
        between = max(0.0, spread - noise) if len(both) > 1 else 0.0
    else:
        within = spread
    if within == 0.0:
        within = sum(_laplace([value for case in both for value in side[case]]) for side in (ones, others))
    return within, between


def _variance(values: Sequence[float]) -> float:
    """The unbiased one, of at least two values."""
    from statistics import variance

    return variance(values)


def _laplace(values: Sequence[float]) -> float:
    share = (sum(values) + 1) / (len(values) + 2)
    return share * (1 - share)
