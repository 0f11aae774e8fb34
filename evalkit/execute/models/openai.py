"""OpenAI's chat completions, and what compatible servers make of them:
https://platform.openai.com/docs/api-reference/chat.

A chat is a POST to `/chat/completions` below an address that ends with the version (`…/v1`). The length of the answer
is `max_completion_tokens` at OpenAI, whose reasoning models know no other, and `max_tokens` elsewhere: compatible
servers know that one, and one that ignored the other would lift the limit. Who refuses one and names the other is asked
with the other (`amend`).

A tool's output has no flag for a failure here: its text begins with `error:` then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from evalkit.execute.models.chat import Chat, ModelTurn, Reply, Request, Stop, ToolUse, Turn
from evalkit.execute.models.counts import count, mapping, with_own_cost
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.models.trouble import Trouble, kind_of, words_of
from evalkit.execute.outcome import Usage

__all__ = ["NOT_FORCED", "amend", "decode", "encode", "trouble", "usage_of_stream", "with_streamed_usage"]

NOT_FORCED = "the model takes no forced tool call: the call was left to it"
_STOPS: dict[str, Stop] = {
    "stop": "end", "tool_calls": "tools", "function_call": "tools", "length": "length", "content_filter": "refusal",
}
_NOT_BACK = ("annotations", "audio", "provider_metadata", "providerMetadata")
"""Fields of a message that no request has."""


def encode(chat: Chat, endpoint: Endpoint) -> Request:
    """The chat as a request."""
    messages = [{"role": "system", "content": chat.system}] if chat.system else []
    for turn in chat.turns:
        messages += _messages(turn)
    body: dict[str, Any] = {"model": endpoint.model(chat.model), "messages": messages}
    if chat.longest is not None:
        body["max_tokens" if endpoint.compatible else "max_completion_tokens"] = chat.longest
    if chat.tools:
        body["tools"] = [{"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}}
            for tool in chat.tools]
    if chat.force is not None:
        body["tool_choice"] = {"type": "function", "function": {"name": chat.force}}
    if chat.temperature is not None:
        body["temperature"] = chat.temperature
    if chat.seed is not None:
        body["seed"] = chat.seed
    return Request("/chat/completions", body)


def _messages(turn: Turn) -> list[dict[str, Any]]:
    if isinstance(turn, ModelTurn):
        if isinstance(turn.raw, Mapping):
            return [{name: value for name, value in turn.raw.items() if value is not None and name not in _NOT_BACK}
                    | {"role": "assistant"}]
        calls = [{"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
                 for call in turn.calls]
        return [{"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}]
    found: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": output.id,
         "content": f"error: {output.text}" if output.failed else output.text} for output in turn.outputs]
    if turn.text or not found:
        found.append({"role": "user", "content": turn.text})
    return found


def _arguments(call: ToolUse) -> str:
    return call.arguments if isinstance(call.arguments, str) else orjson.dumps(dict(call.arguments)).decode()


def amend(body: dict[str, Any], words: str) -> tuple[dict[str, Any], str] | None:
    """The request as its refusal asks for it, and a note of what it lost; None where there is nothing to mend."""
    if "tool_choice" in words and isinstance(body.get("tool_choice"), Mapping):
        return {**body, "tool_choice": "auto"}, NOT_FORCED
    for name, other in (("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")):
        if name in body and name in words and (other in words or other == "max_tokens"):
            rest = {key: value for key, value in body.items() if key != name}
            return {**rest, other: body[name]}, ""
    return None


def decode(response: Mapping[str, Any], turn: int = 0) -> Reply:
    """A response as a reply. Raises ValueError where it is none. turn: the number of the turn, for ids of ours."""
    choices = response.get("choices")
    choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = mapping(choice.get("message"))
    if not message:
        raise ValueError(words_of(response) or "it has no choice with a message")
    given = message.get("tool_calls")
    calls = tuple(_call(mapping(call), f"evalkit-{turn}-{number}")
                  for number, call in enumerate(given if isinstance(given, list) else []))
    text, reason = _text(message.get("content")), str(choice.get("finish_reason"))
    stop = _STOPS.get(reason, "other")
    refused = message.get("refusal")
    if isinstance(refused, str) and refused:
        stop, reason, text = "refusal", refused[:300], text or refused
    elif calls and stop == "end":  # a forced call ends with `stop`
        stop = "tools"
    return Reply(text, calls, stop, str(response.get("model") or ""), _usage(response), response, detail=reason,
                 content=dict(message))


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content
                       if isinstance(part, Mapping) and part.get("type") == "text")
    return content if isinstance(content, str) else ""


def _call(call: Mapping[str, Any], ours: str) -> ToolUse:
    function = mapping(call.get("function"))
    given = function.get("arguments")
    arguments: Mapping[str, Any] | str
    try:
        read = given if isinstance(given, Mapping) else orjson.loads(str(given or "{}"))
        arguments = dict(read) if isinstance(read, Mapping) else str(given)
    except orjson.JSONDecodeError:
        arguments = str(given)
    return ToolUse(str(call.get("id") or ours), str(function.get("name")), arguments)


def _usage(response: Mapping[str, Any]) -> Usage:
    """`prompt_tokens` has those of the cache in it, `completion_tokens` those of reasoning."""
    counts = mapping(response.get("usage"))
    details = mapping(counts.get("prompt_tokens_details"))
    prompt, read, written = (count(counts, "prompt_tokens"), count(details, "cached_tokens"),
                             count(details, "cache_write_tokens"))
    fresh = None if prompt is None else max(0, prompt - (read or 0) - (written or 0))
    return with_own_cost(Usage(input_tokens=fresh, output_tokens=count(counts, "completion_tokens"),
                               cache_read_tokens=read, cache_write_tokens=written), response)


def usage_of_stream(event: Mapping[str, Any]) -> Usage | None:
    """What a chunk of a stream says of the usage: the last one has it, where the request asked for it
    (`with_streamed_usage`). None where it says nothing.
    """
    usage = _usage(event)
    return None if usage == Usage() else usage


def with_streamed_usage(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a streaming request that has its last chunk tell the usage."""
    return {**body, "stream_options": {**mapping(body.get("stream_options")), "include_usage": True}}


def trouble(status: int, body: object) -> Trouble:
    """An error answer, sorted: https://platform.openai.com/docs/guides/error-codes."""
    words = words_of(body)
    error = mapping(mapping(body).get("error"))
    return Trouble(kind_of(status, f"{words} {error.get('code')} {error.get('type')}"), words)
