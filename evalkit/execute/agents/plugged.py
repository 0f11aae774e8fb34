"""An agent of another distribution: its version is part of keys, and what goes wrong in it is told as its own fault."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import EvalkitError, UserError
from evalkit.execute.agents.base import Agent, Job
from evalkit.execute.agents.registry import Careful, Reader
from evalkit.execute.outcome import AgentError, Ending
from evalkit.plan.trials import AgentTraits, Trial
from evalkit.plugins import Plugin, load_plugin

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
        return self.agent.given(unit) if isinstance(self.agent, Reader) else ()

    def check(self, trial: Trial) -> None:
        if isinstance(self.agent, Careful):
            self.agent.check(trial)

    def cannot(self, unit: Case) -> list[str]:
        try:
            return [str(what) for what in self.agent.cannot(unit)]
        except EvalkitError:
            raise
        except Exception as error:
            raise _broken(self.plugin, error) from error

    def run(self, job: Job) -> Ending:
        try:
            ending = self.agent.run(job)
        except EvalkitError:
            raise
        except Exception as error:
            raise AgentError(_said(self.plugin, error), hint=_hint(self.plugin)) from error
        if not isinstance(ending, Ending):
            raise AgentError(f"{self.plugin.shown} returned no ending but {type(ending).__name__}",
                             hint=_hint(self.plugin))
        return ending

    def describe(self, job: Job) -> str:
        try:
            return str(self.agent.describe(job))
        except Exception as error:
            raise AgentError(_said(self.plugin, error), hint=_hint(self.plugin)) from error


def plugged(plugin: Plugin, wanted: Wanted) -> Plugged:
    """The agent that an entry point makes. Raises UserError, with the distribution's name, where it makes none."""
    make = load_plugin(plugin)
    try:
        agent: Agent = make(wanted)
        traits, toolchain = agent.traits, agent.toolchain
    except EvalkitError:
        raise
    except Exception as error:
        raise _broken(plugin, error) from error
    if not isinstance(traits, AgentTraits) or not all(callable(getattr(agent, name, None))
                                                      for name in ("cannot", "run", "describe")):
        raise UserError(f"{plugin.shown} is no agent", hint="docs/plugins.md tells what an agent has")
    version = f"{plugin.distribution} {plugin.version} {traits.version}"
    return Plugged(plugin, agent, evolve(traits, version=version), toolchain)


def _broken(plugin: Plugin, error: Exception) -> UserError:
    return UserError(_said(plugin, error), hint=_hint(plugin))


def _said(plugin: Plugin, error: Exception) -> str:
    return f"{plugin.shown} failed: {type(error).__name__}: {error}"


def _hint(plugin: Plugin) -> str:
    return f"report it to those who make {plugin.distribution}"
