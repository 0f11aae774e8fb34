"""Agents that call no model: `oracle` and `wrong:NAME` lay a known answer over the workspace, `nop` does nothing.

Where a case expects calls and has no other reference answer, `oracle` makes these calls (played.py).

They prove a case: the right answer passes, nothing fails, a wrong answer fails the checks that it names.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.analysis.model import Case, Toolchain
from evalkit.execute.outcome import Ending, Usage
from evalkit.plan.trials import AgentTraits, played_calls
from evalkit.values import Value

if TYPE_CHECKING:
    from evalkit.execute.agents.base import Job
    from evalkit.execute.agents.registry import Wanted

__all__ = ["Nop", "Overlay", "make_nop", "make_overlay"]

_TRAITS = AgentTraits(version="1", reads=frozenset(), sampled=False, builds=False)
_IDLE = AgentTraits(version="1", reads=frozenset(), sampled=False, builds=False, idle=True)


class Overlay(Value):
    """Lays the trial's answer over the workspace, or plays the calls that are its answer."""

    root: Path = Path()
    traits: AgentTraits = _TRAITS
    toolchain: Toolchain | None = None

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        if played_calls(unit) is None:
            return ()
        from evalkit.execute.agents.calling import application

        return application(self.root, unit)

    def cannot(self, unit: Case) -> list[str]:
        return []  # it reads nothing that a case could configure

    def run(self, job: Job) -> Ending:
        if (spec := job.trial.plays) is not None:
            from evalkit.execute.agents.played import play

            return play(job, spec)
        from evalkit.execute.overlay import lay_over

        assert job.trial.answer is not None
        lay_over(job.root / job.trial.answer, job.workspace)
        return Ending("completed", f"laid {job.trial.answer} over the workspace", Usage(turns=0, cost=0.0))

    def describe(self, job: Job) -> str:
        if job.trial.plays is not None:
            return "makes the expected calls"
        return f"lays {job.trial.answer} over the workspace; starts no program"


class Nop(Value):
    """Leaves the workspace as it is: what passes for it is no evidence."""

    traits: AgentTraits = _IDLE
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        return []  # it reads nothing that a case could configure

    def run(self, job: Job) -> Ending:
        return Ending("completed", "did nothing", Usage(turns=0, cost=0.0))

    def describe(self, job: Job) -> str:
        return "does nothing"


def make_overlay(wanted: Wanted) -> Overlay:
    """The agents `oracle` and `wrong:NAME`: the trial knows its answer."""
    return Overlay(wanted.root)


def make_nop(_: object) -> Nop:
    return Nop()
