"""Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages.

A chat is a POST to `/v1/messages`. The protocol has no seed, so a chat with one is refused: it would be measured as
something else. `max_tokens` must be given; the models of today take `LONGEST`.

Some models take no forced tool call and answer 400 (https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5).
Nobody has to keep a list of them: `amend` makes the request one that leaves the call to the model, and whoever asked
looks whether the call was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from evalkit.errors import UserError
from evalkit.execute.models.chat import Chat, ModelTurn, Reply, Request, Stop, ToolUse, Turn
from evalkit.execute.models.counts import count, mapping, with_own_cost
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.models.trouble import Trouble, kind_of, words_of
from evalkit.execute.outcome import Usage

__all__ = ["LONGEST", "NOT_FORCED", "VERSION", "amend", "decode", "encode", "trouble", "usage_of_stream"]

VERSION = "2023-06-01"
"""The header `anthropic-version`."""
LONGEST = 32_000
"""Tokens of an answer where nobody says how many."""
NOT_FORCED = "the model takes no forced tool call: the call was left to it"
_STOPS: dict[str, Stop] = {
    "end_turn": "end", "stop_sequence": "end", "tool_use": "tools", "max_tokens": "length",
    "model_context_window_exceeded": "length", "refusal": "refusal",
}


def encode(chat: Chat, endpoint: Endpoint) -> Request:
    """The chat as a request. Raises UserError for a seed."""
    if chat.seed is not None:
        raise UserError(f"`{chat.model}` is asked over the Messages API, which has no seed",
                        hint="remove `seed` from the case, or choose another model")
    body: dict[str, Any] = {
        "model": endpoint.model(chat.model),
        "max_tokens": LONGEST if chat.longest is None else chat.longest,
        "messages": [_message(turn) for turn in chat.turns],
    }
    if chat.system:
        body["system"] = chat.system
    if chat.tools:
        body["tools"] = [{"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
                         for tool in chat.tools]
    if chat.force is not None:
        body["tool_choice"] = {"type": "tool", "name": chat.force, "disable_parallel_tool_use": True}
    if chat.temperature is not None:
        body["temperature"] = chat.temperature
    return Request("/v1/messages", body, {"anthropic-version": VERSION})


def _message(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, ModelTurn):
        if turn.raw is not None:
            return {"role": "assistant", "content": turn.raw}
        uses = [{"type": "tool_use", "id": call.id, "name": call.name,
                 "input": {} if isinstance(call.arguments, str) else dict(call.arguments)} for call in turn.calls]
        return {"role": "assistant", "content": [*_text(turn.text), *uses]}
    if not turn.outputs:
        return {"role": "user", "content": turn.text}
    results = [{"type": "tool_result", "tool_use_id": output.id, "content": output.text,
                **({"is_error": True} if output.failed else {})} for output in turn.outputs]
    return {"role": "user", "content": [*results, *_text(turn.text)]}


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []  # an empty block is refused


def amend(body: dict[str, Any], words: str) -> tuple[dict[str, Any], str] | None:
    """The request as its refusal asks for it, and a note of what it lost; None where there is nothing to mend."""
    choice = mapping(body.get("tool_choice"))
    if "tool_choice" in words and choice.get("type") == "tool":
        return {**body, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, NOT_FORCED
    return None


def decode(response: Mapping[str, Any], turn: int = 0) -> Reply:
    """A response as a reply. Raises ValueError where it is none. turn: the number of the turn, for ids of ours."""
    blocks = response.get("content")
    if not isinstance(blocks, list):
        raise ValueError(words_of(response) or "it has no content")
    found = [block for block in blocks if isinstance(block, Mapping)]
    calls = tuple(_call(block, f"evalkit-{turn}-{number}") for number, block in enumerate(found)
                  if block.get("type") == "tool_use")
    text = "".join(str(block.get("text", "")) for block in found if block.get("type") == "text")
    reason = str(response.get("stop_reason"))
    return Reply(text, calls, _STOPS.get(reason, "other"), str(response.get("model") or ""), _usage(response), response,
                 detail=reason, content=blocks)


def _call(block: Mapping[str, Any], ours: str) -> ToolUse:
    given = block.get("input")
    arguments = dict(given) if isinstance(given, Mapping) else orjson.dumps(given).decode()
    return ToolUse(str(block.get("id") or ours), str(block.get("name")), arguments)


def _usage(message: Mapping[str, Any]) -> Usage:
    counts = mapping(message.get("usage"))
    return with_own_cost(Usage(
        input_tokens=count(counts, "input_tokens"), output_tokens=count(counts, "output_tokens"),
        cache_read_tokens=count(counts, "cache_read_input_tokens"),
        cache_write_tokens=count(counts, "cache_creation_input_tokens")), message)


def usage_of_stream(event: Mapping[str, Any]) -> Usage | None:
    """What an event of a stream says of the usage: `message_start` has the input, each `message_delta` the output so
    far (and whatever else it repeats). None where it says nothing. Events follow one another with `counts.later`.
    """
    if event.get("type") == "message_start":
        return _usage(mapping(event.get("message")))
    return _usage(event) if event.get("type") == "message_delta" else None


def trouble(status: int, body: object) -> Trouble:
    """An error answer, sorted: https://platform.claude.com/docs/en/api/errors."""
    words = words_of(body)
    return Trouble(kind_of(status, words), words)
