"""An agent of another distribution: its version is part of keys, and what goes wrong in it is told as its own fault."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import EvalkitError, UserError
from evalkit.execute.agents.base import Agent, Job
from evalkit.execute.agents.registry import Careful, Reader
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.plan.trials import AgentTraits, Trial
from evalkit.plugins import Plugin, load_plugin, own_failure
from evalkit.records import as_read
from evalkit.structure import plain_fields
from evalkit.values import evolve

if TYPE_CHECKING:
    from evalkit.execute.agents.registry import Wanted

__all__ = ["Plugged", "plugged"]


@frozen
class Plugged:
    """Hands everything on to the plug-in's agent. toolchain, traits: as it had them when it was made."""

    plugin: Plugin
    agent: Agent
    traits: AgentTraits
    toolchain: Toolchain | None

    @property
    def files(self) -> tuple[Path, ...]:
        """What its version hangs on."""
        return self.plugin.files

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        if not isinstance(self.agent, Reader):
            return ()
        try:
            return tuple([(str(what), str(path)) for what, path in self.agent.given(unit)])
        except EvalkitError:
            raise
        except BaseException as error:
            raise _broken(self.plugin, error) from error

    def check(self, trial: Trial) -> None:
        if not isinstance(self.agent, Careful):
            return
        try:
            self.agent.check(trial)
        except EvalkitError:
            raise
        except BaseException as error:
            raise _broken(self.plugin, error) from error

    def cannot(self, unit: Case) -> list[str]:
        try:
            return [str(what) for what in self.agent.cannot(unit)]
        except EvalkitError:
            raise
        except BaseException as error:
            raise _broken(self.plugin, error) from error

    def run(self, job: Job) -> Ending:
        try:
            ending = self.agent.run(job)
        except EvalkitError:
            raise
        except BaseException as error:
            raise AgentError(_said(self.plugin, error), hint=_hint(self.plugin)) from error
        if not isinstance(ending, Ending):
            raise AgentError(f"{self.plugin.shown} returned no ending but {type(ending).__name__}",
                             hint=_hint(self.plugin))
        try:
            return _sound(ending)
        except (TypeError, ValueError) as error:  # Misfit and orjson's own are of these
            raise AgentError(f"{self.plugin.shown} returned an ending that is none: {error}",
                             hint=_hint(self.plugin)) from error

    def describe(self, job: Job) -> str:
        try:
            return str(self.agent.describe(job))
        except EvalkitError:
            raise
        except BaseException as error:
            raise AgentError(_said(self.plugin, error), hint=_hint(self.plugin)) from error


def plugged(plugin: Plugin, wanted: Wanted) -> Plugged:
    """The agent that an entry point makes. Raises UserError, with the distribution's name, where it makes none."""
    make = load_plugin(plugin)
    try:
        agent: Agent = make(wanted)
        traits, toolchain = agent.traits, agent.toolchain
    except EvalkitError:
        raise
    except BaseException as error:
        raise _broken(plugin, error) from error
    if not isinstance(traits, AgentTraits) or not isinstance(toolchain, Toolchain | None) or not all(
            callable(getattr(agent, name, None)) for name in ("cannot", "run", "describe")):
        raise UserError(f"{plugin.shown} is no agent", hint="docs/plugins.md tells what an agent has")
    try:
        as_read(traits)
    except (TypeError, ValueError) as error:
        raise UserError(f"{plugin.shown} has traits that are none: {error}",
                        hint="docs/plugins.md tells what an agent has") from error
    version = f"{plugin.distribution} {plugin.version} {traits.version}"
    return Plugged(plugin, agent, evolve(traits, version=version), toolchain)


def _sound(ending: Ending) -> Ending:
    """An ending as it is read from the store again. Raises TypeError or ValueError for one that could not be."""
    usage = ending.usage
    if not isinstance(usage, Usage):
        raise TypeError(f"usage: not a Usage but {type(usage).__name__}")
    for name, number in {**plain_fields(usage), "retries": ending.retries}.items():
        if isinstance(number, int | float) and not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{name}: {number} is no amount")
    return as_read(ending)


def _broken(plugin: Plugin, error: BaseException) -> UserError:
    return UserError(_said(plugin, error), hint=_hint(plugin))


def _said(plugin: Plugin, error: BaseException) -> str:
    """What is told of a failure in a plug-in. Raises the error itself where it is a person's interruption."""
    return f"{plugin.shown} failed: {own_failure(error)}"


def _hint(plugin: Plugin) -> str:
    return f"report it to those who make {plugin.distribution}"
