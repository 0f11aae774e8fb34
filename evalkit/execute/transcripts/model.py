"""What a transcript tells, whatever agent wrote it: events, in order.

A format's own file (claude.py, own.py) turns lines into these. `line` is where an event stands: the number of its
line, from 1; in a file that is one JSON array, the number of its element. `sub_agent` names the sub-agent whose event
it is, "" for the agent's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import define, field

__all__ = ["Compacted", "Ended", "Event", "Folder", "Gap", "Limit", "LimitKind", "Message", "MessageUsage", "Role",
           "Status", "SubAgent", "Tool", "ToolCall", "ToolResult"]

if TYPE_CHECKING:
    from attrs import frozen as _event
else:
    def _event(cls: type) -> type:
        """A class of events. Nothing sets a field of one: that is for the type checker to see, as objects that see to
        it themselves take a tenth of the time in which a transcript is read."""
        return define(cls, unsafe_hash=True)


Role: TypeAlias = Literal["user", "assistant", "thinking", "system"]
"""Whose text it is. thinking: the model's, before it answers. system: the agent program's own, a summary included."""
Tool: TypeAlias = Literal["read", "write", "edit", "shell", "search", "mcp", "web", "task", "other"]
"""What a tool is for, the same for all agents. search: in files or names of files. task: a sub-agent's job."""
Status: TypeAlias = Literal["ok", "error", "denied", "missing"]
LimitKind: TypeAlias = Literal["turns", "cost", "tokens", "time", "rate", "retry"]


@_event
class Folder:
    """The agent's working directory, where it begins and when it changes."""

    path: str
    line: int = field(default=0, eq=False)


@_event
class Message:
    """A text. id: the model's message that it is part of, where one is told."""

    role: Role
    text: str
    sub_agent: str = ""
    id: str = ""
    line: int = 0


@_event
class ToolCall:
    """A call as the agent made it. name: the agent's own word for the tool; tool: what it is called for all agents.

    path, command: the file or folder, and the shell command, that the input names; "" where it names none.
    """

    id: str
    name: str
    input: Mapping[str, Any]
    tool: Tool = "other"
    path: str = ""
    command: str = ""
    sub_agent: str = ""
    line: int = 0


@_event
class ToolResult:
    """What came of a call. missing: the transcript ends before its result.

    ran: it was (perhaps) carried out: false for one that was denied or refused. text: what the model was shown.
    detail: what the tool told beside it.
    """

    call: ToolCall
    status: Status
    ran: bool
    text: str = ""
    detail: Mapping[str, Any] = field(factory=dict)
    line: int = 0


@_event
class MessageUsage:
    """What one message of the model took: told once for each message, however often the transcript repeats it.

    input_tokens: those that no cache had a part in. cost: dollars, where the provider tells.
    """

    message: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    model: str = ""
    cost: float | None = None
    sub_agent: str = ""
    line: int = 0


@_event
class Limit:
    """A limit that was met: the run's (turns, cost, tokens, time), the provider's (rate). retry: it is asked again."""

    what: LimitKind
    detail: str = ""
    line: int = 0


@_event
class SubAgent:
    """A sub-agent's own lines are in the transcript. id: the call that started it, where that is told."""

    id: str
    line: int = field(default=0, eq=False)


@_event
class Compacted:
    """The agent replaced what was said so far by a summary."""

    detail: str = ""
    line: int = 0


@_event
class Gap:
    """Something that cannot be read, or does not fit, and why: conclusions must not be drawn as if all were there.

    blind: the transcript as a whole does not tell what the agent did.
    """

    line: int
    why: str
    blind: bool = False


@_event
class Ended:
    """The agent's run ended by itself. how: its own word for it (`success`, `error_max_turns`, …).

    text: what it said last. turns, cost (dollars), tokens (named as in MessageUsage): by its own count, which may have
    what the messages do not tell.
    """

    how: str
    is_error: bool = False
    text: str = ""
    turns: int | None = None
    cost: float | None = None
    tokens: Mapping[str, int] = field(factory=dict)
    line: int = 0


Event: TypeAlias = (
    Folder | Message | ToolCall | ToolResult | MessageUsage | Limit | SubAgent | Compacted | Gap | Ended)
