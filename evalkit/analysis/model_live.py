"""Compiled live checks: how the apps of a suite are built, shown, looked at and driven, and the steps of a script.

Plain, frozen data, like model_checks.py.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalkit.analysis.model_values import Command, Pattern
from evalkit.values import Value, field

__all__ = ["Click", "Expect", "Find", "Key", "Live", "LiveStep", "Note", "Same", "Target", "Type"]


class Live(Value):
    """`build` makes the app (its prewarm fills caches for all trials), `launch` starts it, `ready` ends with 0 once it
    can be looked at, `snapshot` prints what it shows, a line a widget.

    `screenshot` (with `{view}`) makes a PNG at `picture`. `click`, `type` and `key` drive it. widget: the regex of a
    widget's line, with groups `id`, `name`, and what else steps ask for; `view` and `parent` (an id) have a meaning.
    views: that of a line that tells of a view which has a screenshot, with the group `view`. env: of the app, and of
    what drives it.
    """

    launch: Command
    snapshot: Command
    build: Command | None = None
    prewarm: tuple[Command, ...] = ()
    ready: Command | None = None
    screenshot: Command | None = None
    picture: str = ""
    click: Command | None = None
    type_text: Command | None = None
    key: Command | None = None
    widget: Pattern | None = None
    views: Pattern | None = None
    env: tuple[tuple[str, str], ...] = ()
    origin: str = ""


class Target(Value):
    """A widget whose groups match `attributes` (a text is the whole value), in one whose name matches `inside`, or the
    nearest to one whose name matches `near`.
    """

    attributes: tuple[tuple[str, Pattern], ...]
    inside: Pattern | None = None
    near: Pattern | None = None


class Click(Value):
    target: Target
    type: Literal["click"] = "click"


class Type(Value):
    """Put a text into a widget."""

    text: str
    target: Target
    type: Literal["type"] = "type"


class Key(Value):
    """Press a key, in the view that was driven last."""

    key: str
    type: Literal["key"] = "key"


class Note(Value):
    """Remember which widget it is."""

    name: str
    target: Target
    type: Literal["note"] = "note"


class Expect(Value):
    """What the snapshot comes to have or to lack, within some seconds."""

    expect: Literal["has", "lacks"]
    patterns: tuple[Pattern, ...]
    one_line: bool = False
    type: Literal["expect"] = "expect"


class Find(Value):
    """A widget that comes to be there, or to be gone."""

    target: Target
    absent: bool = False
    type: Literal["find"] = "find"


class Same(Value):
    """What was noted under a name is the same widget still."""

    name: str
    type: Literal["same"] = field(default="same")


LiveStep: TypeAlias = Click | Type | Key | Note | Expect | Find | Same
