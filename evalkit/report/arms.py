"""A run's arms side by side: each case's scores on each arm, with intervals, and what ablated parts are worth; pure.

A **cell** is one case on one arm with one subject: its values of a measure over its trials. It is told as their median.
The interval of a median is the exact one that asks nothing of the values' distribution, at 95 % where there are trials
enough for it (six); with fewer it goes from the lowest to the highest value. Means over cases, and differences of two
arms, have a 95 % bootstrap interval (percentiles of 9,999 resamples, the same ones each time): over the cases, of each
the difference of its medians; for one case over the trials of both arms, of their means.

Trials in error, those that did not run, contaminated ones and known answers say nothing about a model, and are left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from statistics import fmean, median
from typing import Any

from attrs import frozen

from evalkit.report.stats import Interval, difference, mean_interval, median_interval

__all__ = ["PAGE", "Arms", "Worth"]

COMPOSITE = "composite"
PAGE = "checks passed"
"""The measure of a trial that is the share of its checks without numbers of their own which it passed."""


@frozen
class Worth:
    """What a part of the guidance is worth in a case: the score with all of it, less the score without that part.

    settled: the interval does not hold 0.
    """

    part: str
    without: Interval
    worth: Interval

    @property
    def settled(self) -> bool:
        return self.worth.low > 0 or self.worth.high < 0


class Arms:
    """The trials of one suite in a run, by subject, case, arm and measure. base: the arm that others are compared with.
    """

    def __init__(self, trials: Iterable[Mapping[str, Any]], suite: str, base: str | None = None) -> None:
        self.suite = suite
        self._values: dict[str, dict[str, dict[str, dict[str, list[float]]]]] = {}
        for trial in trials:
            if trial["suite"] == suite and _counts(trial):
                measures = self._values.setdefault(_subject(trial), {}).setdefault(trial["case"], {}).setdefault(
                    _arm(trial), {})
                for name, value in _measured(trial).items():
                    measures.setdefault(name, []).append(value)
        arms = [arm for arm in self._all_arms if "." not in arm]
        self.base = base if base is not None else next(iter(arms), "")
        self.arms = [self.base, *(arm for arm in arms if arm != self.base)] if self.base in arms else arms

    @cached_property
    def _all_arms(self) -> list[str]:
        return sorted({arm for cases in self._values.values() for case in cases.values() for arm in case})

    @property
    def subjects(self) -> list[str]:
        return sorted(self._values)

    def cases(self, subject: str) -> list[str]:
        """Those with a trial on an arm that is no ablation."""
        return sorted(case for case, arms in self._values[subject].items() if any(arm in self.arms for arm in arms))

    @cached_property
    def measures(self) -> list[str]:
        """All that there are: the composite score, its parts, checks, judges."""
        found = {name for cases in self._values.values() for case in cases.values() for arm in case.values()
                 for name in arm}
        first = (COMPOSITE, "import_match", "api_match", "forbidden_clean", "parse_ok", PAGE)
        return [*(name for name in first if name in found), *sorted(found.difference(first))]

    @property
    def judged(self) -> list[str]:
        """The measures that are judges' scores, 0 to 10."""
        return [name for name in self.measures if name.startswith(_JUDGE)]

    def values(self, subject: str, case: str, arm: str, measure: str = COMPOSITE) -> list[float]:
        return self._values[subject].get(case, {}).get(arm, {}).get(measure, [])

    def cell(self, subject: str, case: str, arm: str, measure: str = COMPOSITE) -> Interval | None:
        """A case on an arm; None where there is no trial of it."""
        found = self.values(subject, case, arm, measure)
        return median_interval(found) if found else None

    def overall(self, subject: str, arm: str, measure: str = COMPOSITE) -> Interval | None:
        """The mean over the cases of their medians."""
        found = [median(values) for case in self.cases(subject) if (values := self.values(subject, case, arm, measure))]
        return mean_interval(found) if found else None

    def gain(self, subject: str, arm: str, measure: str = COMPOSITE) -> Interval | None:
        """What the base arm has more than another one: the mean over the cases that are on both."""
        both = [(self.values(subject, case, self.base, measure), self.values(subject, case, arm, measure))
                for case in self.cases(subject)]
        found = [median(these) - median(those) for these, those in both if these and those]
        return mean_interval(found) if found else None

    def ablations(self, subject: str) -> dict[str, list[Worth]]:
        """Of each case that was ablated, what its parts are worth; those that are worth most first.

        Where several arms ablate a case (by sections, by documents), a part is named with its arm.
        """
        found: dict[str, list[Worth]] = {}
        for case, arms in sorted(self._values[subject].items()):
            whole = self.values(subject, case, self.base)
            several = len({arm.partition(".")[0] for arm in arms if "." in arm}) > 1
            for arm in sorted(arms):
                values = self.values(subject, case, arm)
                if "." in arm and whole and values:
                    part = arm if several else arm.partition(".")[2]
                    found.setdefault(case, []).append(Worth(part, median_interval(values), difference(whole, values)))
        return {case: sorted(parts, key=lambda part: -part.worth.value) for case, parts in found.items()}


_JUDGE = "judge: "


def _counts(trial: Mapping[str, Any]) -> bool:
    return trial["status"] in ("pass", "fail") and not trial["self_check"] and trial["model"] is not None \
        and not trial["dry"]


def _subject(trial: Mapping[str, Any]) -> str:
    played = f" played from {trial['played']}" if trial.get("played") else ""
    return f"{trial['agent']} {trial['model']}{played}"


def _arm(trial: Mapping[str, Any]) -> str:
    return str(trial["unit"]).partition("+")[2]


def _measured(trial: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a trial: the means of its checks' measures, the share of other checks, and judges' scores."""
    parts: dict[str, list[float]] = {}
    for measures in trial.get("measures", {}).values():
        for name, value in measures.items():
            parts.setdefault(name, []).append(float(value))
    found = {name: fmean(values) for name, values in parts.items()}
    plain = [status == "pass" for check, status in trial["checks"].items()
             if check not in trial.get("measures", {}) and check not in trial["scores"] and status in ("pass", "fail")]
    if plain:
        found[PAGE] = sum(plain) / len(plain)
    return found | {f"{_JUDGE}{name}": float(score) for name, score in trial["scores"].items()}
