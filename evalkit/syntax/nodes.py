"""The syntax nodes: one frozen class a statement, each with the span that it came from.

Nothing here is resolved: names are names, paths are strings. Resolved things are other types (analysis/model.py), so
that a later stage cannot receive unchecked input. The nodes of checks and judges are in nodes_checks.py. What only live
checks, calls and metrics consist of is in modules that are imported where a file has some: nodes_live.py,
nodes_calls.py, nodes_metrics.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from evalkit.diagnostics import Span
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
    CheckState,
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
from evalkit.syntax.nodes_values import Data, Json, Name, Number, Pattern, Range, Real, Regex, Silence, Str
from evalkit.values import Node

if TYPE_CHECKING:
    from evalkit.syntax.nodes_calls import Call, Expected
    from evalkit.syntax.nodes_live import LiveCommand, LiveEnv, LiveRegex
    from evalkit.syntax.nodes_metrics import (
        MetricsCompliance,
        MetricsDiagnostic,
        MetricsProfiles,
        MetricsShare,
        MetricsSources,
    )

__all__ = [
    "Ablate", "About", "Agent", "Allow", "Answer", "Apt", "Arm", "Build", "Caches", "CachesNone", "Case", "Check",
    "CheckDefined", "CheckExists", "CheckGrep", "CheckHiddenTests", "CheckKind", "CheckPage", "CheckPlugin", "CheckRun",
    "CheckSnapshot", "CheckState", "CheckTranscript", "Checkout", "CheckoutInstead", "Command", "Contract",
    "ContractNone", "Data", "Define", "Deny", "Env", "Expect", "Expectation", "File", "Graded", "Guidance",
    "GuidanceNone", "Hides", "Json", "Judge", "Limits", "Live", "Mcp", "McpNone", "Metrics", "Model", "Name", "Network",
    "NetworkNone", "Never", "Npm", "NpmNone", "Number", "Pattern", "Permissions", "Pip", "PipNone", "PluginSetting",
    "Prewarm", "PrewarmNone", "Profile", "Program", "Prompt", "Range", "Real", "Regex", "Registry", "RegistryMcp",
    "ScaffoldCopy", "ScaffoldRun", "ScaffoldTemplate", "Score", "Seed", "Setup", "Silence", "Skills", "SkillsNone",
    "Solution", "Starter", "State", "StepAppend", "StepEach", "StepNode", "StepPut", "StepRun", "Str", "Suffix",
    "Suite", "System", "Tags", "Temperature", "Tier", "Told", "ToldBy", "Toolchain", "Track", "Trials", "UseAgent",
    "UseNone", "UseProfile", "Wrong",
]


# ---- statements that set a trial up ----
class About(Node):
    text: Str
    span: Span


class UseProfile(Node):
    name: Name
    span: Span


class UseNone(Node):
    span: Span


class UseAgent(Node):
    name: Name
    span: Span


class Prompt(Node):
    text: Str
    span: Span


class ScaffoldRun(Node):
    command: Str
    limit: Number | None
    span: Span


class ScaffoldCopy(Node):
    path: Str
    span: Span


class ScaffoldTemplate(Node):
    """A folder that is copied, which many cases may share."""

    path: Str
    span: Span


class Starter(Node):
    path: Str
    span: Span


class Skills(Node):
    names: tuple[Name, ...]
    delivery: Literal["by", "from", "linked"]
    value: Str
    span: Span


class SkillsNone(Node):
    span: Span


class Guidance(Node):
    paths: tuple[Str, ...]
    span: Span


class GuidanceNone(Node):
    span: Span


class Contract(Node):
    path: Str
    span: Span


class ContractNone(Node):
    span: Span


class Prewarm(Node):
    commands: tuple[Str, ...]
    limit: Number | None
    span: Span


class PrewarmNone(Node):
    span: Span


class Network(Node):
    """`HOST:PORT`s that are reached behind walls."""

    places: tuple[Str, ...]
    span: Span


class NetworkNone(Node):
    span: Span


class Caches(Node):
    paths: tuple[Str, ...]
    span: Span


class CachesNone(Node):
    span: Span


class Limits(Node):
    turns: Number | None
    time: Number | None
    cost: Real | None
    tokens: Number | None
    span: Span


class Temperature(Node):
    value: Real
    span: Span


class Trials(Node):
    count: Number
    span: Span


class Tags(Node):
    names: tuple[Name, ...]
    span: Span


class Env(Node):
    name: Name
    value: Str
    span: Span


class Answer(Node):
    path: Str
    template: Str | None
    span: Span


class Live(Node):
    body: tuple[LiveCommand | LiveRegex | LiveEnv, ...]
    span: Span


Setup: TypeAlias = (
    ScaffoldRun | ScaffoldCopy | ScaffoldTemplate | Starter | Skills | SkillsNone | Guidance | GuidanceNone | Contract
    | ContractNone | Prewarm | PrewarmNone | Caches | CachesNone | Limits | Temperature | Trials | Tags | Env | Answer
    | Live | Network | NetworkNone)


# ---- toolchain, models, agent ----
class Npm(Node):
    pins: tuple[Str, ...]
    span: Span


class Pip(Node):
    pins: tuple[Str, ...]
    span: Span


class Program(Node):
    name: Name
    path: Str
    span: Span


class Apt(Node):
    packages: tuple[Str, ...]
    span: Span


class Checkout(Node):
    variable: Name | None
    path: Str
    build: Str
    limit: Number | None
    span: Span


class Build(Node):
    """The command that builds a checkout."""

    command: Str
    limit: Number | None
    span: Span


class Hides(Node):
    paths: tuple[Str, ...]
    span: Span


class NpmNone(Node):
    span: Span


class PipNone(Node):
    span: Span


class CheckoutInstead(Node):
    variable: Name
    body: tuple[Build | Hides | Caches | Npm | NpmNone | Pip | PipNone | Apt | Program | Env, ...]
    span: Span


class Toolchain(Node):
    name: Name
    body: tuple[Npm | Pip | Apt | Checkout | CheckoutInstead | Program | Env, ...]
    span: Span


class Model(Node):
    role: Literal["model", "judge-model"]
    variable: Name | None
    default: Str
    span: Span


class Allow(Node):
    tools: tuple[Name | Str, ...]
    span: Span


class Deny(Node):
    tools: tuple[Name | Str, ...]
    span: Span


class Suffix(Node):
    text: Str
    span: Span


class McpNone(Node):
    span: Span


class Permissions(Node):
    mode: Literal["accept-edits", "skip"]
    span: Span


class Mcp(Node):
    path: Str
    span: Span


class Registry(Node):
    name: Str
    span: Span


class RegistryMcp(Node):
    command: Str
    span: Span


class System(Node):
    text: Str
    span: Span


class State(Node):
    path: Str
    span: Span


class Command(Node):
    command: Str
    span: Span


class Seed(Node):
    value: Number
    span: Span


class Agent(Node):
    name: Name
    body: tuple[
        Allow | Deny | Suffix | Permissions | Mcp | McpNone | Registry | RegistryMcp | System | State | Command
        | Temperature | Seed | Env,
        ...,
    ]
    span: Span


class Expect(Node):
    """Calls in an order. only: no other call writes."""

    calls: tuple[Expected, ...]
    span: Span
    only: bool = False


class Never(Node):
    calls: tuple[Call, ...]
    span: Span


class Solution(Node):
    path: Str
    span: Span


class Wrong(Node):
    """tests: of a check that runs hidden tests, by its name, the tests that fail."""

    path: Str
    fails: tuple[Name, ...]
    span: Span
    tests: tuple[tuple[Name, Str], ...] = ()


class Metrics(Node):
    name: Name
    body: tuple[MetricsProfiles | MetricsCompliance | MetricsSources | MetricsDiagnostic | MetricsShare, ...]
    span: Span


# ---- the levels, and a file ----
class Profile(Node):
    name: Name
    extends: Name | None
    body: tuple[About | UseAgent | Setup | Graded | Silence, ...]
    span: Span


class Tier(Node):
    name: Name
    about: Str | None
    requires: Literal["schema flat", "confirmation", "read"] | None
    span: Span
    commands: tuple[Name, ...] = ()


class Ablate(Node):
    """by: what is left out, one at a time."""

    by: Literal["section", "subsection", "document"]
    span: Span


class Arm(Node):
    name: Name
    body: tuple[About | Agent | UseProfile | UseNone | UseAgent | Model | Setup | Ablate | Silence, ...]
    span: Span


class Suite(Node):
    name: Name
    body: tuple[
        About | Toolchain | Tier | Arm | Profile | Define | Metrics | Agent | Model | UseAgent | Setup | Graded
        | Silence, ...]
    span: Span


class Track(Node):
    name: Name
    body: tuple[
        About | Agent | UseProfile | UseNone | UseAgent | Model | Setup | Graded | Expect | Never | Solution | Wrong
        | Silence,
        ...,
    ]
    span: Span


class Case(Node):
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


class File(Node):
    suites: tuple[Suite, ...]
    cases: tuple[Case, ...]
    span: Span
