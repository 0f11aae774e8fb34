"""A transcript -> a conversation, as data of the report: texts, calls with their results, and what else happened.

However long a transcript is, a conversation is not: long texts lose their middle, and of too many events those in the
middle are left out, each with a line that says so and where the rest lies. One event is in memory at a time, and those
that are shown.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from attrs import define, field

from evalkit.execute.outcome import TRANSCRIPT
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import (
    Compacted,
    Ended,
    Event,
    Folder,
    Gap,
    Limit,
    Message,
    MessageUsage,
    SubAgent,
    ToolCall,
    ToolResult,
)
from evalkit.execute.transcripts.totals import Totals
from evalkit.report.html.difference import difference
from evalkit.report.html.texts import Held, cleaned, held

__all__ = ["conversation"]

_FIRST, _LAST = 2_000_000, 1_500_000
"""Characters of the first and of the last events that are shown."""
_OVERHEAD = 120
"""Characters that an event takes beside its texts."""
_HEAD = 200
"""Characters of what a call is about."""
_OLD, _NEW = ("old_string", "old_str"), ("new_string", "new_str")
_CONTENT = ("content", "file_text")


@define
class _Block:
    """What is shown of an event. texts: by name; more: what is no text of anybody's, or short.

    place: whether it is among the first ones, or the last ones, or was left out by now.
    """

    kind: str
    line: int
    texts: dict[str, Held]
    more: dict[str, Any]
    edits: list[tuple[Held, Held]] = field(factory=list)
    inputs: list[tuple[str, Held]] = field(factory=list)
    place: Literal["first", "last", "gone"] = "first"

    @property
    def size(self) -> int:
        pairs = sum(old.size + new.size for old, new in self.edits)
        return _OVERHEAD + pairs + sum(text.size for text in (*self.texts.values(), *(text for _, text in self.inputs)))


@define
class _Blocks:
    """The first blocks and the last ones, within their limits. folder: in which the agent works, with a slash."""

    first: list[_Block] = field(factory=list)
    last: deque[_Block] = field(factory=deque)
    dropped: int = 0
    folder: str = "/"
    _first_size: int = 0
    _last_size: int = 0
    _open: dict[str, _Block] = field(factory=dict)

    def add(self, block: _Block) -> None:
        if not self.last and self._first_size < _FIRST:
            self.first.append(block)
            self._first_size += block.size
            return
        block.place = "last"
        self.last.append(block)
        self._last_size += block.size
        while self._last_size > _LAST and len(self.last) > 1:
            oldest = self.last.popleft()
            oldest.place = "gone"
            self._last_size -= oldest.size
            self.dropped += 1

    def call(self, call: ToolCall, block: _Block) -> None:
        self.add(block)
        self._open[call.id] = block

    def result(self, result: ToolResult, told: Mapping[str, Any]) -> None:
        """Lay a result to its call. The block may be gone by now: then the result goes too."""
        block = self._open.pop(result.call.id, None)
        if block is None or block.place == "gone":
            return
        before = block.size
        block.more |= told
        block.texts["result"] = _held(result.text, result.line)
        if block.place == "last":
            self._last_size += block.size - before
        else:
            self._first_size += block.size - before


def conversation(events: Iterable[Event], redactor: Redactor, prompt: str = "") -> dict[str, Any]:
    """The conversation of a transcript. prompt: what the agent was asked, where the transcript may not tell it."""
    blocks, totals = _Blocks(), Totals()
    if prompt.strip():
        text = held(prompt.strip(), "the case has them")
        blocks.add(_Block("text", 0, {"text": text}, {"role": "prompt", "sub": ""}))
    for event in events:
        totals.add(event)
        if isinstance(event, Message) and event.role == "user" and event.text.strip() == prompt.strip():
            continue
        if isinstance(event, Folder):
            blocks.folder = event.path.rstrip("/") + "/"
        _take(event, blocks)
    shown = [_plain(block) for block in blocks.first]
    if blocks.dropped:
        shown.append({"k": "note", "line": blocks.last[0].line, "what": "left out",
                      "text": f"{blocks.dropped:,} events between here and line {blocks.last[0].line:,} are left out: "
                              f"{TRANSCRIPT} has them all"})
    shown += [_plain(block) for block in blocks.last]
    shown = cleaned(shown, redactor)
    for block in shown:
        _compare(block)
    tokens = {"input": totals.input_tokens, "output": totals.output_tokens, "cache_read": totals.cache_read_tokens,
              "cache_write": totals.cache_write_tokens}
    return {"events": shown, "calls": dict(totals.calls), "results": dict(totals.results), "replies": totals.replies,
            "tokens": {kind: count for kind, count in tokens.items() if count}, "gaps": totals.gaps,
            "state": redactor.text(totals.state)}


def _held(text: str, line: int) -> Held:
    return held(text, f"line {line:,} of {TRANSCRIPT} has them")


def _take(event: Event, blocks: _Blocks) -> None:
    match event:
        case Message():
            if event.text.strip():
                blocks.add(_Block("text", event.line, {"text": _held(event.text.strip("\n"), event.line)},
                                  {"role": event.role, "sub": event.sub_agent}))
        case ToolCall():
            blocks.call(event, _call(event, blocks.folder))
        case ToolResult():
            blocks.result(event, {"status": event.status, "ran": event.ran, "result_line": event.line})
        case MessageUsage():
            pass
        case _:
            what, text = _note(event)
            blocks.add(_Block("note", event.line, {"text": _held(text, event.line)}, {"what": what}))


def _note(event: Folder | Limit | SubAgent | Compacted | Gap | Ended) -> tuple[str, str]:
    match event:
        case Folder():
            return "folder", event.path
        case Limit():
            return "limit", ": ".join(part for part in (event.what, event.detail) if part)
        case SubAgent():
            return "task", f"a sub-agent works ({event.id})"
        case Compacted():
            return "compacted", "what was said so far became a summary" + (f": {event.detail}" if event.detail else "")
        case Gap():
            return "gap", f"cannot be read: {event.why}"
        case Ended():
            return "end", ("error: " if event.is_error else "") + event.how


def _call(call: ToolCall, folder: str) -> _Block:
    """A call: what it is about on a line, its edits as pairs of texts, and the rest of its input by name.

    folder: in which the agent works: what it is about is told from there.
    """
    given = dict(call.input)
    edits = []
    for one in [given, *_edits(given)]:
        old, new = _taken(one, _OLD), _taken(one, _NEW)
        if isinstance(old, str) and isinstance(new, str):
            edits.append((_held(old, call.line), _held(new, call.line)))
            for name in (*_OLD, *_NEW):
                given.pop(name, None)
    content = _taken(given, _CONTENT) if call.tool == "write" else None
    if isinstance(content, str):
        edits.append((Held(""), _held(content, call.line)))
        for name in _CONTENT:
            given.pop(name, None)
    if edits:
        given.pop("edits", None)
    about = call.command or call.path or _first_text(given)
    shown = about.replace(folder, "") if len(folder) > 1 else about
    said = next((name for name, value in given.items() if value == about and "\n" not in about
                 and len(about) <= _HEAD), None)  # it stands in the head already
    inputs = [(str(name), _held(_said(value), call.line)) for name, value in given.items()
              if value is not None and name != said]
    return _Block("call", call.line, {"about": Held(" ".join(shown[:4 * _HEAD].split())[:_HEAD])},
                  {"tool": call.tool, "name": call.name, "sub": call.sub_agent, "status": "missing", "ran": False,
                   "result_line": 0}, edits, inputs)


def _edits(given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    found = given.get("edits")
    if isinstance(found, list):
        yield from (one for one in found if isinstance(one, Mapping))


def _taken(given: Mapping[str, Any], names: Iterable[str]) -> object:
    return next((given[name] for name in names if name in given), None)


def _first_text(given: Mapping[str, Any]) -> str:
    """What a call without a path or a command is about: the first short text that it is given."""
    return next((value for value in given.values() if isinstance(value, str) and 0 < len(value) <= _HEAD), "")


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _plain(block: _Block) -> dict[str, Any]:
    """A block as data, its texts not yet cleaned."""
    data: dict[str, Any] = {"k": block.kind, "line": block.line, **block.more, **block.texts}
    if block.edits:
        data["edits"] = block.edits
    if block.inputs:
        data["inputs"] = block.inputs
    return data


def _compare(block: dict[str, Any]) -> None:
    """Put differences in the place of edits."""
    if edits := block.pop("edits", None):
        found = [difference(old, new) for old, new in edits]
        block |= {"diffs": [one.text for one in found], "added": sum(one.added for one in found),
                  "removed": sum(one.removed for one in found)}
