"""What a request asks, without what differs from run to run: what a cassette finds an answer by.

`Received` -> `Call` -> `Normal`, the same words for three protocols. Left out, or put in one form:

* by which of its names the model is asked for: a gateway's, or its vendor's own;
* who asks: `metadata`, `user`, `safety_identifier`, `prompt_cache_key`, all headers; ids of calls;
* whether a stream tells its usage (`stream_options`): the live gateway wants it told, a client does not care;
* how it is cached (`cache_control`), whether a text is a text or a list with one, and whether what follows each other
  is one message or several; in which order calls that were made at once came back;
* folders (see `Roots`); of system texts, and of reminders that an agent's program puts into turns, the billing line,
  dates, and the operating system; of tools' results, times, durations, process numbers, ports, temporary files.

What a person or a model said stays as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import frozen

from evalkit.execute.models.provider import plain_model
from evalkit.gateway.asked import Call
from evalkit.gateway.script import JsonObject
from evalkit.gateway.volatile import Roots, plain_system, plain_text, steady, without_reminders

__all__ = ["Normal", "digest_of", "normal_form"]

_NOT_ASKED = frozenset({"metadata", "user", "safety_identifier", "prompt_cache_key", "cache_control", "stream_options"})
_TOLD_APART = frozenset({"model", "stream", "system", "tools", "messages", "contents", "systemInstruction",
                         "system_instruction"})
Part: TypeAlias = JsonObject
"""One of {text}, {call, input}, {result, failed}, {other}."""


def digest_of(value: Any) -> str:
    """Of any JSON, numbers of any size and half surrogate pairs included."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@frozen
class Normal:
    """head: protocol, action, model, stream, and the settings; turns: {role, parts}."""

    head: JsonObject
    system: str
    tools: list[Any]
    turns: list[JsonObject]

    def key(self) -> str:
        """The digest of all of it."""
        return digest_of([self.compared(), self.system, self.tools, self.turns])

    def compared(self) -> JsonObject:
        """The head, with its model's name in one form: gateways and vendors call it otherwise."""
        return {**self.head, "model": plain_model(str(self.head.get("model")))}

    def place(self) -> str:
        """The digest of the place in its conversation: of all but what tools returned and programs reminded of."""
        turns = [placed for turn in self.turns if (placed := _placed(turn)) is not None]
        return digest_of([self.compared(), self.system, self.tools, turns])

    def results(self) -> list[str]:
        """What tools returned, in order."""
        return [part["result"] for turn in self.turns for part in turn["parts"] if "result" in part]


def _placed(turn: JsonObject) -> JsonObject | None:
    if turn["role"] == "system":
        return None
    parts = []
    for part in turn["parts"]:
        if "result" in part:
            parts.append({"failed": part["failed"]})
        elif "text" not in part or (text := without_reminders(part["text"]).strip()):
            parts.append({"text": text} if "text" in part else part)
    return {"role": turn["role"], "parts": parts}


def normal_form(call: Call, roots: Roots, clean: Callable[[str], str]) -> Normal:
    """clean: takes keys out of a text."""
    cleaned = _Cleaner(roots, clean)
    settings = {name: cleaned.data(value) for name, value in call.body.items()
                if name not in _TOLD_APART and name not in _NOT_ASKED}
    head = {"protocol": call.protocol, "action": call.action, "model": call.model, "stream": call.stream,
            "settings": settings}
    system, turns = _READERS[call.protocol](call.body, cleaned)
    return Normal(head, system, cleaned.data(_list(call.body.get("tools"))), turns)


class _Cleaner:
    def __init__(self, roots: Roots, clean: Callable[[str], str]) -> None:
        self._roots, self._clean = roots, clean

    def text(self, text: str, manner: Callable[[str], str] = plain_text) -> str:
        return manner(self._roots.hide(self._clean(text)))

    def data(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._roots.hide(self._clean(value))
        if isinstance(value, Mapping):
            return {str(name): self.data(each) for name, each in value.items() if name != "cache_control"}
        if isinstance(value, list):
            return [self.data(each) for each in value]
        return value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]


def _merged(parts: Iterable[Part]) -> list[Part]:
    """Texts that follow each other are one."""
    found: list[Part] = []
    for part in parts:
        if "text" in part and found and "text" in found[-1]:
            found[-1] = {"text": f"{found[-1]['text']}\n{part['text']}"}
        else:
            found.append(part)
    return found


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in _dicts(content))


def _turns(messages: Iterable[tuple[str, list[Part]]]) -> list[JsonObject]:
    """The turns: messages of one role that follow each other are one; its results stand in the order of their calls."""
    turns: list[JsonObject] = []
    for role, parts in messages:
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "parts": []})
        turns[-1]["parts"] += parts
    called: list[Any] = []
    for turn in turns:
        results = sorted((part for part in turn["parts"] if "result" in part),
                         key=lambda part: called.index(part["of"]) if part["of"] in called else -1)
        ordered = iter(results)
        parts = [next(ordered) if "result" in part else part for part in turn["parts"]]
        called = [part.get("of") for part in parts if "call" in part] or called
        turn["parts"] = _merged({name: value for name, value in part.items() if name != "of"} for part in parts)
    return turns


def _result(of: Any, content: Any, failed: bool, cleaned: _Cleaner) -> Part:
    """of: the id of the call, for the order alone."""
    texts = content if isinstance(content, str) else "\n".join(
        block["text"] if isinstance(block.get("text"), str) else json.dumps(cleaned.data(block), sort_keys=True)
        for block in _dicts(content))
    return {"result": cleaned.text(texts, steady), "failed": failed, "of": of}


# ---- one reader a protocol ----
def _anthropic(body: JsonObject, cleaned: _Cleaner) -> tuple[str, list[JsonObject]]:
    messages = []
    for message in _dicts(body.get("messages")):
        role, content = str(message.get("role")), message.get("content")
        if role == "system":
            parts: list[Part] = [{"text": cleaned.text(_text_of(content), plain_system)}]
        elif isinstance(content, str):
            parts = [{"text": cleaned.text(content)}]
        else:
            parts = [_anthropic_part(block, cleaned) for block in _dicts(content)]
        messages.append((role, parts))
    return cleaned.text(_text_of(body.get("system")), plain_system).strip(), _turns(messages)


def _anthropic_part(block: Mapping[str, Any], cleaned: _Cleaner) -> Part:
    kind = block.get("type")
    if kind == "text":
        return {"text": cleaned.text(str(block.get("text", "")))}
    if kind == "tool_use":
        return {"call": block.get("name"), "input": cleaned.data(block.get("input")), "of": block.get("id")}
    if kind == "tool_result":
        return _result(block.get("tool_use_id"), block.get("content"), block.get("is_error") is True, cleaned)
    return {"other": cleaned.data({name: value for name, value in block.items() if name != "signature"})}


def _openai(body: JsonObject, cleaned: _Cleaner) -> tuple[str, list[JsonObject]]:
    system, messages = [], []
    for message in _dicts(body.get("messages")):
        role, content = str(message.get("role")), message.get("content")
        if role in ("system", "developer"):
            system.append(cleaned.text(_text_of(content), plain_system))
            continue
        parts: list[Part] = []
        if role == "tool":
            parts.append(_result(message.get("tool_call_id"), content, False, cleaned))
        elif isinstance(content, str):
            parts.append({"text": cleaned.text(content)})
        else:
            parts += [{"text": cleaned.text(str(block["text"]))} if isinstance(block.get("text"), str)
                      else {"other": cleaned.data(block)} for block in _dicts(content)]
        for call in _dicts(message.get("tool_calls")):
            for function in _dicts([call.get("function")]):
                parts.append({"call": function.get("name"), "of": call.get("id"),
                              "input": cleaned.data(_parsed(function.get("arguments")))})
        messages.append((role, parts))
    return "\n".join(system).strip(), _turns(messages)


def _parsed(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (TypeError, ValueError, RecursionError):
        return arguments


def _gemini(body: JsonObject, cleaned: _Cleaner) -> tuple[str, list[JsonObject]]:
    messages = []
    for content in _dicts(body.get("contents")):
        parts: list[Part] = []
        for part in _dicts(content.get("parts")):
            call, answer = part.get("functionCall"), part.get("functionResponse")
            if isinstance(call, dict):
                parts.append({"call": call.get("name"), "input": cleaned.data(call.get("args")), "of": None})
            elif isinstance(answer, dict):
                parts.append(_result(None, json.dumps(answer.get("response"), ensure_ascii=False), False, cleaned))
            elif isinstance(part.get("text"), str):
                parts.append({"text": cleaned.text(part["text"])})
            else:
                parts.append({"other": cleaned.data(part)})
        messages.append((str(content.get("role")), parts))
    instruction = body.get("systemInstruction") or body.get("system_instruction")
    said = instruction.get("parts") if isinstance(instruction, dict) else None
    return cleaned.text(_text_of(said), plain_system).strip(), _turns(messages)


_READERS = {"anthropic": _anthropic, "openai": _openai, "gemini": _gemini}
