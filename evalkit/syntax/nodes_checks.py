"""The syntax nodes of what grades: checks, scores, judges, calls, and the checks that a suite defines."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from evalkit.diagnostics import Span
from evalkit.syntax.nodes_values import Data, Name, Number, Pattern, Range, Real, Silence, Str

__all__ = [
    "ArgumentCompare", "ArgumentIn", "ArgumentIs", "ArgumentNode", "ArgumentOneOf", "ArgumentType", "Call", "Check",
    "CheckDefined", "CheckExists", "CheckGrep", "CheckHiddenTests", "CheckKind", "CheckPage", "CheckRun",
    "CheckSnapshot", "CheckTranscript", "Define", "Expect", "Expectation", "Graded", "Judge", "Never", "Score",
    "StepAppend", "StepEach", "StepNode", "StepPut", "StepRun",
]


# ---- checks of the suite's own ----
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
    silenced: tuple[Silence, ...]
    span: Span


# ---- checks ----
@frozen
class Expectation:
    """`has …` or `lacks …`; `one_line`: all patterns in one line."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span
    one_line: bool = False


@frozen
class CheckRun:
    command: Str
    exits: tuple[Number, ...]
    outputs: tuple[Expectation, ...]
    span: Span


@frozen
class CheckGrep:
    globs: tuple[Str, ...]
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span


@frozen
class CheckExists:
    """`exists` or `absent`."""

    expect: Literal["exists", "absent"]
    globs: tuple[Str, ...]
    span: Span


@frozen
class CheckHiddenTests:
    path: Str
    command: Str
    span: Span


@frozen
class CheckSnapshot:
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span
    one_line: bool = False


@frozen
class CheckPage:
    path: Str
    span: Span


@frozen
class CheckTranscript:
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span


@frozen
class CheckDefined:
    name: Name
    span: Span


CheckKind: TypeAlias = (
    CheckRun | CheckGrep | CheckExists | CheckHiddenTests | CheckSnapshot | CheckPage | CheckTranscript | CheckDefined)


@frozen
class Check:
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


@frozen
class Score:
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


@frozen
class Judge:
    title: Str | None
    id: Name | None
    files: tuple[Str, ...]
    most_bytes: Number | None
    threshold: Number | None
    advisory: bool
    criteria: tuple[Str, ...]
    context: tuple[Str, ...]
    models: tuple[Str, ...]
    votes: Number | None
    direction: Literal["higher", "lower"]
    temperature: Real | None
    silenced: tuple[Silence, ...]
    span: Span


Graded: TypeAlias = Check | Score | Judge


# ---- calls ----
@frozen
class ArgumentIs:
    key: Name
    value: Data
    span: Span


@frozen
class ArgumentCompare:
    key: Name
    operator: Literal[">", ">=", "<", "<=", "=="]
    value: Real
    span: Span


@frozen
class ArgumentOneOf:
    key: Name
    values: tuple[Data, ...]
    span: Span


@frozen
class ArgumentIn:
    key: Name
    range: Range
    span: Span


@frozen
class ArgumentType:
    key: Name
    type: Literal["number", "string", "boolean", "array", "object"]
    span: Span


ArgumentNode: TypeAlias = ArgumentIs | ArgumentCompare | ArgumentOneOf | ArgumentIn | ArgumentType


@frozen
class Call:
    name: Name
    arguments: tuple[ArgumentNode, ...]
    span: Span


@frozen
class Expect:
    """Calls in an order."""

    calls: tuple[Call, ...]
    span: Span


@frozen
class Never:
    names: tuple[Name, ...]
    span: Span
