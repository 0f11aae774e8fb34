"""Compiled cases: plain, frozen data with nothing left to look up.

A `Case` is one unit: a case on one track and one arm. It is written as JSON and read back by evalkit.records.

Paths are strings relative to the project's root, with `/`, so that equal projects in two places compile to equal data.
`origin` is `file:line:column` of the statement, `origins` that of each value; no key ever reads them. Fields that were
added when results were already stored are marked as GROWN (digest.py).
"""

from __future__ import annotations

from typing import Literal

from evalkit.analysis.model_calls import (
    AnyOrder,
    ArgumentTest,
    Call,
    CallsSpec,
    Either,
    Expected,
    StateSpec,
)
from evalkit.analysis.model_checks import (
    Append,
    Check,
    CheckSpec,
    Command,
    Each,
    ExistsSpec,
    GrepSpec,
    HiddenTestsSpec,
    Judge,
    OutputTest,
    PageSpec,
    Pattern,
    PluginSpec,
    Put,
    Run,
    RunSpec,
    ScoreSpec,
    Silence,
    SnapshotSpec,
    Step,
    StepsSpec,
    TranscriptSpec,
)
from evalkit.analysis.model_live import Live
from evalkit.digest import GROWN
from evalkit.values import Value, evolve, field

__all__ = [
    "AgentConfig", "AnyOrder", "Append", "ArgumentTest", "Arm", "Call", "CallsSpec", "Case", "Check", "CheckSpec",
    "Checkout", "Command", "Diagnostics", "Each", "Either", "ExistsSpec", "Expected", "GrepSpec", "Guidance",
    "HiddenTestsSpec", "Judge", "Limits", "Live", "Metrics", "ModelChoice", "OutputTest", "PageSpec", "Pattern",
    "PluginSpec", "Put", "Run", "RunSpec", "Scaffold", "ScoreSpec", "Setup", "Silence", "Skill", "SnapshotSpec",
    "StateSpec", "Step", "StepsSpec", "SuiteInfo", "Tier", "Toolchain", "TranscriptSpec", "Wrong",
]


class Checkout(Value):
    """A working copy of the program under test: from this environment variable where it is set, else at `path`.

    `path` is relative to the project's root, may lead out of it, and may not be there. `build` runs in it. caches: what
    building makes; hides: what no command sees. Neither belongs to the tree.
    folder, tree: where it is on this machine, and the digest of its files: not before a run has looked.
    """

    variable: str | None
    path: str
    build: Command
    origin: str
    caches: tuple[str, ...] = field(default=(), metadata=GROWN)
    hides: tuple[str, ...] = field(default=(), metadata=GROWN)
    folder: str = field(default="", metadata=GROWN)
    tree: str = field(default="", metadata=GROWN)


class Toolchain(Value):
    """Pinned packages, and what they put into the environment. `{npm}` and `{pip}` are their folders.

    `apt`: packages that the system must have; they are not installed. `{checkout}` is the checkout's folder.
    """

    name: str
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    programs: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    apt: tuple[str, ...] = field(default=(), metadata=GROWN)
    checkout: Checkout | None = field(default=None, metadata=GROWN)
    instead: Toolchain | None = field(default=None, metadata=GROWN)
    """What it is where the environment variable of that one's checkout is set."""


class Scaffold(Value):
    """Either a command that makes `{workspace}`, or a folder that is copied. Neither: the workspace starts empty."""

    command: Command | None
    folder: str | None
    origin: str


class Skill(Value):
    """One skill: the command that prints its SKILL.md, or its folder. linked: the agent finds a link to it."""

    name: str
    command: Command | None
    folder: str | None
    origin: str
    linked: bool = field(default=False, metadata=GROWN)


class Guidance(Value):
    """A document for the system prompt. `without`: headings (`## …`) whose sections are left out."""

    path: str
    without: tuple[str, ...] = ()


class Limits(Value):
    turns: int = 80
    time: int = 1200
    """Seconds of wall clock."""
    cost: float | None = field(default=None, metadata=GROWN)
    """Dollars."""
    tokens: int | None = field(default=None, metadata=GROWN)


class ModelChoice(Value):
    """The model's slug: from this environment variable where it is set, else the default."""

    variable: str | None
    default: str


class AgentConfig(Value):
    """The agent that a case selects, and how it is configured.

    mcp: the file that configures its MCP servers; None: no server reaches it.
    registry: `package.module:name` of the commands of agent `tools`; registry_command: an MCP server that has them.
    system: the text of the system prompt; system_function: `package.module:name` of the function that builds it.
    state: the file that the commands start from. command: the command line of agent `command`; limits.time holds for
    it, not the command's own limit.
    """

    name: str
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    suffix: str = ""
    env: tuple[tuple[str, str], ...] = ()
    permissions: Literal["accept-edits", "skip"] = field(default="accept-edits", metadata=GROWN)
    mcp: str | None = field(default=None, metadata=GROWN)
    registry: str | None = field(default=None, metadata=GROWN)
    registry_command: Command | None = field(default=None, metadata=GROWN)
    system: str | None = field(default=None, metadata=GROWN)
    system_function: str | None = field(default=None, metadata=GROWN)
    state: str | None = field(default=None, metadata=GROWN)
    command: Command | None = field(default=None, metadata=GROWN)
    temperature: float | None = field(default=None, metadata=GROWN)
    seed: int | None = field(default=None, metadata=GROWN)

    @property
    def has_commands(self) -> bool:
        return self.registry is not None or self.registry_command is not None


_WITHOUT_MODEL = ("oracle", "palette")
"""Agents that may call commands and ask no model."""


class Setup(Value):
    """What a trial's workspace is made from, and what its agent is given to read.

    answer: the file of the workspace that a single answer is written to. live: how `check snapshot` runs the app.
    network: the `HOST:PORT`s that commands and agents may reach behind walls.
    """

    toolchains: tuple[Toolchain, ...]
    scaffold: Scaffold
    starter: str | None
    skills: tuple[Skill, ...]
    prewarm: tuple[Command, ...]
    caches: tuple[str, ...]
    guidance: tuple[Guidance, ...] = field(default=(), metadata=GROWN)
    contract: str | None = field(default=None, metadata=GROWN)
    answer: str | None = field(default=None, metadata=GROWN)
    live: Live | None = field(default=None, metadata=GROWN)
    network: tuple[str, ...] = field(default=(), metadata=GROWN)


class Wrong(Value):
    """An answer that must fail the named checks. tests: of a check of hidden tests, those that fail, and no others."""

    name: str
    folder: str
    fails: tuple[str, ...]
    origin: str
    tests: tuple[tuple[str, str], ...] = field(default=(), metadata=GROWN)


class Tier(Value):
    """A group of cases. `requires`: what the schemas of the commands that its cases expect must be like.

    `commands`: each of its cases expects one of them.
    """

    name: str
    about: str
    requires: Literal["schema flat", "confirmation", "read"] | None
    origin: str
    commands: tuple[str, ...] = field(default=(), metadata=GROWN)


class Arm(Value):
    """An arm as it was declared. `ablates`: it stands for one arm a section of a case's guidance, `NAME.SECTION`."""

    name: str
    about: str
    ablates: bool
    origin: str


class Diagnostics(Value):
    """What commands say of a violation. label: what it is counted as, with the pattern's named groups; None: what it
    matched. teaching: whether it says how to do better.
    """

    pattern: Pattern
    label: str | None
    teaching: bool


class Metrics(Value):
    """What of a transcript tells how the work was done, for cases and tracks that use one of these profiles.

    compliance: commands that tell whether the sources comply: a text is how such a command begins, a regex is found in
    it. sources: what the agent writes to that end. shares: of the written lines, those in certain files, by name.
    """

    name: str
    profiles: tuple[str, ...]
    compliance: tuple[Pattern, ...]
    sources: tuple[str, ...]
    diagnostics: tuple[Diagnostics, ...]
    shares: tuple[tuple[str, tuple[str, ...]], ...]


class SuiteInfo(Value):
    name: str
    about: str
    folder: str
    origin: str
    tiers: tuple[Tier, ...] = field(default=(), metadata=GROWN)
    arms: tuple[Arm, ...] = field(default=(), metadata=GROWN)
    metrics: tuple[Metrics, ...] = field(default=(), metadata=GROWN)

    def metrics_of(self, profile: str) -> Metrics | None:
        """The metrics of the cases that use a profile."""
        return next((group for group in self.metrics if profile in group.profiles), None)


class Case(Value):
    """One unit. `track` and `arm` are None where the case has no tracks and its suite no arms."""

    name: str
    suite: SuiteInfo
    about: str
    folder: str
    origin: str
    prompt: str
    profile: str
    setup: Setup
    limits: Limits
    agent: AgentConfig
    model: ModelChoice
    judge_model: ModelChoice
    checks: tuple[Check, ...]
    judges: tuple[Judge, ...]
    solution: str | None
    wrongs: tuple[Wrong, ...]
    track: str | None = field(default=None, metadata=GROWN)
    arm: str | None = field(default=None, metadata=GROWN)
    tier: str | None = field(default=None, metadata=GROWN)
    tags: tuple[str, ...] = field(default=(), metadata=GROWN)
    trials: int | None = field(default=None, metadata=GROWN)
    """Samples that the case asks for; None: one, or what the command line says."""
    other_agents: tuple[AgentConfig, ...] = field(default=(), metadata=GROWN)
    """How agents are configured that the case does not select; one without a name: any agent that has no block."""
    silenced: tuple[Silence, ...] = ()
    origins: dict[str, str] = field(factory=dict, hash=False)
    """The place that each value is from, by its path: `limits.turns`, `setup.skills.zig`, `checks.loop`,
    `agent.allow.Read`. What nobody wrote, a default, has none."""

    @property
    def unit(self) -> str:
        """Its name among all units of a project: `case`, `case@track`, `case+arm` or `case@track+arm`."""
        track = "" if self.track is None else f"@{self.track}"
        return f"{self.name}{track}" if self.arm is None else f"{self.name}{track}+{self.arm}"

    def configured_for(self, agent: str) -> AgentConfig:
        """How an agent is configured: the one that the case selects, or another one.

        Who calls commands without a model calls those of agent `tools`, unless it has a registry of its own.
        """
        if agent == self.agent.name:
            return self.agent
        others = {other.name: other for other in (*self.other_agents, self.agent)}
        if agent in _WITHOUT_MODEL and "tools" in others and not (agent in others and others[agent].has_commands):
            return evolve(others["tools"], name=agent)
        common = others.get("")
        bare = AgentConfig(agent, env=common.env, temperature=common.temperature) if common else AgentConfig(agent)
        return others.get(agent, bare)

    @property
    def temperature(self) -> float | None:
        return self.agent.temperature

    def skips(self, check: Check) -> str:
        """Why a check does not count for this unit, in words; empty where it does. Lanes are not looked at."""
        if check.tracks and self.track not in check.tracks:
            return f"not graded on this track (only on {', '.join(check.tracks)})"
        if check.arms and self.arm not in check.arms:
            return f"not graded on this arm (only on {', '.join(check.arms)})"
        return ""
