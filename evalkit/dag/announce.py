"""One line before the first paid call: who, with which model, how often, and what that is expected to cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evalkit.dag.expect import Earlier, Sum, total
from evalkit.dag.plan import Plan
from evalkit.dag.trial_tasks import TrialTasks
from evalkit.execute.budget import dollars

__all__ = ["announcement", "duration", "expected"]


def announcement(plan: Plan, trials: Sequence[TrialTasks]) -> str:
    """A line for each subject, or "" where no agent run would call a model."""
    session = plan.session
    paid = [one.trial for one in trials if one.trial.subject.model is not None and not one.trial.dry
            and not session.store.has("agent", one.key)]
    if not paid:
        return ""
    if played := plan.asking.played:
        runs = "1 agent run is" if len(paid) == 1 else f"{len(paid)} agent runs are"
        return f"{runs} played from {played}: no model is called, and nothing is paid\n"
    earlier = Earlier.of(session.places.results)
    lines = []
    for (subject, version), count in Counter((trial.subject, trial.traits.version) for trial in paid).items():
        mine = [trial for trial in paid if trial.subject == subject]
        names = sorted({trial.case.unit for trial in mine})
        cases = names[0] if len(names) == 1 else f"{len(names)} cases"
        turns, time = max(trial.case.limits.turns for trial in mine), max(trial.case.limits.time for trial in mine)
        lines.append(f"about to run {subject.agent} {version} with {subject.model}: {count} "
                     f"trial{'' if count == 1 else 's'} of {cases}, at most {turns} turns and {duration(time)} each; "
                     f"{expected(total(earlier.cost(trial) for trial in mine))}")
    return "".join(f"{line}\n" for line in lines)


def expected(cost: Sum) -> str:
    """An expected cost in words: `expected cost $1.20 (from 4 earlier runs; no figure for 2)`."""
    if not cost.known:
        return "cost not known: there is no earlier run"
    gaps = f"; no figure for {cost.unknown}" if cost.unknown else ""
    return f"expected cost {dollars(cost.amount)} (from {cost.runs} earlier run{'' if cost.runs == 1 else 's'}{gaps})"


def duration(seconds: float) -> str:
    """A time for a person: `45 s`, `90 s`, `12 min`, `3 h 5 min`."""
    if 0 < seconds < 1:
        return "under 1 s"
    whole = round(seconds)
    if whole < 120 or (whole < 600 and whole % 60):
        return f"{whole // 60} min" if whole >= 60 and whole % 60 == 0 else f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min".removesuffix(" 0 min")
