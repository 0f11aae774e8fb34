"""A reply as Gemini's generateContent has it, whole or in pieces (https://ai.google.dev/api/generate-content).

A function call is never cut into pieces there. Token counts come with every piece; the last is the one that counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.gateway.script import JsonObject, Reply, Text
from evalkit.gateway.wire import pieces

__all__ = ["STATUS", "response", "stream_events"]

STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
          429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
"""Names of statuses in error bodies (https://cloud.google.com/apis/design/errors)."""
_FINISH = {"end_turn": "STOP", "stop_sequence": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS",
           "refusal": "SAFETY"}


def _usage(reply: Reply, output: int) -> JsonObject:
    prompt = reply.input_tokens + reply.cache_read_tokens
    cached = {"cachedContentTokenCount": reply.cache_read_tokens} if reply.cache_read_tokens else {}
    return {"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": prompt + output, **cached}


def _piece(reply: Reply, model: str, number: int, parts: list[JsonObject], *, last: bool) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = _FINISH.get(reply.ending, reply.ending)
    return {"candidates": [candidate], "usageMetadata": _usage(reply, reply.output_tokens if last else 1),
            "modelVersion": model, "responseId": f"scripted-{number:04d}"}


def _parts(reply: Reply) -> list[JsonObject]:
    return [{"text": block.text} if isinstance(block, Text)
            else {"functionCall": {"name": block.name, "args": dict(block.input)}} for block in reply.blocks]


def response(reply: Reply, model: str, number: int) -> JsonObject:
    return _piece(reply, model, number, _parts(reply), last=True)


def stream_events(reply: Reply, model: str, number: int) -> Iterator[JsonObject]:
    parts = [part for whole in _parts(reply)
             for part in ([{"text": piece} for piece in pieces(whole["text"], reply.chunk)] if "text" in whole
                          else [whole])] or [{"text": ""}]
    for index, part in enumerate(parts):
        yield _piece(reply, model, number, [part], last=index == len(parts) - 1)
