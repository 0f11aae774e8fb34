"""An answer of a script -> bytes of the protocol that was asked in, faults included."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal

from evalkit.execute.models.trouble import NO_ANSWER
from evalkit.gateway import wire, wire_gemini, wire_openai
from evalkit.gateway.asked import Call, Protocol
from evalkit.gateway.connection import Responder
from evalkit.gateway.script import Answer, Close, CutStream, Fault, Garbage, Hang, JsonObject, Reply

__all__ = ["count_tokens", "fault_body", "send_answer", "send_count", "send_no_answer"]

_WHOLE: dict[Protocol, Callable[[Reply, str, int], JsonObject]] = {
    "anthropic": wire.message, "openai": wire_openai.completion, "gemini": wire_gemini.response}
_TICK = 0.05
"""Seconds between the pieces of a slow body."""


def send_answer(answer: Answer, call: Call, number: int, out: Responder) -> None:
    """Send an answer; number: unique among the answers of a gateway, for ids."""
    if isinstance(answer, Fault):
        headers = {} if answer.retry_after is None else {"Retry-After": f"{answer.retry_after:g}"}
        out.send(answer.status, fault_body(answer, call.protocol), headers=headers)
    elif isinstance(answer, Garbage):
        out.send(answer.status, answer.body, answer.content_type)
    elif isinstance(answer, Close):
        out.drop()
    elif isinstance(answer, Hang):
        out.wait(answer.seconds)
        out.drop()
    else:
        cut = answer.after_events if isinstance(answer, CutStream) else None
        _send_reply(answer.reply if isinstance(answer, CutStream) else answer, cut, call, number, out)


def send_no_answer(kind: Literal["script", "cassette"], path: str, said: str, protocol: Protocol,
                   out: Responder) -> None:
    """The file has no answer: an error that programs take for final, with a header that tells it from a refused key."""
    fault = Fault(403, "permission_error", f"the {kind} {path} has no answer: {said}")
    out.send(fault.status, fault_body(fault, protocol), headers={NO_ANSWER: kind})


def _send_reply(reply: Reply, cut: int | None, call: Call, number: int, out: Responder) -> None:
    if reply.delay > 0 and out.wait(reply.delay):
        out.drop()
    elif not call.stream:
        raw = json.dumps(_WHOLE[call.protocol](reply, call.model, number)).encode()
        out.start(200, {"Content-Type": reply.content_type or "application/json"}, length=len(raw))
        if _trickle(raw if cut is None else raw[: len(raw) // 2], reply.speed, out):
            out.finish() if cut is None else out.drop()
    else:
        kind = "text/event-stream; charset=utf-8" if call.stream == "sse" else "application/json"
        out.start(200, {"Content-Type": reply.content_type or kind, "Cache-Control": "no-cache"})
        for raw in islice(_events(reply, call, number), cut):
            if not _trickle(raw, reply.speed, out):
                return
        out.finish() if cut is None else out.drop()


def _events(reply: Reply, call: Call, number: int) -> Iterator[bytes]:
    if call.protocol == "anthropic":
        for event in wire.stream_events(reply, call.model, number):
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    elif call.protocol == "openai":
        told = wire_openai.wants_usage(call.body)
        for event in wire_openai.stream_events(reply, call.model, number, usage=told):
            yield f"data: {json.dumps(event)}\n\n".encode()
        yield b"data: [DONE]\n\n"
    elif call.stream == "sse":
        for event in wire_gemini.stream_events(reply, call.model, number):
            yield f"data: {json.dumps(event)}\r\n\r\n".encode()
    else:
        opening = b"["
        for event in wire_gemini.stream_events(reply, call.model, number):
            yield opening + json.dumps(event).encode()
            opening = b",\r\n"
        yield b"]"


def _trickle(raw: bytes, speed: float | None, out: Responder) -> bool:
    """Write at `speed` bytes a second. False: the gateway or the client ended meanwhile, and the answer with it."""
    if speed is None:
        out.write(raw)
        return True
    step = max(1, int(speed * _TICK))
    for start in range(0, len(raw), step):
        piece = raw[start : start + step]
        out.write(piece)
        if out.wait(len(piece) / speed):
            out.drop()
            return False
    return True


def fault_body(fault: Fault, protocol: Protocol) -> bytes:
    if protocol == "openai":
        value: JsonObject = {"error": {"message": fault.message, "type": fault.kind, "param": None, "code": None}}
    elif protocol == "gemini":
        status = wire_gemini.STATUS.get(fault.status, "UNKNOWN")
        value = {"error": {"code": fault.status, "message": fault.message, "status": status}}
    else:
        value = {"type": "error", "error": {"type": fault.kind, "message": fault.message}}
    return json.dumps(value).encode()


def count_tokens(raw: bytes) -> int:
    """About how many tokens a request has: four bytes a token is a common rule of thumb."""
    return len(raw) // 4 + 1


def send_count(call: Call, raw: bytes, out: Responder) -> None:
    name = "totalTokens" if call.protocol == "gemini" else "input_tokens"
    out.send(200, json.dumps({name: count_tokens(raw)}).encode())
