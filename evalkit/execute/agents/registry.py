"""The agents by name: evalkit's own from a table, others from entry points (evalkit/plugins.py).

A row is what is known of an agent without its code, and the function that makes it: modules are imported when somebody
asks for their agent. An agent takes what stands behind a colon (`wrong:NAME`) as its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from evalkit.analysis.model import Case
from evalkit.errors import UserError
from evalkit.execute.models.provider import Endpoints
from evalkit.plan.trials import Subject, Trial
from evalkit.plugins import AGENTS, SPOKEN_AGENTS, find_plugin, plugin_names
from evalkit.values import Value, field

if TYPE_CHECKING:
    from evalkit.execute.agents.base import Agent
    from evalkit.execute.models.chat import Protocol as Spoken
    from evalkit.execute.models.provider import Endpoint

__all__ = ["Agents", "Careful", "Reader", "Wanted"]


class Wanted(Value):
    """What an agent is made for. argument: what stood behind the colon of its name. endpoint: where its model is asked,
    None without a key for it. claude: another Claude Code than the pinned one.
    """

    name: str
    root: Path
    argument: str = ""
    endpoint: Endpoint | None = field(default=None, repr=False)
    claude: str | None = None


@runtime_checkable
class Reader(Protocol):
    """An agent that reads files of its own beside the workspace."""

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        """For `Trial.given`. Raises UserError where they are not there."""
        ...


@runtime_checkable
class Careful(Protocol):
    """An agent that cannot run every trial here."""

    def check(self, trial: Trial) -> None:
        """Raise UserError where it cannot, before anything is made for the trial."""
        ...


class _Own(Value):
    """An agent of evalkit's own. makes: `module:function`, which takes a `Wanted` and returns an `Agent`.

    asks: whether it is given a model, for a unit; then a key must be there. speaks: the one protocol that it speaks.
    """

    makes: str
    asks: Callable[[Case], bool] = lambda _: False
    speaks: Spoken | None = None


def _always(_: Case) -> bool:
    return True


def _names_model(unit: Case) -> bool:
    return unit.agent.command is not None and any("{model}" in word for word in unit.agent.command.words)


_OWN: Mapping[str, _Own] = {
    "claude": _Own("claude:make", _always, speaks="anthropic"),
    "api": _Own("api:make", _always),
    "tools": _Own("tools:make", _always),
    "command": _Own("command:make", _names_model),
    "oracle": _Own("scripted:make_overlay"),
    "wrong": _Own("scripted:make_overlay"),
    "nop": _Own("scripted:make_nop"),
    "palette": _Own("palette:make"),
    "replay": _Own("replay:make"),
}


class Agents:
    """Makes agents; what is common to a run (endpoints, project, another program) is given once."""

    def __init__(self, endpoints: Endpoints | None, claude: str | None, root: Path = Path()) -> None:
        self._endpoints = endpoints or Endpoints({})
        self._claude = claude
        self._root = root
        self._made: dict[Subject, Agent] = {}

    def of(self, subject: Subject) -> Agent:
        """The agent of a subject. Raises UserError where it cannot be run, or its program is missing."""
        if subject not in self._made:
            self._made[subject] = self._make(subject)
        return self._made[subject]

    def reach(self, name: str, model: str | None) -> Endpoint | None:
        """Where an agent asks a model; None where no key opens a way that it can go."""
        return self._endpoints.find(model, only=self._speaks(name))

    def check_reach(self, name: str, model: str | None, named: str = "") -> None:
        """Raise UserError where no key opens a way on which an agent reaches a model. named: the variable that asks."""
        self._endpoints.of(model, f"agent={name}" + (f" with {named}" if named else ""), only=self._speaks(name))

    def _speaks(self, name: str) -> Spoken | None:
        own = _OWN.get(name.partition(":")[0])
        return own.speaks if own is not None else None

    def given(self, subject: Subject, unit: Case) -> tuple[tuple[str, str], ...]:
        """What the agent reads beside the workspace, for `Trial.given`. Raises UserError where it is not there."""
        agent = self.of(subject)
        return agent.given(unit) if isinstance(agent, Reader) else ()

    def check(self, trial: Trial) -> None:
        """Raise UserError where a trial's agent cannot run it here."""
        agent = self.of(trial.subject)
        if trial.lane != "local" and trial.subject.agent.partition(":")[0] not in _OWN:
            raise UserError(f"agent `{trial.subject.agent}` is a plug-in's: it runs in the local lane alone",
                            hint="lane=local")
        if isinstance(agent, Careful) and not trial.dry:
            agent.check(trial)

    def asks_model(self, name: str, unit: Case) -> bool:
        """Whether an agent is given a model for this unit. Of evalkit's own that is known without making it."""
        own = _OWN.get(name.partition(":")[0])
        return own.asks(unit) if own is not None else self.of(Subject(name)).traits.models

    def _make(self, subject: Subject) -> Agent:
        name = subject.agent
        kind, _, argument = name.partition(":")
        wanted = Wanted(name, self._root, argument, self.reach(name, subject.model), self._claude)
        if (own := _OWN.get(kind)) is not None:
            module, _, function = own.makes.partition(":")
            made: Agent = _named(module, function)(wanted)
            return made
        plugin = find_plugin("agents", name)
        if plugin is None:
            from evalkit.diagnostics import did_you_mean

            known = (*AGENTS, *SPOKEN_AGENTS, *plugin_names("agents"))
            raise UserError(f"there is no agent `{name}`", hint=did_you_mean(name, known, limit=len(known)))
        from evalkit.execute.agents.plugged import plugged

        return plugged(plugin, wanted)


def _named(module: str, function: str) -> Any:
    place = f"evalkit.execute.agents.{module}"
    try:
        return getattr(import_module(place), function)
    except ModuleNotFoundError as error:
        if error.name != place:
            raise
        raise UserError(f"this evalkit compiles cases for the agent `{module}`, but cannot run it yet",
                        hint="agent=oracle plays a case's reference answer, where it has one") from None
