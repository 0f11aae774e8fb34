"""A reply as the Messages API has it: one message object, or stream events. Pure functions, as in wire_*.py.

The shapes follow https://docs.anthropic.com/en/api/messages and .../messages-streaming.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from evalkit.gateway.script import JsonObject, Reply, Text

__all__ = ["message", "pieces", "stream_events"]


def pieces(text: str, size: int) -> Iterator[str]:
    """A text in pieces of `size` characters.

    They are short by default, so that even a small block arrives in several, as from the real service: a client that
    forgets to join them fails in a test and not in the field.
    """
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _content(reply: Reply, number: int) -> list[JsonObject]:
    content: list[JsonObject] = []
    for index, block in enumerate(reply.blocks):
        if isinstance(block, Text):
            content.append({"type": "text", "text": block.text})
        else:
            call = {"id": f"toolu_scripted_{number:04d}_{index}", "name": block.name}
            content.append({"type": "tool_use", **call, "input": dict(block.input)})
    return content


def message(reply: Reply, model: str, number: int) -> JsonObject:
    return {
        "id": f"msg_scripted_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _content(reply, number),
        "stop_reason": reply.ending,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.input_tokens,
            "cache_creation_input_tokens": reply.cache_write_tokens,
            "cache_read_input_tokens": reply.cache_read_tokens,
            "output_tokens": reply.output_tokens,
        },
    }


def _block_events(index: int, block: JsonObject, size: int) -> Iterator[JsonObject]:
    if block["type"] == "text":
        whole, kind, part = block["text"], "text_delta", "text"
        opening = {**block, "text": ""}
    else:
        whole, kind, part = json.dumps(block["input"]), "input_json_delta", "partial_json"
        opening = {**block, "input": {}}
    yield {"type": "content_block_start", "index": index, "content_block": opening}
    for piece in pieces(whole, size):
        yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, part: piece}}
    yield {"type": "content_block_stop", "index": index}


def stream_events(reply: Reply, model: str, number: int) -> Iterator[JsonObject]:
    """The events of a streamed reply, in the order of the API; the token counts are split as it does."""
    whole = message(reply, model, number)
    opening = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(whole["content"]):
        yield from _block_events(index, block, reply.chunk)
    ending = {"stop_reason": reply.ending, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": reply.output_tokens}}
    yield {"type": "message_stop"}
