"""The registry of commands, and sessions that call them on a state of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.command import Command, Commands, Rejected
from viewer.dataset import Element
from viewer.display import DISPLAY
from viewer.findings import Findings
from viewer.gate import Gate
from viewer.reading import READING
from viewer.reporting import REPORTING
from viewer.schema import problems
from viewer.spatial import SPATIAL
from viewer.view import View

__all__ = ["Registry", "Session", "registry", "tool_definitions"]


class Session:
    """A viewer with a data set, as one person uses it."""

    def __init__(self, commands: Mapping[str, Command], told: Mapping[str, Any]) -> None:
        """told: what `state()` tells, or the part of it that is known; the data set must be."""
        self.commands = commands
        self.view = View.of(told)
        self.findings = Findings(told.get("findings", ()))
        self.gate = Gate(told.get("confirmationKey"))

    def tool_definitions(self) -> list[dict[str, Any]]:
        return [command.definition() for command in self.commands.values()]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Do a command. Raises Rejected where it is not done, with the reason."""
        command = self.commands.get(name)
        if command is None:
            raise Rejected(f"there is no command {name!r}")
        if found := list(problems(arguments, command.schema)):
            raise Rejected("; ".join(found))
        given = dict(arguments)
        if command.asks is not None:
            token = given.pop("confirm", None)
            what = command.asks(self, **given)
            if token is None:
                return self.gate.ask(name, given, what)
            self.gate.take(token, name, given, what)
        return command.run(self, **given)

    def state(self) -> dict[str, Any]:
        return {**self.view.told(), "findings": self.findings.all()}

    def element(self, name: str) -> Element:
        """Raises Rejected where the structure has no such part."""
        found = self.view.dataset.element(name)
        if found is None:
            known = ", ".join(one.name for one in self.view.dataset.elements)
            raise Rejected(f"there is no element {name!r}; there are: {known}")
        return found


class Registry:
    """All commands of the viewer."""

    def __init__(self, commands: Mapping[str, Command]) -> None:
        self._commands = commands

    @property
    def commands(self) -> list[dict[str, Any]]:
        return self.tool_definitions()

    def tool_definitions(self) -> list[dict[str, Any]]:
        """What can be called: name, title, description, JSON Schema of the arguments, and annotations as in MCP."""
        return [command.definition() for command in self._commands.values()]

    def start(self, state: Mapping[str, Any]) -> Session:
        """Raises KeyError or ValueError for what is no state."""
        return Session(self._commands, state)


registry = Registry(Commands(DISPLAY, SPATIAL, READING, REPORTING))
tool_definitions = registry.tool_definitions
