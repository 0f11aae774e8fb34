"""A reply as OpenAI's chat completions have it, whole or as stream events.

https://platform.openai.com/docs/api-reference/chat/object and .../chat-streaming. Arguments of calls are JSON texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evalkit.gateway.script import JsonObject, Reply, Text
from evalkit.gateway.wire import pieces

__all__ = ["completion", "stream_events", "wants_usage"]

_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length",
           "refusal": "content_filter"}
_MADE = 1_700_000_000
"""When each answer says that it was made: two runs of a script are equal."""


def _text(reply: Reply) -> str | None:
    texts = [block.text for block in reply.blocks if isinstance(block, Text)]
    return "\n".join(texts) if texts else None


def _calls(reply: Reply, number: int) -> list[JsonObject]:
    calls = [block for block in reply.blocks if not isinstance(block, Text)]
    return [{"id": f"call_scripted_{number:04d}_{index}", "type": "function",
             "function": {"name": call.name, "arguments": json.dumps(dict(call.input))}}
            for index, call in enumerate(calls)]


def _usage(reply: Reply) -> JsonObject:
    # Unlike in the Messages API, tokens that were read from a cache are among those of the prompt.
    prompt = reply.input_tokens + reply.cache_read_tokens
    return {"prompt_tokens": prompt, "completion_tokens": reply.output_tokens,
            "total_tokens": prompt + reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cache_read_tokens}}


def _finish(reply: Reply) -> str:
    return _FINISH.get(reply.ending, reply.ending)


def completion(reply: Reply, model: str, number: int) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": _text(reply), "refusal": None}
    if calls := _calls(reply, number):
        message["tool_calls"] = calls
    return {"id": f"chatcmpl-scripted-{number:04d}", "object": "chat.completion", "created": _MADE, "model": model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}],
            "usage": _usage(reply)}


def wants_usage(body: JsonObject) -> bool:
    """Whether a streamed answer is to end with the token counts: only where they are asked for."""
    options: Any = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def stream_events(reply: Reply, model: str, number: int, *, usage: bool) -> Iterator[JsonObject]:
    """The events before `[DONE]`."""
    head = {"id": f"chatcmpl-scripted-{number:04d}", "object": "chat.completion.chunk", "created": _MADE,
            "model": model}

    def event(delta: JsonObject, finish: str | None = None) -> JsonObject:
        return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    yield event({"role": "assistant", "content": ""})
    for piece in pieces(_text(reply) or "", reply.chunk):
        yield event({"content": piece})
    for index, call in enumerate(_calls(reply, number)):
        whole = call["function"]["arguments"]
        opening = {**call, "function": {**call["function"], "arguments": ""}}
        yield event({"tool_calls": [{"index": index, **opening}]})
        for piece in pieces(whole, reply.chunk):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield event({}, _finish(reply))
    if usage:
        yield {**head, "choices": [], "usage": _usage(reply)}
