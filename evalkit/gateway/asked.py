"""What a request asks of a model, whichever protocol it speaks: `Received` -> `Call` -> `Asked`.

Served are the Messages API (https://docs.anthropic.com/en/api/messages), OpenAI's chat completions
(https://platform.openai.com/docs/api-reference/chat) and Gemini's generateContent
(https://ai.google.dev/api/generate-content), at the end of any path: base addresses differ in what stands before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qs, unquote

from attrs import frozen

from evalkit.gateway.connection import Received
from evalkit.gateway.script import JsonObject

__all__ = ["Action", "Asked", "Call", "Protocol", "Said", "Turn", "call_of"]

Protocol: TypeAlias = Literal["anthropic", "openai", "gemini"]
Action: TypeAlias = Literal["answer", "count"]
_GEMINI = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)$")


@frozen
class Call:
    """A request of a protocol that is served. stream: `sse`, `array` (Gemini's stream without `alt=sse`), or no stream.

    model: as it was named; `scripted` where none was.
    """

    protocol: Protocol
    action: Action
    model: str
    stream: Literal["", "sse", "array"]
    body: JsonObject

    def asked(self) -> Asked:
        return _READERS[self.protocol](self)


@frozen
class Said:
    """What came of a tool call. name: empty where the protocol tells it by the call's id alone."""

    text: str
    name: str = ""
    failed: bool = False


@frozen
class Turn:
    """One message of the conversation. calls: names of the tools that the model called in it."""

    role: Literal["user", "model"]
    text: str
    calls: tuple[str, ...] = ()
    results: tuple[Said, ...] = ()


@frozen
class Asked:
    """A request in the words of no protocol. tools: the names of those that are offered."""

    protocol: Protocol
    model: str
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[str, ...]
    stream: bool

    @property
    def user(self) -> str:
        """The text of the last turn of the user's that has one."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == "user" and turn.text), "")

    @property
    def results(self) -> tuple[Said, ...]:
        """What the calls of the model's last turn came to; none where it called nothing."""
        found: list[Said] = []
        for turn in reversed(self.turns):
            if turn.role == "model":
                break
            found[:0] = turn.results
        return tuple(found)

    @property
    def number(self) -> int:
        """Which request of its conversation this is, from 1: for each earlier one there is a turn of the model's."""
        return 1 + sum(turn.role == "model" for turn in self.turns)

    @property
    def side(self) -> bool:
        """Whether no tools are offered: an agent's loop offers some, its requests for titles and the like do not."""
        return not self.tools

    def texts(self) -> Iterator[str]:
        """All that was said: texts of turns, and results of tools."""
        for turn in self.turns:
            yield turn.text
            yield from (said.text for said in turn.results)


def call_of(request: Received) -> Call | None:
    """The call that a request is; None for what is not served. Its body is empty where it is no JSON object."""
    if request.method != "POST":
        return None
    body = request.json() or {}
    path = request.path.rstrip("/")
    streams: Literal["", "sse"] = "sse" if body.get("stream") is True else ""
    model = str(body.get("model", "scripted"))
    if path.endswith("/v1/messages"):
        return Call("anthropic", "answer", model, streams, body)
    if path.endswith("/v1/messages/count_tokens"):
        return Call("anthropic", "count", model, "", body)
    if path.endswith("/chat/completions"):
        return Call("openai", "answer", model, streams, body)
    if found := _GEMINI.search(path):
        model, action = unquote(found[1]), found[2]
        if action == "countTokens":
            return Call("gemini", "count", model, "", body)
        wants_events = parse_qs(request.query).get("alt") == ["sse"]
        return Call("gemini", "answer", model,
                    "" if action == "generateContent" else "sse" if wants_events else "array", body)
    return None


# ---- readers: nothing is taken for granted, since anybody may write a request ----
def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str:
    """A text, or the texts of a list of blocks, one a line."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in _list(content) if isinstance(_dict(block).get("text"), str))


def _names(tools: Iterator[Any]) -> tuple[str, ...]:
    return tuple(str(name) for tool in tools if (name := _dict(tool).get("name")))


def _anthropic(call: Call) -> Asked:
    body, turns = call.body, []
    system = [_text(body.get("system"))]
    named: dict[str, str] = {}
    for message in map(_dict, _list(body.get("messages"))):
        content = message.get("content")
        if message.get("role") == "system":  # Claude Code tells of its surroundings so
            system.append(_text(content))
            continue
        blocks = [_dict(block) for block in _list(content)]
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        named |= {str(block.get("id")): str(block.get("name")) for block in calls}
        results = tuple(Said(_text(block.get("content")), named.get(str(block.get("tool_use_id")), ""),
                             block.get("is_error") is True)
                        for block in blocks if block.get("type") == "tool_result")
        turns.append(Turn("model" if message.get("role") == "assistant" else "user", _text(content),
                          _names(iter(calls)), results))
    return Asked("anthropic", call.model, "\n".join(filter(None, system)), tuple(turns),
                 _names(iter(_list(body.get("tools")))), bool(call.stream))


def _openai(call: Call) -> Asked:
    system, turns = [], []
    named: dict[str, str] = {}
    for message in map(_dict, _list(call.body.get("messages"))):
        role, text = message.get("role"), _text(message.get("content"))
        if role in ("system", "developer"):
            system.append(text)
        elif role == "tool":
            turns.append(Turn("user", "", results=(Said(text, named.get(str(message.get("tool_call_id")), "")),)))
        else:
            calls = [_dict(each) for each in _list(message.get("tool_calls"))]
            names = {str(each.get("id")): str(_dict(each.get("function")).get("name")) for each in calls}
            named |= names
            turns.append(Turn("model" if role == "assistant" else "user", text, tuple(names.values())))
    tools = (_dict(tool).get("function") for tool in _list(call.body.get("tools")))
    return Asked("openai", call.model, "\n".join(system), tuple(turns), _names(tools), bool(call.stream))


def _gemini(call: Call) -> Asked:
    body, turns = call.body, []
    for content in map(_dict, _list(body.get("contents"))):
        parts = [_dict(part) for part in _list(content.get("parts"))]
        results = tuple(Said(json.dumps(answer.get("response"), ensure_ascii=False), str(answer.get("name", "")))
                        for part in parts if (answer := _dict(part.get("functionResponse"))))
        calls = (part.get("functionCall") for part in parts if part.get("functionCall"))
        turns.append(Turn("model" if content.get("role") == "model" else "user", _text(parts), _names(calls), results))
    instruction = _dict(body.get("systemInstruction") or body.get("system_instruction"))
    tools = (declared for tool in _list(body.get("tools"))
             for declared in _list(_dict(tool).get("functionDeclarations") or _dict(tool).get("function_declarations")))
    return Asked("gemini", call.model, _text(instruction.get("parts")), tuple(turns), _names(tools), bool(call.stream))


_READERS = {"anthropic": _anthropic, "openai": _openai, "gemini": _gemini}
