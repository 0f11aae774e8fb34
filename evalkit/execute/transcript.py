"""Claude Code's transcripts -> what the agent did, in order.

Two formats are read, told apart line by line: the stream of `claude -p --output-format stream-json`, which our agent
keeps as transcript.jsonl, and the session files that Claude Code keeps for itself. In both, a tool call is a block of
an `assistant` line and its result a block of a later `user` line; what else the tool told stands beside the result
(`tool_use_result`, in sessions `toolUseResult`). A sub-agent's lines name the call that started it
(`parent_tool_use_id`), in sessions they are marked `isSidechain`.

A file is read line by line, never as a whole. It may hold anything between its events: other programs' output (also
on an event's line), events of kinds that nobody knows yet, events told twice, a last line that is cut. What cannot be
read and looks as if it had held a call is a `Gap`: whoever draws conclusions must know that something is missing.

What was found on 2.1.332: the input that an Edit is shown with is what was really applied (ends of lines are stripped),
and the result's `originalFile` is the file before it, with `\\n` for `\\r\\n`. Which calls were denied is told by a
`system` line before the result, in sessions by `toolDenialKind`, and by older ones only in the last line of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson
from attrs import field, frozen

from evalkit.errors import HarnessError

__all__ = ["Ended", "Event", "Folder", "Gap", "SubAgent", "ToolCall", "ToolResult", "read_events"]

LONGEST = 64 * 1024 * 1024
"""Bytes of a line; a longer one is not read."""
_NOT_RUN = "<tool_use_error>"
"""What the result of a call begins with that was refused before anything was done."""
_KINDS = ("assistant", "user", "system", "result")
_TRIES = 4
"""Places of a damaged line at which an event is looked for."""
_DENIALS = ("Claude requested permissions to ", "Permission to use ", "This command requires approval",
            "The user doesn't want to proceed with this tool use")


@frozen
class Folder:
    """The agent's working directory, where it begins and when it changes."""

    path: str


@frozen
class ToolCall:
    """A call as the agent made it. sub_agent: the sub-agent that made it, or ""."""

    id: str
    name: str
    input: Mapping[str, Any]
    line: int
    sub_agent: str = ""


@frozen
class ToolResult:
    """What came of a call. missing: the transcript ends before its result.

    ran: it was (perhaps) carried out: false for one that was denied or refused. detail: what the tool told beside the
    text that the model was shown.
    """

    call: ToolCall
    status: Literal["ok", "error", "denied", "missing"]
    ran: bool
    detail: Mapping[str, Any] = field(factory=dict)


@frozen
class SubAgent:
    """A sub-agent's own lines are in the transcript. id: the call that started it, where that is told."""

    id: str


@frozen
class Gap:
    """A line that cannot be read, or does not fit, and why."""

    line: int
    why: str


@frozen
class Ended:
    """The agent's run ended by itself. how: `success`, `error_max_turns`, …"""

    how: str


Event: TypeAlias = Folder | ToolCall | ToolResult | SubAgent | Gap | Ended


def read_events(path: Path) -> Iterator[Event]:
    """The events of a transcript. Every call has one result, a missing one at the end. Raises HarnessError."""
    reader = _Reader(_denied(path))
    for number, raw, whole in _lines(path):
        yield from reader.line(number, raw, whole=whole)
    yield from reader.end()


class _Reader:
    def __init__(self, denied: set[str]) -> None:
        self._denied = denied
        self._open: dict[str, ToolCall] = {}
        self._known: set[str] = set()
        self._seen: set[str] = set()
        self._aside: set[str] = set()
        self._folder = ""

    def line(self, number: int, raw: bytes | None, *, whole: bool) -> Iterator[Event]:
        if raw is None:
            yield Gap(number, f"it is longer than {LONGEST // (1024 * 1024)} MB")
            return
        objects = _objects(raw)
        if not objects and b'"tool_use"' in raw and (whole or b'"tool_result"' not in raw):
            # (Of a result that is cut the call is known: it counts as one without a result.)
            yield Gap(number, "it is damaged, and held a tool call")
        elif not objects and whole and b'"tool_result"' in raw:
            yield Gap(number, "it is damaged, and held a tool's result")
        for event in objects:
            identity = event.get("uuid")
            if isinstance(identity, str):
                if identity in self._seen:
                    continue
                self._seen.add(identity)
            yield from self._event(number, event)

    def _event(self, number: int, event: Mapping[str, Any]) -> Iterator[Event]:
        kind = event.get("type")
        folder = event.get("cwd")
        aside = str(event.get("parent_tool_use_id") or "") or ("session" if event.get("isSidechain") is True else "")
        if isinstance(folder, str) and folder and folder != self._folder and not aside:
            self._folder = folder
            yield Folder(folder)
        if kind == "result":
            yield Ended(str(event.get("subtype")))
        elif kind == "system" and event.get("subtype") == "permission_denied":
            self._denied.add(str(event.get("tool_use_id")))
        elif kind in ("assistant", "user"):
            if aside and aside not in self._aside:
                self._aside.add(aside)
                yield SubAgent(aside)
            message = event.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            for block in content if isinstance(content, list) else ():
                if isinstance(block, dict):
                    yield from self._block(number, event, block, aside)

    def _block(self, number: int, event: Mapping[str, Any], block: Mapping[str, Any], aside: str) -> Iterator[Event]:
        if block.get("type") == "tool_use":
            call = _call(number, block, aside)
            if call is None:
                yield Gap(number, "its tool call has no name, id or input")
            elif call.id not in self._known:
                self._known.add(call.id)
                self._open[call.id] = call
                yield call
        elif block.get("type") == "tool_result":
            name = str(block.get("tool_use_id"))
            called = self._open.pop(name, None)
            if called is not None:
                yield self._result(called, event, block)
            elif name not in self._known:
                self._known.add(name)
                yield Gap(number, "it is the result of a call that is not there")

    def _result(self, call: ToolCall, event: Mapping[str, Any], block: Mapping[str, Any]) -> ToolResult:
        failed = block.get("is_error") is True
        detail = event.get("tool_use_result", event.get("toolUseResult"))
        told = detail if isinstance(detail, dict) else {}
        said = _text(block.get("content"))
        if call.id in self._denied or event.get("toolDenialKind") or (failed and said.startswith(_DENIALS)):
            return ToolResult(call, "denied", ran=False)
        return ToolResult(call, "error" if failed else "ok", not (failed and said.startswith(_NOT_RUN)), told)

    def end(self) -> Iterator[Event]:
        for call in self._open.values():
            denied = call.id in self._denied
            yield ToolResult(call, "denied" if denied else "missing", ran=not denied)


def _call(number: int, block: Mapping[str, Any], aside: str) -> ToolCall | None:
    name, identity, given = block.get("name"), block.get("id"), block.get("input")
    if isinstance(name, str) and isinstance(identity, str) and isinstance(given, dict):
        return ToolCall(identity, name, given, number, aside)
    return None


def _text(content: object) -> str:
    """The first text of a tool's result."""
    if isinstance(content, list):
        content = next((block.get("text") for block in content if isinstance(block, dict)), "")
    return content if isinstance(content, str) else ""


# ---- lines ----
def _denied(path: Path) -> set[str]:
    """The calls that the last line names as denied: it is read first, since what they name was not done."""
    found: set[str] = set()
    for _, raw, _ in _lines(path):
        if raw is not None and b'"permission_denials"' in raw:
            for event in _objects(raw):
                denials = event.get("permission_denials")
                found |= {str(denial.get("tool_use_id")) for denial in (denials if isinstance(denials, list) else ())
                          if isinstance(denial, dict)}
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes | None, bool]]:
    """The lines with their numbers, and whether they have an end; None for one that is too long."""
    try:
        with path.open("rb") as file:
            number = 0
            while raw := file.readline(LONGEST):
                number += 1
                if len(raw) == LONGEST and not raw.endswith(b"\n"):
                    while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
                        pass
                    yield number, None, True
                else:
                    yield number, raw, raw.endswith(b"\n")
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error


def _objects(raw: bytes) -> list[dict[str, Any]]:
    """The JSON objects of a line, whatever stands around them; of noise none."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        event = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _among(raw.decode("utf-8", "replace")) if b'"type"' in raw else []
    return [event] if isinstance(event, dict) else []


def _among(line: str) -> list[dict[str, Any]]:
    """The events among other text; also one with half a surrogate pair, which only Python's own reader takes."""
    decoder, found, at, tries = json.JSONDecoder(), [], line.find('{"'), _TRIES
    while at >= 0 and tries:
        try:
            event, at = decoder.raw_decode(line, at)
        except (ValueError, RecursionError):
            tries, at = tries - 1, at + 1
        else:
            found += [event] if event.get("type") in _KINDS else []
        at = line.find('{"', at)
    return found
