"""The agents by name."""

from __future__ import annotations

from evalkit.errors import UserError
from evalkit.execute.agents.base import Agent
from evalkit.execute.agents.scripted import Nop, Overlay
from evalkit.execute.models.provider import Endpoint
from evalkit.plan.trials import Subject

__all__ = ["Agents"]


class Agents:
    """Makes agents; what is common to a run (endpoint, another program) is given once."""

    def __init__(self, endpoint: Endpoint | None, claude: str | None) -> None:
        self._endpoint = endpoint
        self._claude = claude
        self._made: dict[str, Agent] = {}

    def of(self, subject: Subject) -> Agent:
        """The agent of a subject. Raises UserError where it cannot be run, or its program is missing."""
        name = subject.agent
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Agent:
        if name == "claude":
            from evalkit.execute.agents.claude import ClaudeCode  # it imports much

            return ClaudeCode.of(self._endpoint, self._claude)
        if name == "nop":
            return Nop()
        if name == "oracle" or name.startswith("wrong:"):
            return Overlay()
        raise UserError(f"this evalkit compiles cases for the agent `{name}`, but cannot run it yet",
                        hint="agent=oracle plays a case's reference answer, where it has one")
