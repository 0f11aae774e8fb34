"""`evalkit plan --detect 10pp`: how many trials of each case show such a difference of pass rates between two sides.

The two sides are the subject of the plan and another one, paired by case, at 5 % two-sided with a power of 80 %. The
spread of a trial about its case's pass rate comes from earlier trials of the subject: of the cases with several ones
the mean of their variances; else that of trials with the pass rate of all; else it is the largest there is, p(1-p) of
one half. The other side is taken to spread alike, and the difference to be alike in all cases: where it is not, it
takes more, and `evalkit compare` tells from the trials of both sides.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from evalkit.authoring.columns import count, one_line
from evalkit.dag.expect import Earlier, total
from evalkit.dag.look import Look
from evalkit.errors import UserError
from evalkit.execute.budget import dollars
from evalkit.plan.trials import Trial
from evalkit.report.rates import Line
from evalkit.structure import unstructure

__all__ = ["Detected", "detect", "detect_text", "per_case", "spread"]

_WORST = 0.25


@frozen
class Detected:
    """What it takes for a subject.

    cases: how many there are, of how many units. variance: of a trial about its case's pass rate; basis: what that
    comes from. asked: trials of each unit that the plan has; shows: the smallest difference that these show, as a
    share. needed: trials of each unit on each side; None where there is one case. runs: agent runs of both sides then;
    cost: dollars for them, as far as earlier runs tell, else None.
    """

    subject: str
    cases: int
    units: int
    variance: float
    basis: str
    asked: int
    shows: float | None
    needed: int | None
    runs: int | None
    cost: float | None

    def to_data(self) -> dict[str, Any]:
        """JSON types."""
        return dict(unstructure(self))


def detect(look: Look, share: float) -> list[Detected]:
    """For each subject of the plan that samples. Raises UserError where there is none, or no statistics."""
    from evalkit.report import stats

    subjects: dict[str, list[Trial]] = {}
    for tasks in look.trials.values():
        if tasks.trial.traits.sampled:
            subjects.setdefault(tasks.trial.subject.shown, []).append(tasks.trial)
    if not subjects:
        raise UserError("nothing of this samples: a known answer comes to the same each time",
                        hint="--detect wants an agent with a model, for instance agent=claude model=VENDOR/MODEL")
    earlier = Earlier.of(look.plan.session.places.results)
    found = []
    for name, trials in subjects.items():
        cases = {trial.case.name for trial in trials}
        units = {trial.case.unit: trial for trial in trials}
        variance, basis = spread(_earlier(look, name, set(units)))
        asked = round(len(trials) / len(units))
        within = 2 * variance * per_case([trial.case.name for trial in units.values()])
        needed = stats.trials_to_see(share, len(cases), within)
        runs = None if needed is None else 2 * needed * len(units)
        cost = total(earlier.cost(trial) for trial in units.values())
        found.append(Detected(
            name, len(cases), len(units), round(variance, 6), basis, asked,
            stats.smallest_to_see(len(cases), asked, within), needed, runs,
            2 * needed * cost.amount * len(units) / cost.known if needed is not None and cost.known else None))
    return found


def per_case(cases: Sequence[str]) -> float:
    """How much of a trial's variance is left in its case's value, which is the mean over the case's units: the mean of
    1 / units over the cases. cases: that of each unit.
    """
    from statistics import fmean

    return fmean(1 / number for number in Counter(cases).values())


def _earlier(look: Look, subject: str, units: set[str]) -> list[Line]:
    """The subject's trials of these units in all runs."""
    from evalkit.report.past import lines_of_run, runs
    from evalkit.report.rates import is_known, subject_of

    results = look.plan.session.places.results
    found: list[Line] = []
    for run in runs(results):
        with contextlib.suppress(UserError):  # a summary that cannot be read tells nothing
            found += [line for line in lines_of_run(results / run)
                      if line["unit"] in units and subject_of(line) == subject and not is_known(line)]
    return found


def spread(lines: Sequence[Line]) -> tuple[float, str]:
    """The variance of a trial about its case's pass rate, and what it comes from."""
    from statistics import fmean, variance

    from evalkit.report.rates import counts

    units: dict[str, list[float]] = {}
    for line in lines:
        if counts(line):
            units.setdefault(line["unit"], []).append(float(line["status"] == "pass"))
    united = any(line["unit"] != line["case"] for line in lines)
    several = [values for values in units.values() if len(values) > 1]
    every = [value for values in units.values() for value in values]
    if several and (mean := fmean(map(variance, several))) > 0:
        them = count(len(several), "unit" if united else "case")
        return mean, f"{count(sum(map(len, several)), 'earlier trial')} of {them}"
    if every:
        rate = (sum(every) + 1) / (len(every) + 2)
        return rate * (1 - rate), f"the pass rate of {count(len(every), 'earlier trial')}"
    return _WORST, "no earlier trial: the largest there can be"


def detect_text(found: Sequence[Detected], share: float) -> list[str]:
    """What is told of it."""
    said = ["", f"to see a difference of {100 * share:g} points between two sides",
            "(paired by case, 5 % two-sided, power 80 %):"]
    for each in found:
        said.append(one_line(each.subject))
        if each.needed is None:
            said.append("  one case says nothing of others: this wants several")
            continue
        price = "" if each.cost is None else f", about {dollars(each.cost)}"
        units, of = (f" ({each.units} units)", "of each unit") if each.units != each.cases else ("", "each")
        said.append(f"  {count(each.cases, 'case')}{units} would need about {count(each.needed, 'trial')} {of} "
                    f"on each side ({each.runs} agent runs{price})")
        if each.shows is not None:
            said.append(f"  asked for {'is' if each.asked == 1 else 'are'} {each.asked}, which would show "
                        f"{'no difference, however large' if each.shows > 1 else f'{100 * each.shows:.0f} points'}")
        said.append(f"  the spread of a trial is from {each.basis}")
    said.append("taken for alike in all cases; where it differs it takes more (`evalkit compare` tells)")
    return said
