"""Compiled cases: plain, frozen data with nothing left to look up.

Paths are strings relative to the project's root, with `/`, so that equal projects in two places compile to equal data.
`origin` is `file:line:column` of the statement, for messages; no key ever reads it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

__all__ = [
    "AgentConfig", "Append", "Case", "Check", "CheckSpec", "Command", "Each", "GrepSpec", "Judge", "Limits",
    "ModelChoice", "Pattern", "Put", "Run", "RunSpec", "Scaffold", "Setup", "Skill", "SnapshotSpec", "Step",
    "StepsSpec", "SuiteInfo", "Toolchain", "Wrong",
]


@frozen
class Command:
    """A command as words with placeholders. Never a shell: what replaces a placeholder stays within its word."""

    words: tuple[str, ...]
    limit: int
    """Seconds of wall clock."""


@frozen
class Toolchain:
    """Pinned packages, and what they put into the environment. `{npm}` and `{pip}` are their folders."""

    name: str
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    programs: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    origin: str = ""


@frozen
class Scaffold:
    """Either a command that makes `{workspace}`, or a folder that is copied."""

    command: Command | None
    folder: str | None
    origin: str


@frozen
class Skill:
    """One skill: the command that prints its SKILL.md, or its folder."""

    name: str
    command: Command | None
    folder: str | None
    origin: str


@frozen
class Limits:
    turns: int = 80
    time: int = 1200
    """Seconds of wall clock."""


@frozen
class ModelChoice:
    """The model's slug: from this environment variable where it is set, else the default."""

    variable: str | None
    default: str


@frozen
class AgentConfig:
    name: str
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    suffix: str = ""
    env: tuple[tuple[str, str], ...] = ()


@frozen
class Setup:
    """What a trial's workspace is made from."""

    toolchains: tuple[Toolchain, ...]
    scaffold: Scaffold
    starter: str | None
    skills: tuple[Skill, ...]
    prewarm: tuple[Command, ...]
    caches: tuple[str, ...]


# ---- checks ----
@frozen
class Pattern:
    """A literal text or a regex (the `regex` package's dialect, multi-line; `flags` from i, s, x)."""

    text: str
    regex: bool = False
    flags: str = ""


@frozen
class RunSpec:
    command: Command


@frozen
class GrepSpec:
    globs: tuple[str, ...]
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]


@frozen
class SnapshotSpec:
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]


@frozen
class Put:
    source: str
    target: str


@frozen
class Append:
    target: str
    text: str


@frozen
class Each:
    glob: str
    command: Command


@frozen
class Run:
    command: Command


Step: TypeAlias = Put | Append | Each | Run


@frozen
class StepsSpec:
    """A `define check`, with its arguments put in."""

    steps: tuple[Step, ...]


CheckSpec: TypeAlias = RunSpec | GrepSpec | SnapshotSpec | StepsSpec


@frozen
class Check:
    """`spec` is all that its grader reads of the case; the rest only decides where it counts and how it is shown."""

    id: str
    kind: str
    spec: CheckSpec
    lanes: tuple[str, ...]
    advisory: bool
    description: str
    origin: str


@frozen
class Judge:
    id: str
    title: str
    files: tuple[str, ...]
    threshold: int | None
    advisory: bool
    criteria: tuple[str, ...]
    context: tuple[str, ...]
    origin: str


@frozen
class Wrong:
    """An answer that must fail the named checks."""

    name: str
    folder: str
    fails: tuple[str, ...]
    origin: str


@frozen
class SuiteInfo:
    name: str
    about: str
    folder: str
    origin: str


@frozen
class Case:
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
