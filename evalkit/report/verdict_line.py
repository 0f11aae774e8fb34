"""The verdict of a comparison, in a plain line; and what it would take where there is not enough evidence."""

from __future__ import annotations

import math

from attrs import frozen

from evalkit.report import stats
from evalkit.report.compare import CaseValues, Comparison, variances
from evalkit.report.figures_text import points

__all__ = ["Evidence", "evidence", "p_shown", "verdict_line"]


@frozen
class Evidence:
    """What it takes to see a difference of `detect` (a share) at 5 % two-sided with a power of 80 %.

    cases: how many are compared. trials: how many of each there are on a side, on average. needed: how many it takes
    with these cases; None where no number does. more_cases: how many cases it takes with the trials there are.
    """

    detect: float
    cases: int
    trials: float
    needed: int | None
    more_cases: int | None

    @property
    def enough(self) -> bool:
        return self.needed is not None and self.needed <= self.trials


def evidence(values: tuple[CaseValues, CaseValues], detect: float) -> Evidence:
    """What it takes, by the spread of the trials there are."""
    ones, others = values
    within, between = variances(ones, others)
    trials = min(stats.mean_of([*map(len, side.values())]) for side in values)
    needed = stats.trials_to_see(detect, len(ones), within, between)
    spread = math.sqrt(between + within / trials)
    return Evidence(detect, len(ones), trials, needed, stats.cases_to_see(detect, spread) if spread else None)


def verdict_line(found: Comparison, detect: float) -> str:
    """The verdict. detect: the difference that is worth seeing, as a share."""
    rate = found.rate
    if rate is None:
        return "nothing to compare: no case has a verdict on both sides"
    said = points(rate.apart)
    if rate.test is None:
        return f"not enough evidence: one case, and of it a single trial on a side, show nothing ({said})"
    p = f"{p_shown(rate.test.p)}, {rate.test.method}"
    known = evidence(found.values, detect)
    if rate.test.p < stats.ALPHA:
        way = "more" if rate.apart.value > 0 else "less"
        alone = "; it is one case, and says nothing of others" if rate.cases == 1 else ""
        return f"B passes {way} often than A: {said} ({p}){alone}"
    shown = f"no difference is shown: {said} ({p})"
    if known.enough:
        return f"{shown}; one of {_points(detect)} would probably have been seen"
    return f"{shown}\nnot enough evidence: {_lacking(known)}"


def _lacking(known: Evidence) -> str:
    wish = f"to see {_points(known.detect)}"
    each = f"{known.trials:.0f} trial{'' if round(known.trials) == 1 else 's'} each"
    if known.cases == 1:
        return f"one case says nothing of others; about {known.more_cases} cases of {each} would do {wish}"
    cases = f"{known.cases} cases"
    if known.needed is None:
        return f"no number of trials of these {cases} would do {wish}, about {known.more_cases} cases of {each} would"
    other = f" (or about {known.more_cases} cases of {each})" if known.more_cases else ""
    return f"{cases} would need about {known.needed} trials each {wish}{other}"


def _points(share: float) -> str:
    return f"{100 * share:g} points"


def p_shown(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.995 else "p = 1"
