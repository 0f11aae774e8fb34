"""What a command layer is to an agent, whether a Python object or an MCP server has the commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen

from evalkit.analysis.model import AgentConfig
from evalkit.errors import UserError
from evalkit.execute.models.chat import Tool

__all__ = ["CommandLayer", "Outcome", "open_layer"]


@frozen
class Outcome:
    """What a call came to. rejected: the application did not do it, and the text says why."""

    text: str
    rejected: bool = False


class CommandLayer(Protocol):
    """An application's commands at work on a state of its own."""

    @property
    def tools(self) -> tuple[Tool, ...]: ...

    @property
    def reads(self) -> frozenset[str]:
        """The commands whose definitions say that they only read (`readOnlyHint`)."""
        ...

    @property
    def titles(self) -> Mapping[str, str]:
        """What commands are called for people, of those that tell it."""
        ...

    @property
    def system(self) -> str:
        """The system prompt that the application has for a model."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any], limit: float) -> Outcome:
        """Call a command. limit: seconds. Raises HarnessError where the application is gone, or does not answer."""
        ...

    def state(self, limit: float) -> Any:
        """The application's state, as it tells it (JSON); None where it tells none."""
        ...


@contextmanager
def open_layer(agent: AgentConfig, *, root: Path, suite: Path, env: Mapping[str, str],
               home: Path, often: bool = False) -> Iterator[CommandLayer]:
    """Start what an agent's registry names, for the time of a `with`; what it started ends with it.

    root, suite: the project's folder, and that of the suite: where modules are looked for, and commands run. env: the
    environment of a case's commands. home: a folder for what it prints. often: it is started for many cases at a time.
    Raises UserError where the registry, the system prompt or the state cannot be had.
    """
    state = root / agent.state if agent.state is not None else None
    if agent.registry_command is not None:
        from evalkit.execute.commands.mcp_server import open_mcp

        with open_mcp(agent, state, folders=(suite, root), env=env, home=home) as layer:
            yield layer
        return
    if agent.registry is None:
        raise UserError("the agent `tools` has no registry of commands",
                        hint='agent tools { registry "package.module:name" }')
    from evalkit.execute.commands.python import open_python

    with open_python(agent, state, folders=(suite, root), env=env, home=home, often=often) as layer:
        yield layer
