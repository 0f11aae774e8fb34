"""The transcripts of our own agents: JSON lines with the events' fields, and what the provider sent.

The first line is `{"type": "evalkit", "version": 1, "agent": "api"}`, with `folder` where the agent works in one, and
with `calls: false` where the file does not tell what the agent does, which a reader takes for a gap. Each further line
is an event: `type` is `message`, `tool_call`, `tool_result`, `usage`, `limit`, `compacted` or `end`, the other names
are the fields of the event's class (model.py). A result's `call` is the id of its call. Fields that have their default
may be missing. `raw` is the provider's response as it came, where a line is made from one; nothing reads it. A line of
another type is passed over, so that later versions can tell more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, get_args

import orjson
from attrs import NOTHING, fields

from evalkit.errors import HarnessError
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts.foreign import LARGEST_COUNT
from evalkit.execute.transcripts.model import (
    Compacted,
    Ended,
    Event,
    Folder,
    Gap,
    Limit,
    LimitKind,
    Message,
    MessageUsage,
    Role,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)

__all__ = ["VERSION", "OwnFormat", "Writer", "writer_of"]

VERSION = 1
_FIRST = 65_536
"""Bytes of the first line."""

_CLASSES: dict[str, type[Any]] = {
    "message": Message, "tool_call": ToolCall, "tool_result": ToolResult, "usage": MessageUsage, "limit": Limit,
    "compacted": Compacted, "end": Ended,
}
_TYPES = {cls: name for name, cls in _CLASSES.items()}
_WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("message", "role"): get_args(Role), ("tool_call", "tool"): get_args(Tool),
    ("tool_result", "status"): get_args(Status), ("limit", "what"): get_args(LimitKind),
}
"""The fields that have one of a few words."""


class Writer:
    """Writes a transcript, line by line, each at once and without keys.

    sink: where to, opened for bytes; the caller closes it. agent: its name. folder: the workspace, if it works in one.
    calls: false for an agent that does not tell what it does.
    """

    def __init__(self, sink: IO[bytes], redactor: Redactor, agent: str, *, folder: str = "",
                 calls: bool = True) -> None:
        self._sink = sink
        self._redactor = redactor
        self._line({"type": "evalkit", "version": VERSION, "agent": agent, **({"folder": folder} if folder else {}),
                    **({} if calls else {"calls": False})})

    def write(self, event: Event, *, raw: object = None) -> None:
        """Write an event; its `line` is not written. raw: the provider's response, as JSON data."""
        kind = _TYPES.get(type(event))
        if kind is None:
            raise TypeError(f"a transcript of ours has no {type(event).__name__}")
        given: dict[str, Any] = {"type": kind}
        for part in fields(type(event)):
            value = getattr(event, part.name)
            if part.name != "line" and (part.default is NOTHING or value not in ("", None, {})):
                given[part.name] = value.id if part.name == "call" else value
        self._line(given if raw is None else {**given, "raw": raw})

    def _line(self, given: Mapping[str, Any]) -> None:
        try:
            data = orjson.dumps(given, option=orjson.OPT_NON_STR_KEYS)
        except TypeError:  # half a surrogate pair, a number of more than 64 bits
            try:
                data = json.dumps(given, default=str).encode()
            except (RecursionError, ValueError):
                flat = {name: {} if isinstance(value, Mapping | list) else value for name, value in given.items()}
                data = json.dumps(flat, default=str).encode()  # it is nested too deeply to be written
        self._sink.write(self._redactor.clean(data) + b"\n")
        self._sink.flush()


def writer_of(path: Path) -> str:
    """The agent of ours that wrote a transcript; "" for one in another format, or one that cannot be read."""
    try:
        with path.open("rb") as file:
            first = orjson.loads(file.readline(_FIRST))
    except (OSError, orjson.JSONDecodeError):
        return ""
    return str(first.get("agent") or "?") if isinstance(first, dict) and OwnFormat.knows(first) else ""


class OwnFormat:
    """Lines of such a transcript -> events."""

    KINDS = frozenset({"evalkit", *_CLASSES})

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}

    @staticmethod
    def knows(event: Mapping[str, Any]) -> bool:
        """Whether a file whose first event this is has our format."""
        return event.get("type") == "evalkit" and "version" in event

    def held(self, raw: bytes, *, whole: bool) -> str:
        """What a line seems to have held that cannot be read, or ""."""
        return "it is damaged" if raw.strip(b" \t\r\n\0") else ""  # no other program writes into such a file

    def take(self, line: int, event: Mapping[str, Any], out: list[Event]) -> None:
        """Add what an object of the file tells. Raises HarnessError for a version that is not known."""
        kind = event.get("type")
        if kind == "evalkit":
            if event.get("version") != VERSION:
                raise HarnessError(f"the transcript has version {str(event.get('version'))[:20]}, and only {VERSION} "
                                   "is known", hint="was it written by a newer evalkit?")
            if isinstance(folder := event.get("folder"), str) and folder:
                out.append(Folder(folder, line))
            if event.get("calls") is False:
                out.append(Gap(line, "this agent does not tell what it does, only what it says", blind=True))
        elif isinstance(kind, str) and kind in _CLASSES:
            try:
                found = self._event(kind, line, event)
            except (TypeError, ValueError) as error:
                out.append(Gap(line, f"its {kind} cannot be read: {error}"))
            else:
                out += [found] if found is not None else []

    def _event(self, kind: str, line: int, event: Mapping[str, Any]) -> Event | None:
        given: dict[str, Any] = {"line": line}
        for part in fields(_CLASSES[kind]):
            name = part.name
            if name == "line" or name not in event:
                continue
            value = event[name]
            if name == "call":
                call = self._open.get(str(value))
                if call is None:
                    raise ValueError("it is the result of a call that is not there")
                value = call
            elif not _fits(value, str(part.type)):
                raise ValueError(f"`{name}` is no {part.type}")
            if (words := _WORDS.get((kind, name))) and value not in words:
                raise ValueError(f"`{name}` is none of {', '.join(words)}")
            given[name] = value
        found: Event = _CLASSES[kind](**given)
        if isinstance(found, ToolResult):
            del self._open[found.call.id]
        elif isinstance(found, ToolCall):
            if found.id in self._open:
                return None
            self._open[found.id] = found
        return found

    def end(self, out: list[Event]) -> None:
        """Add what is known when the file ends: calls without a result."""
        out += [ToolResult(call, "missing", ran=True, line=call.line) for call in self._open.values()]
        self._open.clear()


def _fits(value: object, wanted: str) -> bool:
    """Whether a value is of a field's type, as it is written in model.py."""
    match wanted:
        case "bool":
            return isinstance(value, bool)
        case "int" | "int | None":
            return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_COUNT
        case "float | None":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "Mapping[str, Any]":
            return isinstance(value, dict)
        case "Mapping[str, int]":
            return isinstance(value, dict) and all(
                type(number) is int and abs(number) < LARGEST_COUNT for number in value.values())
    return isinstance(value, str)
