"""The syntax nodes: one frozen class a statement, each with the span that it came from.

Nothing here is resolved: names are names, paths are strings. Resolved things are other types (analysis/model.py), so
that a later stage cannot receive unchecked input.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from evalkit.diagnostics import Span

__all__ = [
    "About", "Agent", "Allow", "Caches", "Case", "Check", "CheckDefined", "CheckGrep", "CheckKind", "CheckRun",
    "CheckSnapshot", "Define", "Deny", "Env", "File", "Judge", "Limits", "McpNone", "Model", "Name", "Npm",
    "Number", "Pattern", "Pip", "Prewarm", "Profile", "Program", "Prompt", "Regex", "ScaffoldCopy", "ScaffoldRun",
    "Setup", "Skills", "SkillsNone", "Solution", "Starter", "StepAppend", "StepEach", "StepNode", "StepPut",
    "StepRun", "Str", "Suffix", "Suite", "Toolchain", "UseAgent", "UseNone", "UseProfile", "Wrong",
]


# ---- values ----
@frozen
class Name:
    value: str
    span: Span


@frozen
class Str:
    """A string. `block` tells a text block from a quoted string; `value` has escapes and indentation resolved."""

    value: str
    span: Span
    block: bool = False


@frozen
class Regex:
    pattern: str
    flags: str
    span: Span


@frozen
class Number:
    """A count, or a duration in seconds."""

    value: int
    span: Span


Pattern: TypeAlias = Str | Regex


# ---- statements that set a trial up ----
@frozen
class About:
    text: Str
    span: Span


@frozen
class UseProfile:
    name: Name
    span: Span


@frozen
class UseNone:
    span: Span


@frozen
class UseAgent:
    name: Name
    span: Span


@frozen
class Prompt:
    text: Str
    span: Span


@frozen
class ScaffoldRun:
    command: Str
    limit: Number | None
    span: Span


@frozen
class ScaffoldCopy:
    path: Str
    span: Span


@frozen
class Starter:
    path: Str
    span: Span


@frozen
class Skills:
    names: tuple[Name, ...]
    delivery: Literal["by", "from"]
    value: Str
    span: Span


@frozen
class SkillsNone:
    span: Span


@frozen
class Prewarm:
    commands: tuple[Str, ...]
    limit: Number | None
    span: Span


@frozen
class Caches:
    paths: tuple[Str, ...]
    span: Span


@frozen
class Limits:
    turns: Number | None
    time: Number | None
    span: Span


Setup: TypeAlias = ScaffoldRun | ScaffoldCopy | Starter | Skills | SkillsNone | Prewarm | Caches | Limits


# ---- toolchain, models, agent ----
@frozen
class Npm:
    pins: tuple[Str, ...]
    span: Span


@frozen
class Pip:
    pins: tuple[Str, ...]
    span: Span


@frozen
class Program:
    name: Name
    path: Str
    span: Span


@frozen
class Env:
    name: Name
    value: Str
    span: Span


@frozen
class Toolchain:
    name: Name
    body: tuple[Npm | Pip | Program | Env, ...]
    span: Span


@frozen
class Model:
    role: Literal["model", "judge-model"]
    variable: Name | None
    default: Str
    span: Span


@frozen
class Allow:
    tools: tuple[Name | Str, ...]
    span: Span


@frozen
class Deny:
    tools: tuple[Name | Str, ...]
    span: Span


@frozen
class Suffix:
    text: Str
    span: Span


@frozen
class McpNone:
    span: Span


@frozen
class Agent:
    name: Name
    body: tuple[Allow | Deny | Suffix | McpNone | Env, ...]
    span: Span


# ---- checks ----
@frozen
class StepPut:
    source: Str
    target: Str
    span: Span


@frozen
class StepAppend:
    target: Str
    text: Str
    span: Span


@frozen
class StepEach:
    glob: Str
    command: Str
    limit: Number | None
    span: Span


@frozen
class StepRun:
    command: Str
    limit: Number | None
    span: Span


StepNode: TypeAlias = StepPut | StepAppend | StepEach | StepRun


@frozen
class Define:
    name: Name
    params: tuple[Name, ...]
    title: Str | None
    steps: tuple[StepNode, ...]
    span: Span


@frozen
class CheckRun:
    command: Str
    span: Span


@frozen
class CheckGrep:
    globs: tuple[Str, ...]
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span


@frozen
class CheckSnapshot:
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span


@frozen
class CheckDefined:
    name: Name
    span: Span


CheckKind: TypeAlias = CheckRun | CheckGrep | CheckSnapshot | CheckDefined


@frozen
class Check:
    kind: CheckKind
    ids: tuple[Name, ...]
    lanes: tuple[Name, ...]
    advisory: bool
    limits: tuple[Number, ...]
    texts: tuple[Str, ...]
    span: Span


@frozen
class Judge:
    title: Str | None
    id: Name | None
    files: tuple[Str, ...]
    threshold: Number | None
    advisory: bool
    criteria: tuple[Str, ...]
    context: tuple[Str, ...]
    span: Span


@frozen
class Solution:
    path: Str
    span: Span


@frozen
class Wrong:
    path: Str
    fails: tuple[Name, ...]
    span: Span


# ---- the three levels, and a file ----
@frozen
class Profile:
    name: Name
    extends: Name | None
    body: tuple[About | UseAgent | Setup | Check | Judge, ...]
    span: Span


@frozen
class Suite:
    name: Name
    body: tuple[About | Toolchain | Model | Agent | UseAgent | Profile | Define | Setup | Check | Judge, ...]
    span: Span


@frozen
class Case:
    name: Name
    body: tuple[
        About | UseProfile | UseNone | UseAgent | Prompt | Model | Agent | Setup | Check | Judge | Solution | Wrong,
        ...,
    ]
    span: Span


@frozen
class File:
    suites: tuple[Suite, ...]
    cases: tuple[Case, ...]
    span: Span
