"""The agent of a unit: which one is selected, and what its blocks of all levels say.

What an inner level says replaces, but for `allow`, `deny` and variables, which add up. Within a level an agent's own
block wins over the statements `temperature` and `env`, which hold for whichever agent it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalkit.analysis import model as m
from evalkit.analysis.findings import Findings
from evalkit.analysis.levels import Block
from evalkit.analysis.placeholders import project_files
from evalkit.analysis.scope import Scope
from evalkit.analysis.values import is_function
from evalkit.diagnostics import Span, did_you_mean
from evalkit.plugins import AGENTS, find_plugin, plugin_names
from evalkit.syntax import nodes as n
from evalkit.values import evolve

__all__ = ["resolve_agent", "resolve_other_agents"]

COMMAND_PLACEHOLDERS = ("home", "model", "project", "prompt_file", "workspace")
SERVER_PLACEHOLDERS = ("state",)
"""What stands in the command line of agent `command`."""
HOTTEST = 2
"""The highest temperature that models know."""


def resolve_agent(scope: Scope, default: str) -> m.AgentConfig:
    """The agent that a unit selects, with its configuration. `default` is the one where nobody says."""
    name = default
    for _, use in scope.levels.all(n.UseAgent):
        name = _known_agent(scope.findings, use.name)
        scope.note("agent.name", use.span)
    return _configured(scope, name)


def resolve_other_agents(scope: Scope, selected: str) -> tuple[m.AgentConfig, ...]:
    """The agents that are configured beside the selected one: the command line may name them. One without a name has
    what holds for any agent.
    """
    names = {_known_agent(scope.findings, agent.name): None for _, agent in scope.levels.all(n.Agent)}
    if any(scope.levels.all(n.Temperature, n.Env)):
        names[""] = None
    silent = evolve(scope, origins={})
    return tuple(_configured(silent, name) for name in names if name != selected)


def _configured(scope: Scope, name: str) -> m.AgentConfig:
    builder = _Builder(scope)
    for block in scope.levels.blocks:
        builder.common(block)
        for agent in block.all(n.Agent):
            if _known_agent(scope.findings, agent.name) == name:
                for statement in agent.body:
                    builder.statement(block.folder, statement)
    return m.AgentConfig(name, tuple(builder.allow), tuple(builder.deny), env=tuple(builder.env.items()),
                         **builder.rest)


def _known_agent(findings: Findings, name: n.Name) -> str:
    if name.value not in AGENTS and find_plugin("agents", name.value) is None:
        known = (*AGENTS, *plugin_names("agents"))
        findings.report("E024", f"there is no agent `{name.value}`", name.span,
                        help=did_you_mean(name.value, known, limit=len(known)))
    return name.value


class _Builder:
    """Collects a configuration, from the outside in. `rest`: what replaces, by the fields of AgentConfig."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.values = scope.values
        self.allow: dict[str, None] = {}
        self.deny: dict[str, None] = {}
        self.env: dict[str, str] = {}
        self.rest: dict[str, Any] = {}

    def common(self, block: Block) -> None:
        """The statements of a level that hold for any agent."""
        for kind in (n.Temperature, n.Env):
            for statement in block.by_kind.get(kind, ()):
                self.statement(block.folder, statement)

    def set(self, span: Span, **fields: Any) -> None:
        self.rest |= fields
        for field in fields:
            self.scope.note(f"agent.{field}", span)

    def rules(self, kind: str, rules: dict[str, None], tools: tuple[n.Name | n.Str, ...]) -> None:
        for tool in tools:
            if not tool.value.strip():
                self.scope.report("E053", "a rule is not empty", tool.span)
            if tool.value not in rules:
                rules[tool.value] = None
                self.scope.note(f"agent.{kind}.{tool.value}", tool.span)

    def file(self, folder: Path, path: n.Str) -> str | None:
        return self.scope.suite.files.find(folder, path.value, path.span, "file")

    def command(self, text: n.Str) -> m.Command:
        """The command line of agent `command`. What it names with `{project}/` is there."""
        command = self.values.command(text, COMMAND_PLACEHOLDERS, None)
        for path in project_files(command):
            if (self.scope.suite.files.root / path).exists():
                self.scope.findings.looked.add(path)
            else:
                self.scope.report("E040", f"`{path}` does not exist", text.span,
                                  help="`{project}` is the project's folder")
        return command

    def statement(self, folder: Path, node: Any) -> None:
        span = node.span
        match node:
            case n.Allow(tools=tools):
                self.rules("allow", self.allow, tools)
            case n.Deny(tools=tools):
                self.rules("deny", self.deny, tools)
            case n.Env(name=name, value=value):
                self.env[self.values.variable(name)] = value.value
                self.scope.note(f"agent.env.{name.value}", span)
            case n.Suffix(text=text):
                self.set(span, suffix=text.value)
            case n.Permissions(mode=mode):
                self.set(span, permissions=mode)
            case n.Mcp(path=path):
                self.set(span, mcp=self.file(folder, path))
            case n.McpNone():
                self.set(span, mcp=None)
            case n.Registry(name=name):
                self.set(span, registry=self.values.function(name), registry_command=None)
            case n.RegistryMcp(command=command):
                self.set(span, registry=None, registry_command=self.values.command(command, SERVER_PLACEHOLDERS, None))
            case n.System(text=text):
                written, function = (None, text.value) if is_function(text) else (text.value, None)
                self.set(span, system=written, system_function=function)
            case n.State(path=path):
                self.set(span, state=self.file(folder, path))
            case n.Command(command=command):
                self.set(span, command=self.command(command))
            case n.Temperature(value=value):
                self.values.bounded(value, 0, HOTTEST, "a temperature")
                self.set(span, temperature=float(value.value))
            case n.Seed(value=value):
                self.set(span, seed=value.value)
