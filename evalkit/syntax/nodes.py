"""The syntax nodes: one frozen class a statement, each with the span that it came from.

Nothing here is resolved: names are names, paths are strings. Resolved things are other types (analysis/model.py), so
that a later stage cannot receive unchecked input. The nodes of checks and judges are in nodes_checks.py, those of calls
in nodes_calls.py.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalkit.diagnostics import Span
from evalkit.syntax.node import node
from evalkit.syntax.nodes_calls import (
    AnyOrder,
    ArgumentApprox,
    ArgumentCompare,
    ArgumentIn,
    ArgumentIncludes,
    ArgumentIs,
    ArgumentMatches,
    ArgumentNode,
    ArgumentOneOf,
    ArgumentPresence,
    ArgumentType,
    Call,
    CheckState,
    Either,
    Expect,
    Expected,
    Never,
)
from evalkit.syntax.nodes_checks import (
    Check,
    CheckDefined,
    CheckExists,
    CheckGrep,
    CheckHiddenTests,
    CheckKind,
    CheckPage,
    CheckPlugin,
    CheckRun,
    CheckSnapshot,
    CheckTranscript,
    Define,
    Expectation,
    Graded,
    Judge,
    PluginSetting,
    Score,
    StepAppend,
    StepEach,
    StepNode,
    StepPut,
    StepRun,
    Told,
    ToldBy,
)
from evalkit.syntax.nodes_live import (
    Act,
    ActClick,
    ActExpect,
    ActFind,
    ActKey,
    ActNote,
    ActSame,
    ActType,
    Live,
    LiveCommand,
    LiveEnv,
    LiveKind,
    LiveRegex,
    Target,
)
from evalkit.syntax.nodes_metrics import (
    Metrics,
    MetricsCompliance,
    MetricsDiagnostic,
    MetricsProfiles,
    MetricsShare,
    MetricsSources,
)
from evalkit.syntax.nodes_values import Data, Json, Name, Number, Pattern, Range, Real, Regex, Silence, Str

__all__ = [
    "Ablate", "About", "Act", "ActClick", "ActExpect", "ActFind", "ActKey", "ActNote", "ActSame", "ActType", "Agent",
    "Allow", "Answer", "AnyOrder", "Apt", "ArgumentApprox", "ArgumentCompare", "ArgumentIn", "ArgumentIncludes",
    "ArgumentIs", "ArgumentMatches", "ArgumentNode", "ArgumentOneOf", "ArgumentPresence", "ArgumentType", "Arm",
    "Build", "Caches", "CachesNone", "Call", "Case", "Check", "CheckDefined", "CheckExists", "CheckGrep",
    "CheckHiddenTests", "CheckKind", "CheckPage", "CheckPlugin", "CheckRun", "CheckSnapshot", "CheckState",
    "CheckTranscript", "Checkout", "CheckoutInstead", "Command", "Contract", "ContractNone", "Data", "Define", "Deny",
    "Either", "Env", "Expect", "Expectation", "Expected", "File", "Graded", "Guidance", "GuidanceNone", "Hides", "Json",
    "Judge", "Limits", "Live", "LiveCommand", "LiveEnv", "LiveKind", "LiveRegex", "Mcp", "McpNone", "Metrics",
    "MetricsCompliance", "MetricsDiagnostic", "MetricsProfiles", "MetricsShare", "MetricsSources", "Model", "Name",
    "Network", "NetworkNone", "Never", "Npm", "NpmNone", "Number", "Pattern", "Permissions", "Pip", "PipNone",
    "PluginSetting", "Prewarm", "PrewarmNone", "Profile", "Program", "Prompt", "Range", "Real", "Regex", "Registry",
    "RegistryMcp", "ScaffoldCopy", "ScaffoldRun", "ScaffoldTemplate", "Score", "Seed", "Setup", "Silence", "Skills",
    "SkillsNone", "Solution", "Starter", "State", "StepAppend", "StepEach", "StepNode", "StepPut", "StepRun", "Str",
    "Suffix", "Suite", "System", "Tags", "Target", "Temperature", "Tier", "Told", "ToldBy", "Toolchain", "Track",
    "Trials", "UseAgent", "UseNone", "UseProfile", "Wrong",
]


# ---- statements that set a trial up ----
@node
class About:
    text: Str
    span: Span


@node
class UseProfile:
    name: Name
    span: Span


@node
class UseNone:
    span: Span


@node
class UseAgent:
    name: Name
    span: Span


@node
class Prompt:
    text: Str
    span: Span


@node
class ScaffoldRun:
    command: Str
    limit: Number | None
    span: Span


@node
class ScaffoldCopy:
    path: Str
    span: Span


@node
class ScaffoldTemplate:
    """A folder that is copied, which many cases may share."""

    path: Str
    span: Span


@node
class Starter:
    path: Str
    span: Span


@node
class Skills:
    names: tuple[Name, ...]
    delivery: Literal["by", "from", "linked"]
    value: Str
    span: Span


@node
class SkillsNone:
    span: Span


@node
class Guidance:
    paths: tuple[Str, ...]
    span: Span


@node
class GuidanceNone:
    span: Span


@node
class Contract:
    path: Str
    span: Span


@node
class ContractNone:
    span: Span


@node
class Prewarm:
    commands: tuple[Str, ...]
    limit: Number | None
    span: Span


@node
class PrewarmNone:
    span: Span


@node
class Network:
    """`HOST:PORT`s that are reached behind walls."""

    places: tuple[Str, ...]
    span: Span


@node
class NetworkNone:
    span: Span


@node
class Caches:
    paths: tuple[Str, ...]
    span: Span


@node
class CachesNone:
    span: Span


@node
class Limits:
    turns: Number | None
    time: Number | None
    cost: Real | None
    tokens: Number | None
    span: Span


@node
class Temperature:
    value: Real
    span: Span


@node
class Trials:
    count: Number
    span: Span


@node
class Tags:
    names: tuple[Name, ...]
    span: Span


@node
class Env:
    name: Name
    value: Str
    span: Span


@node
class Answer:
    path: Str
    template: Str | None
    span: Span


Setup: TypeAlias = (
    ScaffoldRun | ScaffoldCopy | ScaffoldTemplate | Starter | Skills | SkillsNone | Guidance | GuidanceNone | Contract
    | ContractNone | Prewarm | PrewarmNone | Caches | CachesNone | Limits | Temperature | Trials | Tags | Env | Answer
    | Live | Network | NetworkNone)


# ---- toolchain, models, agent ----
@node
class Npm:
    pins: tuple[Str, ...]
    span: Span


@node
class Pip:
    pins: tuple[Str, ...]
    span: Span


@node
class Program:
    name: Name
    path: Str
    span: Span


@node
class Apt:
    packages: tuple[Str, ...]
    span: Span


@node
class Checkout:
    variable: Name | None
    path: Str
    build: Str
    limit: Number | None
    span: Span


@node
class Build:
    """The command that builds a checkout."""

    command: Str
    limit: Number | None
    span: Span


@node
class Hides:
    paths: tuple[Str, ...]
    span: Span


@node
class NpmNone:
    span: Span


@node
class PipNone:
    span: Span


@node
class CheckoutInstead:
    variable: Name
    body: tuple[Build | Hides | Caches | Npm | NpmNone | Pip | PipNone | Apt | Program | Env, ...]
    span: Span


@node
class Toolchain:
    name: Name
    body: tuple[Npm | Pip | Apt | Checkout | CheckoutInstead | Program | Env, ...]
    span: Span


@node
class Model:
    role: Literal["model", "judge-model"]
    variable: Name | None
    default: Str
    span: Span


@node
class Allow:
    tools: tuple[Name | Str, ...]
    span: Span


@node
class Deny:
    tools: tuple[Name | Str, ...]
    span: Span


@node
class Suffix:
    text: Str
    span: Span


@node
class McpNone:
    span: Span


@node
class Permissions:
    mode: Literal["accept-edits", "skip"]
    span: Span


@node
class Mcp:
    path: Str
    span: Span


@node
class Registry:
    name: Str
    span: Span


@node
class RegistryMcp:
    command: Str
    span: Span


@node
class System:
    text: Str
    span: Span


@node
class State:
    path: Str
    span: Span


@node
class Command:
    command: Str
    span: Span


@node
class Seed:
    value: Number
    span: Span


@node
class Agent:
    name: Name
    body: tuple[
        Allow | Deny | Suffix | Permissions | Mcp | McpNone | Registry | RegistryMcp | System | State | Command
        | Temperature | Seed | Env,
        ...,
    ]
    span: Span


@node
class Solution:
    path: Str
    span: Span


@node
class Wrong:
    """tests: of a check that runs hidden tests, by its name, the tests that fail."""

    path: Str
    fails: tuple[Name, ...]
    span: Span
    tests: tuple[tuple[Name, Str], ...] = ()


# ---- the levels, and a file ----
@node
class Profile:
    name: Name
    extends: Name | None
    body: tuple[About | UseAgent | Setup | Graded | Silence, ...]
    span: Span


@node
class Tier:
    name: Name
    about: Str | None
    requires: Literal["schema flat", "confirmation", "read"] | None
    span: Span
    commands: tuple[Name, ...] = ()


@node
class Ablate:
    """by: what is left out, one at a time."""

    by: Literal["section", "subsection", "document"]
    span: Span


@node
class Arm:
    name: Name
    body: tuple[About | Agent | UseProfile | UseNone | UseAgent | Model | Setup | Ablate | Silence, ...]
    span: Span


@node
class Suite:
    name: Name
    body: tuple[
        About | Toolchain | Tier | Arm | Profile | Define | Metrics | Agent | Model | UseAgent | Setup | Graded
        | Silence, ...]
    span: Span


@node
class Track:
    name: Name
    body: tuple[
        About | Agent | UseProfile | UseNone | UseAgent | Model | Setup | Graded | Expect | Never | Solution | Wrong
        | Silence,
        ...,
    ]
    span: Span


@node
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


@node
class File:
    suites: tuple[Suite, ...]
    cases: tuple[Case, ...]
    span: Span
