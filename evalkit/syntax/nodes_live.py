"""What `live` and the steps of `check snapshot` hold: how an app is built, shown and driven.

Few files have any: who lowers or resolves them imports this.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalkit.diagnostics import Span
from evalkit.syntax.nodes_values import Name, Number, Pattern, Regex, Str
from evalkit.values import Node

__all__ = ["Act", "ActClick", "ActExpect", "ActFind", "ActKey", "ActNote", "ActSame", "ActType", "LiveCommand",
           "LiveEnv", "LiveKind", "LiveRegex", "Target"]

LiveKind: TypeAlias = Literal["build", "prewarm", "launch", "ready", "snapshot", "screenshot", "click", "type", "key"]


class LiveCommand(Node):
    """A command of a `live` block. writes: of `screenshot`, the file that it makes."""

    kind: LiveKind
    command: Str
    limit: Number | None
    span: Span
    writes: Str | None = None


class LiveRegex(Node):
    """`widget` or `views`: what a line of a snapshot looks like that tells of one."""

    kind: Literal["widget", "views"]
    pattern: Regex
    span: Span


class LiveEnv(Node):
    name: Name
    value: Str
    span: Span


class Target(Node):
    """A widget: by what its line says of it, in one that matches `inside`, nearest to one that matches `near`."""

    attributes: tuple[tuple[Name, Pattern], ...]
    inside: Pattern | None
    near: Pattern | None
    span: Span


class ActClick(Node):
    target: Target
    span: Span


class ActType(Node):
    text: Str
    target: Target
    span: Span


class ActKey(Node):
    key: Str
    span: Span


class ActNote(Node):
    """Remember which widget it is, under a name."""

    name: Name
    target: Target
    span: Span


class ActExpect(Node):
    """`expect has …`, `expect lacks …`."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    span: Span
    one_line: bool = False


class ActFind(Node):
    """`expect TARGET`, `expect no TARGET`."""

    target: Target
    absent: bool
    span: Span


class ActSame(Node):
    """`expect same NAME`: what was noted under the name is still the same widget."""

    name: Name
    span: Span


Act: TypeAlias = ActClick | ActType | ActKey | ActNote | ActExpect | ActFind | ActSame
