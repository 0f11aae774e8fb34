"""One line before the first paid call: who, with which model, how often, and what that is expected to cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evalkit.dag.plan import Plan
from evalkit.digest import digest
from evalkit.plan.keys import agent_inputs
from evalkit.plan.trials import Trial
from evalkit.records import BadRecord, read_record
from evalkit.report.result import TrialResult

__all__ = ["announcement"]


def announcement(plan: Plan, trials: Sequence[Trial]) -> str:
    """The line, or "" where no agent run would call a model."""
    session = plan.session
    paid = [trial for trial in trials if trial.subject.model is not None and not trial.dry
            and not session.store.has("agent", digest(agent_inputs(trial, session.contents)))]
    if not paid:
        return ""
    lines = []
    for (subject, version), count in Counter((trial.subject, trial.traits.version) for trial in paid).items():
        mine = [trial for trial in paid if trial.subject == subject]
        names = sorted({trial.case.unit for trial in mine})
        cases = names[0] if len(names) == 1 else f"{len(names)} cases"
        turns, time = max(trial.case.limits.turns for trial in mine), max(trial.case.limits.time for trial in mine)
        lines.append(f"about to run {subject.agent} {version} with {subject.model}: {count} "
                     f"trial{'' if count == 1 else 's'} of {cases}, at most {turns} turns and {_limit(time)} each; "
                     f"{_expected(plan, mine)}")
    return "\n".join(lines)


def _limit(seconds: int) -> str:
    return f"{seconds} s" if seconds % 60 else f"{seconds // 60} min"


def _expected(plan: Plan, trials: Sequence[Trial]) -> str:
    """The mean cost of earlier runs of the same subject on the same cases, times the trials to come."""
    costs: list[float] = []
    for trial in {trial.case.unit: trial for trial in trials}.values():
        pattern = f"*/{trial.subject.path}/{trial.case.unit}/trial-*/result.json"
        for path in sorted(plan.session.places.results.glob(pattern)):
            try:
                cost = read_record(path, TrialResult).ending.usage.cost
            except (BadRecord, FileNotFoundError):
                continue
            if cost is not None:
                costs.append(cost)
    if not costs:
        return "cost not known: there is no earlier run"
    return f"expected cost ${sum(costs) / len(costs) * len(trials):.2f} (from {len(costs)} earlier)"
