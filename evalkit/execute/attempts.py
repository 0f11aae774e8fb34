"""Attempts of an agent that costs: what the budget says, what each consumed, and what is shown of one that failed.

The budget is asked right before the agent starts, and what it consumed is counted right after it ended, also where it
failed: nothing that was spent is hidden. An attempt that failed leaves no outcome; what it printed can be looked at.

An agent asks its model through the gateway, by a lease of its own (leases.py): the key of the provider is nowhere where
the agent is. Without a gateway (`gateway=direct`) it holds the key, and the result says so.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from evalkit.errors import HarnessError
from evalkit.execute.agents.base import Agent, Job
from evalkit.execute.budget import dollars
from evalkit.execute.folders import remove_tree
from evalkit.execute.outcome import AgentError, Ending
from evalkit.execute.session import Session
from evalkit.values import evolve

__all__ = ["note_on", "run_paid"]

_RUN = "agent run"


def run_paid(session: Session, agent: Agent, job: Job, failed: Path | None, number: int) -> Ending:
    """Run an agent, its `number`th attempt. failed: a folder of its own for what it printed, should it fail.

    Raises BudgetReached, or AgentError with where to look.
    """
    budget = session.budget
    budget.check()
    if failed is not None and number == 1:
        remove_tree(failed)  # of an earlier run
    try:
        ending = _run(session, agent, job)
    except AgentError as error:
        budget.spend(error.usage.cost, _RUN, job)
        if failed is not None and (shown := _show(job.transcript, failed, number)):
            error.hint = f"{error.hint}\n  what it printed: {shown}".lstrip("\n")
        raise
    budget.spend(ending.usage.cost, _RUN, job)
    return ending


def _run(session: Session, agent: Agent, job: Job) -> Ending:
    """Run an agent through the gateway, where there is one. What the gateway saw is part of how it ended."""
    from evalkit.execute.leases import TOKEN, asked_again, ended, ended_by_failure

    trial, models = job.trial, session.models
    endpoints = models.endpoints(trial.subject.model, agent.traits.protocol)
    gateway = models.gateway() if endpoints else None
    if gateway is None:
        if endpoints and job.room.walls:
            raise HarnessError("the sandbox has no network but evalkit's own gateway", hint="leave gateway=direct out")
        ending = agent.run(job)
        notes = (*ending.notes, *asked_again(0, ending.retries))
        return evolve(ending, notes=(*notes, *models.notes)) if endpoints else ending
    with gateway.lease(trial.case.unit, endpoints, model=trial.subject.model or "", limits=trial.case.limits,
                       spent=lambda cost: session.budget.so_far(job, cost), say=session.say) as lease:
        given = tuple(lease.endpoint(endpoint) for endpoint in endpoints)
        inside = gateway.url, job.room.reach(gateway.url, gateway.serve)
        leased = evolve(job, endpoint=given[0], endpoints=given, inside=inside,
                        redactor=job.redactor.also(TOKEN, lease.token))
        try:
            ending = agent.run(leased)
        except AgentError as error:
            ending = ended_by_failure(error, lease.close())
        else:
            ending = ended(ending, lease.close())
    return models.marked(ending)


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
