"""Attempts of an agent that costs: what the budget says, what each consumed, and what is shown of one that failed.

The budget is asked right before the agent starts, and what it consumed is counted right after it ended, also where it
failed: nothing that was spent is hidden. An attempt that failed leaves no outcome; what it printed can be looked at.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from evalkit.execute.agents import Agent, Job
from evalkit.execute.budget import Budget, dollars
from evalkit.execute.folders import remove_tree
from evalkit.execute.outcome import AgentError, Ending

__all__ = ["note_on", "run_paid"]

_RUN = "agent run"


def run_paid(budget: Budget, agent: Agent, job: Job, failed: Path | None, number: int) -> Ending:
    """Run an agent, its `number`th attempt. failed: a folder of its own for what it printed, should it fail.

    Raises BudgetReached, or AgentError with where to look.
    """
    budget.check()
    if failed is not None and number == 1:
        remove_tree(failed)  # of an earlier run
    try:
        ending = agent.run(job)
    except AgentError as error:
        budget.spend(error.usage.cost, _RUN)
        if failed is not None and (shown := _show(job.transcript, failed, number)):
            error.hint = f"{error.hint}\n  what it printed: {shown}".lstrip("\n")
        raise
    budget.spend(ending.usage.cost, _RUN)
    return ending


def _show(transcript: Path, failed: Path, number: int) -> Path | None:
    """Copy what a failed attempt printed (it was cleaned of keys as it came). Returns its transcript, if any."""
    with contextlib.suppress(OSError):  # it must not hide the failure itself
        failed.mkdir(parents=True, exist_ok=True)
        for source in transcript.parent.glob(f"{transcript.stem}.*"):
            shutil.copyfile(source, failed / f"attempt-{number}{source.suffix}")
    shown = failed / f"attempt-{number}{transcript.suffix}"
    return shown if shown.is_file() else None


def note_on(errors: Sequence[AgentError]) -> tuple[str, ...]:
    """What a result says of attempts that failed before it: how many, what they cost, and why."""
    if not errors:
        return ()
    costs = [error.usage.cost for error in errors]
    cost = "at a cost that is not known" if None in costs else f"for {dollars(sum(filter(None, costs)))}"
    reasons = "; ".join(dict.fromkeys(error.message[:200] for error in errors))
    return (f"{len(errors)} attempt{'s' if len(errors) > 1 else ''} before failed ({cost}): {reasons}",)
