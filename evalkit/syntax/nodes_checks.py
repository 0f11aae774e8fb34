"""The syntax nodes of what grades: checks, scores, judges, and the checks that a suite defines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from evalkit.diagnostics import Span
from evalkit.syntax.nodes_values import Name, Number, Pattern, Real, Silence, Str
from evalkit.values import Node

if TYPE_CHECKING:
    from evalkit.syntax.nodes_calls import ArgumentNode
    from evalkit.syntax.nodes_live import Act

__all__ = [
    "Check", "CheckDefined", "CheckExists", "CheckGrep", "CheckHiddenTests", "CheckKind", "CheckPage", "CheckPlugin",
    "CheckRun", "CheckSnapshot", "CheckState", "CheckTranscript", "Define", "Expectation", "Graded", "Judge",
    "PluginSetting", "Score", "StepAppend", "StepEach", "StepNode", "StepPut", "StepRun", "Told", "ToldBy",
]


# ---- checks of the suite's own ----
class StepPut(Node):
    source: Str
    target: Str
    span: Span


class StepAppend(Node):
    target: Str
    text: Str
    span: Span


class StepEach(Node):
    glob: Str
    command: Str
    limit: Number | None
    span: Span


class StepRun(Node):
    command: Str
    limit: Number | None
    span: Span


StepNode: TypeAlias = StepPut | StepAppend | StepEach | StepRun


class Define(Node):
    name: Name
    params: tuple[Name, ...]
    title: Str | None
    steps: tuple[StepNode, ...]
    evidence: tuple[Pattern, ...]
    silenced: tuple[Silence, ...]
    span: Span


# ---- checks ----
class Expectation(Node):
    """`has …` or `lacks …`; `one_line`: all patterns in one line."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span
    one_line: bool = False


class CheckRun(Node):
    command: Str
    exits: tuple[Number, ...]
    outputs: tuple[Expectation, ...]
    span: Span


class CheckGrep(Node):
    globs: tuple[Str, ...]
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span


class CheckExists(Node):
    """`exists` or `absent`."""

    expect: Literal["exists", "absent"]
    globs: tuple[Str, ...]
    span: Span


class CheckHiddenTests(Node):
    """collects: how many tests the report must have, None where the case does not say."""

    paths: tuple[Str, ...]
    command: Str
    collects: Number | None
    span: Span


class CheckSnapshot(Node):
    """acts: the steps before it; without patterns they are all."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span
    one_line: bool = False
    acts: tuple[Act, ...] = ()


class CheckPage(Node):
    path: Str
    span: Span


class CheckTranscript(Node):
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span


class CheckState(Node):
    """A value of the final state, by its path.

    It holds `count` entries that pass all of `where`. Without a count it is a value of its own, and `where` its test.
    """

    path: Name
    bound: Literal["exactly", "at least", "at most"]
    count: Number | None
    where: tuple[ArgumentNode, ...]
    span: Span


class PluginSetting(Node):
    name: Name
    value: Str
    span: Span


class CheckPlugin(Node):
    """A grader of another distribution, with its settings. files: what it may read."""

    name: Name
    files: tuple[Str, ...]
    settings: tuple[PluginSetting, ...]
    span: Span


class CheckDefined(Node):
    name: Name
    span: Span


CheckKind: TypeAlias = (
    CheckRun | CheckGrep | CheckExists | CheckHiddenTests | CheckSnapshot | CheckPage | CheckTranscript | CheckState
    | CheckPlugin | CheckDefined)


class Check(Node):
    """A check with its options, each as often as it stands there."""

    kind: CheckKind
    ids: tuple[Name, ...]
    lanes: tuple[Name, ...]
    arms: tuple[Name, ...]
    tracks: tuple[Name, ...]
    advisory: bool
    weights: tuple[Real, ...]
    limits: tuple[Number, ...]
    silenced: tuple[Silence, ...]
    texts: tuple[Str, ...]
    span: Span


class Score(Node):
    id: Name | None
    languages: tuple[Name, ...]
    imports: tuple[Str, ...]
    apis: tuple[Str, ...]
    forbid: tuple[Pattern, ...]
    parses: tuple[Str, ...]
    limit: Number | None
    thresholds: tuple[Real, ...]
    advisory: bool
    silenced: tuple[Silence, ...]
    span: Span


class Told(Node):
    """What of the unit's own documents a judge is told."""

    what: Literal["guidance", "contract"]
    span: Span


class ToldBy(Node):
    """A command that prints what a judge is told."""

    command: Str
    limit: Number | None


class Judge(Node):
    title: Str | None
    id: Name | None
    files: tuple[Str, ...]
    most_bytes: Number | None
    threshold: Number | None
    advisory: bool
    criteria: tuple[Str, ...]
    context: tuple[Str, ...]
    told: tuple[Told, ...]
    told_by: tuple[ToldBy, ...]
    models: tuple[Str, ...]
    votes: Number | None
    direction: Literal["higher", "lower"]
    on_request: bool
    temperature: Real | None
    silenced: tuple[Silence, ...]
    span: Span


Graded: TypeAlias = Check | Score | Judge
