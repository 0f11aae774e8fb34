"""The protocol of agents: given a trial's workspace, prompt and limits, change the workspace and say how it ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evalkit.execute.models.prices import Prices
from evalkit.values import Value, evolve, field

if TYPE_CHECKING:
    from evalkit.analysis.model import Case, Toolchain
    from evalkit.execute.lanes import Room
    from evalkit.execute.models.provider import Endpoint
    from evalkit.execute.outcome import Ending
    from evalkit.execute.secrets import Redactor
    from evalkit.execute.toolchain import Installed
    from evalkit.plan.trials import AgentTraits, Trial

__all__ = ["Agent", "Job"]


class Job(Value):
    """One agent run.

    workspace: the tree to work in. home: an empty HOME for this run alone. env: the environment of the case's commands
    (toolchains, no variable of the person's). room: where its program is started (`job.room.stream`), and what calls a
    path by the name that it has there (`job.room.seen`): workspace and home are evalkit's own paths. transcript: where
    the agent's own stream goes, cleaned of secrets.
    off_limits: folders of the harness that no agent may look into. toolchain: the agent's own program, installed.
    prices: what models cost, for an agent that must keep to a case's limit of cost. endpoint: where the agent's program
    asks its model, and with what: evalkit's own gateway and a token of this run alone. None: there is no gateway
    between (gateway=direct), the agent's own endpoint holds. Messages to people name the agent's own, and its variable.
    endpoints: that one, and those of the other protocols in which its model can be asked. inside: the gateway's address
    for evalkit, and for programs in the room.
    """

    trial: Trial
    root: Path
    workspace: Path
    home: Path
    env: dict[str, str]
    transcript: Path
    off_limits: tuple[Path, ...]
    toolchain: Installed | None
    readable: tuple[Path, ...]
    redactor: Redactor = field(repr=False)
    prices: Prices = field(factory=Prices, repr=False)
    tick: Callable[[float], None] = field(default=lambda _: None, repr=False)
    endpoint: Endpoint | None = field(default=None, repr=False)
    endpoints: tuple[Endpoint, ...] = field(default=(), repr=False)
    inside: tuple[str, str] = ("", "")
    room: Room = field(repr=False, kw_only=True)

    def for_program(self, endpoint: Endpoint | None) -> Endpoint | None:
        """An endpoint as a program in the room reaches it."""
        here, there = self.inside
        if endpoint is None or here == there or not endpoint.url.startswith(here):
            return endpoint
        return evolve(endpoint, url=there + endpoint.url.removeprefix(here))


class Agent(Protocol):
    """An agent. `toolchain`: what must be installed for it to run, if anything."""

    @property
    def traits(self) -> AgentTraits: ...
    @property
    def toolchain(self) -> Toolchain | None: ...

    def cannot(self, unit: Case) -> list[str]:
        """What a unit asks of it that it does not do, in words: to run it all the same would measure something else."""
        ...

    def run(self, job: Job) -> Ending:
        """Do the job. Raises `AgentError` where the harness or the provider failed, with what was consumed so far."""
        ...

    def describe(self, job: Job) -> str:
        """What `run` would start: command line and environment, without secrets."""
        ...
