"""Compiled checks and judges: plain, frozen data.

A check's `spec` says what it looks for. Each class of spec has its own `type`, so that data which was written as JSON
is read back as the class that it was.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalkit.analysis.model_calls import CallsSpec, StateSpec
from evalkit.analysis.model_live import LiveStep
from evalkit.analysis.model_values import Command, Pattern
from evalkit.digest import GROWN
from evalkit.values import Value, field

__all__ = [
    "Append", "Check", "CheckSpec", "Command", "Each", "ExistsSpec", "GrepSpec", "HiddenTestsSpec", "Judge",
    "OutputTest", "PageSpec", "Pattern", "PluginSpec", "Put", "Run", "RunSpec", "ScoreSpec", "Silence", "SnapshotSpec",
    "Step", "StepsSpec", "TranscriptSpec",
]


class Silence(Value):
    """A finding of the linter that is meant so: its code, and why."""

    code: str
    reason: str
    origin: str


# ---- specs ----
class OutputTest(Value):
    """What a command's output (both streams) must have or lack."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]


class RunSpec(Value):
    command: Command
    exit: int = field(default=0, metadata=GROWN)
    outputs: tuple[OutputTest, ...] = field(default=(), metadata=GROWN)
    type: Literal["run"] = field(default="run", metadata=GROWN)


class GrepSpec(Value):
    globs: tuple[str, ...]
    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    type: Literal["grep"] = field(default="grep", metadata=GROWN)


class ExistsSpec(Value):
    """`exists`: each glob matches a file; `absent`: none does."""

    globs: tuple[str, ...]
    expect: Literal["exists", "absent"]
    type: Literal["exists"] = "exists"


class HiddenTestsSpec(Value):
    """Tests that the agent never saw. `path` and `more`: files or folders of the project, a later one over the earlier.

    `command` has `{report}`, the file that it writes its results to, and `{workspace}`. Where it has `{tests}` too,
    they are put into that folder, beside the copy; else into the copy. collects: how many tests must pass.
    """

    path: str
    command: Command
    more: tuple[str, ...] = field(default=(), metadata=GROWN)
    collects: int | None = field(default=None, metadata=GROWN)
    type: Literal["hidden-tests"] = "hidden-tests"


class PluginSpec(Value):
    """A grader of another distribution. globs: what it may read; all where there are none. limit: seconds."""

    grader: str
    globs: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    type: Literal["plugin"] = "plugin"
    limit: int = field(default=600, metadata=GROWN)


class SnapshotSpec(Value):
    """`one_line`: all patterns are found in one line of the snapshot. steps: what comes before, and may be all."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    one_line: bool = field(default=False, metadata=GROWN)
    type: Literal["snapshot"] = field(default="snapshot", metadata=GROWN)
    steps: tuple[LiveStep, ...] = field(default=(), metadata=GROWN)
    limit: int = field(default=300, metadata=GROWN)
    """Seconds from the launch to the end of the steps."""


class PageSpec(Value):
    """A page of the workspace that a browser loads without an error, in so many seconds."""

    path: str
    limit: int = field(default=20, metadata=GROWN)
    type: Literal["page"] = "page"


class TranscriptSpec(Value):
    """What the agent did, or must not have done."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    type: Literal["transcript"] = "transcript"


class ScoreSpec(Value):
    """An answer's source, which is read and never run: the score is the mean of the parts that are given, 0 to 1.

    `answer`: the file, relative to the workspace. `parses`: a command with `{answer}`. `threshold` is the score from
    which it passes; without one it decides nothing.
    """

    answer: str
    language: Literal["javascript", "typescript", "python"]
    imports: tuple[str, ...]
    apis: tuple[str, ...]
    forbid: tuple[Pattern, ...]
    parses: Command | None
    threshold: float | None
    type: Literal["score"] = "score"


# ---- checks of the suite's own ----
class Put(Value):
    source: str
    target: str
    type: Literal["put"] = field(default="put", metadata=GROWN)


class Append(Value):
    target: str
    text: str
    type: Literal["append"] = field(default="append", metadata=GROWN)


class Each(Value):
    glob: str
    command: Command
    type: Literal["each"] = field(default="each", metadata=GROWN)


class Run(Value):
    command: Command
    type: Literal["run"] = field(default="run", metadata=GROWN)


Step: TypeAlias = Put | Append | Each | Run


class StepsSpec(Value):
    """A `define check`, with its arguments put in. evidence: what of a failed command's output tells why."""

    steps: tuple[Step, ...]
    type: Literal["steps"] = field(default="steps", metadata=GROWN)
    evidence: tuple[Pattern, ...] = field(default=(), metadata=GROWN)


CheckSpec: TypeAlias = (
    RunSpec | GrepSpec | ExistsSpec | HiddenTestsSpec | SnapshotSpec | PageSpec | TranscriptSpec | CallsSpec
    | StateSpec | ScoreSpec | StepsSpec | PluginSpec)


# ---- checks and judges ----
class Check(Value):
    """`spec` is all that its grader reads of the case; the rest only decides where it counts and how it is shown.

    `lanes`, `arms` and `tracks`: where it counts; everywhere if there are none. A check of a unit's other track or
    arm is part of the unit, to be told as skipped: see `Case.skips`.
    """

    id: str
    kind: str
    spec: CheckSpec
    lanes: tuple[str, ...]
    advisory: bool
    description: str
    origin: str
    arms: tuple[str, ...] = field(default=(), metadata=GROWN)
    tracks: tuple[str, ...] = field(default=(), metadata=GROWN)
    weight: float = field(default=1.0, metadata=GROWN)
    silenced: tuple[Silence, ...] = ()


class Judge(Value):
    """`models`: judge instead of the case's `judge_model`, each with so many `votes`.

    `direction`: whether a score of at least `threshold` passes, or one of at most that. `most_bytes` of the files are
    shown. on_request: it judges only where somebody says judge=on. `documents`: files of the project that it is told,
    those of the unit's guidance and contract. `told_by`: commands that print what it is told, with {project}, and
    {npm} and {pip}, the folders of what a toolchain installed.
    """

    id: str
    title: str
    files: tuple[str, ...]
    threshold: int | None
    advisory: bool
    criteria: tuple[str, ...]
    context: tuple[str, ...]
    origin: str
    most_bytes: int | None = field(default=None, metadata=GROWN)
    models: tuple[str, ...] = field(default=(), metadata=GROWN)
    votes: int = field(default=1, metadata=GROWN)
    direction: Literal["higher", "lower"] = field(default="higher", metadata=GROWN)
    temperature: float | None = field(default=None, metadata=GROWN)
    on_request: bool = field(default=False, metadata=GROWN)
    documents: tuple[str, ...] = field(default=(), metadata=GROWN)
    told_by: tuple[Command, ...] = field(default=(), metadata=GROWN)
    silenced: tuple[Silence, ...] = ()
