"""The syntax nodes: one frozen class a statement, each with the span that it came from.

Nothing here is resolved: names are names, paths are strings. Resolved things are other types (analysis/model.py), so
that a later stage cannot receive unchecked input. The nodes of checks, judges and calls are in nodes_checks.py.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from evalkit.diagnostics import Span
from evalkit.syntax.nodes_checks import (
    ArgumentCompare,
    ArgumentIn,
    ArgumentIs,
    ArgumentNode,
    ArgumentOneOf,
    ArgumentType,
    Call,
    Check,
    CheckDefined,
    CheckExists,
    CheckGrep,
    CheckHiddenTests,
    CheckKind,
    CheckPage,
    CheckRun,
    CheckSnapshot,
    CheckTranscript,
    Define,
    Expect,
    Expectation,
    Graded,
    Judge,
    Never,
    Score,
    StepAppend,
    StepEach,
    StepNode,
    StepPut,
    StepRun,
)
from evalkit.syntax.nodes_values import Data, Json, Name, Number, Pattern, Range, Real, Regex, Silence, Str

__all__ = [
    "Ablate", "About", "Agent", "Allow", "Answer", "Apt", "ArgumentCompare", "ArgumentIn", "ArgumentIs",
    "ArgumentNode", "ArgumentOneOf", "ArgumentType", "Arm", "Caches", "CachesNone", "Call", "Case", "Check",
    "CheckDefined", "CheckExists", "CheckGrep", "CheckHiddenTests", "CheckKind", "CheckPage", "CheckRun",
    "CheckSnapshot", "CheckTranscript", "Checkout", "Command", "Contract", "ContractNone", "Data", "Define", "Deny",
    "Env", "Expect", "Expectation", "File", "Graded", "Guidance", "GuidanceNone", "Json", "Judge", "Limits", "Mcp",
    "McpNone", "Model", "Name", "Never", "Npm", "Number", "Pattern", "Permissions", "Pip", "Prewarm", "PrewarmNone",
    "Profile", "Program", "Prompt", "Range", "Real", "Regex", "Registry", "RegistryMcp", "ScaffoldCopy",
    "ScaffoldRun", "ScaffoldTemplate", "Score", "Seed", "Setup", "Silence", "Skills", "SkillsNone", "Solution",
    "Starter", "State", "StepAppend", "StepEach", "StepNode", "StepPut", "StepRun", "Str", "Suffix", "Suite",
    "System", "Tags", "Temperature", "Tier", "Toolchain", "Track", "Trials", "UseAgent", "UseNone", "UseProfile",
    "Wrong",
]


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
class ScaffoldTemplate:
    """A folder that is copied, which many cases may share."""

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
class Guidance:
    paths: tuple[Str, ...]
    span: Span


@frozen
class GuidanceNone:
    span: Span


@frozen
class Contract:
    path: Str
    span: Span


@frozen
class ContractNone:
    span: Span


@frozen
class Prewarm:
    commands: tuple[Str, ...]
    limit: Number | None
    span: Span


@frozen
class PrewarmNone:
    span: Span


@frozen
class Caches:
    paths: tuple[Str, ...]
    span: Span


@frozen
class CachesNone:
    span: Span


@frozen
class Limits:
    turns: Number | None
    time: Number | None
    cost: Real | None
    tokens: Number | None
    span: Span


@frozen
class Temperature:
    value: Real
    span: Span


@frozen
class Trials:
    count: Number
    span: Span


@frozen
class Tags:
    names: tuple[Name, ...]
    span: Span


@frozen
class Env:
    name: Name
    value: Str
    span: Span


@frozen
class Answer:
    path: Str
    template: Str | None
    span: Span


Setup: TypeAlias = (
    ScaffoldRun | ScaffoldCopy | ScaffoldTemplate | Starter | Skills | SkillsNone | Guidance | GuidanceNone | Contract
    | ContractNone | Prewarm | PrewarmNone | Caches | CachesNone | Limits | Temperature | Trials | Tags | Env | Answer)


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
class Apt:
    packages: tuple[Str, ...]
    span: Span


@frozen
class Checkout:
    variable: Name | None
    path: Str
    build: Str
    limit: Number | None
    span: Span


@frozen
class Toolchain:
    name: Name
    body: tuple[Npm | Pip | Apt | Checkout | Program | Env, ...]
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
class Permissions:
    mode: Literal["accept-edits", "skip"]
    span: Span


@frozen
class Mcp:
    path: Str
    span: Span


@frozen
class Registry:
    name: Str
    span: Span


@frozen
class RegistryMcp:
    command: Str
    span: Span


@frozen
class System:
    text: Str
    span: Span


@frozen
class State:
    path: Str
    span: Span


@frozen
class Command:
    command: Str
    span: Span


@frozen
class Seed:
    value: Number
    span: Span


@frozen
class Agent:
    name: Name
    body: tuple[
        Allow | Deny | Suffix | Permissions | Mcp | McpNone | Registry | RegistryMcp | System | State | Command
        | Temperature | Seed | Env,
        ...,
    ]
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


# ---- the levels, and a file ----
@frozen
class Profile:
    name: Name
    extends: Name | None
    body: tuple[About | UseAgent | Setup | Graded | Silence, ...]
    span: Span


@frozen
class Tier:
    name: Name
    about: Str | None
    requires: Literal["schema flat", "confirmation", "read"] | None
    span: Span


@frozen
class Ablate:
    span: Span


@frozen
class Arm:
    name: Name
    body: tuple[About | Agent | UseProfile | UseNone | UseAgent | Model | Setup | Ablate | Silence, ...]
    span: Span


@frozen
class Suite:
    name: Name
    body: tuple[
        About | Toolchain | Tier | Arm | Profile | Define | Agent | Model | UseAgent | Setup | Graded | Silence, ...]
    span: Span


@frozen
class Track:
    name: Name
    body: tuple[
        About | Agent | UseProfile | UseNone | UseAgent | Model | Setup | Graded | Expect | Never | Solution | Wrong
        | Silence,
        ...,
    ]
    span: Span


@frozen
class Case:
    """`prompt` is the one that stands behind the name."""

    name: Name
    tier: Name | None
    prompt: Str | None
    body: tuple[
        About | Prompt | Track | Agent | UseProfile | UseNone | UseAgent | Model | Setup | Graded | Expect | Never
        | Solution | Wrong | Silence,
        ...,
    ]
    span: Span


@frozen
class File:
    suites: tuple[Suite, ...]
    cases: tuple[Case, ...]
    span: Span
