"""Counts one reply of a model while its bytes pass: tokens, the model that gave it, and whether it came to its end.

A stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) is cut into its events
on the side; the bytes themselves go on as they came. What an event says of the usage is the protocol's own matter
(execute/models). An event that is too long to be held is passed on uncounted, and the reply has an unknown end then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from evalkit.execute.models.chat import Protocol
from evalkit.execute.models.client import language
from evalkit.execute.models.counts import later, mapping
from evalkit.execute.outcome import Usage

__all__ = ["ReplyMeter", "is_usage_alone"]

_LONGEST_EVENT = 16 * 1024 * 1024
"""Bytes."""
_TELLING = (b"usage", b"message_stop", b"error", b"[DONE]", b"finishReason", b"finish_reason")
"""An event without any of these is a piece of text."""


class ReplyMeter:
    """Counts one reply. usage, model: as far as they are known. ended: the reply came to its end, by its own words.

    error: the provider's words, of a stream that became an error.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.usage = Usage()
        self.model = ""
        self.ended = False
        self.error = ""
        self._protocol = protocol
        self._usage_of = language(protocol).usage_of_stream
        self._rest = b""

    # ---- a reply in one piece ----
    def whole(self, body: bytes) -> None:
        """Count a reply in one piece; Gemini has streams that are one list of chunks."""
        try:
            found = orjson.loads(body)
        except orjson.JSONDecodeError:
            return
        for data in found if isinstance(found, list) else [found]:
            if isinstance(data, dict):
                self._whole(data)

    def _whole(self, data: Mapping[str, Any]) -> None:
        wrapped = {"type": "message_start", "message": data} if self._protocol == "anthropic" else data
        self._take(self._usage_of(wrapped))
        self.model = str(data.get("model") or data.get("modelVersion") or "")
        self.ended = any(name in data for name in ("content", "choices", "candidates", "promptFeedback"))

    # ---- a stream ----
    def feed(self, data: bytes) -> list[bytes]:
        """Take some bytes of a stream; returns the events that are complete with them, as they came."""
        if len(self._rest) > _LONGEST_EVENT:
            return []
        looked_at = max(0, len(self._rest) - 3)  # the mark of an end may have come in two pieces
        self._rest += data
        whole = []
        while (end := _end_of_event(self._rest, looked_at)) > 0:
            event, self._rest, looked_at = self._rest[:end], self._rest[end:], 0
            whole.append(event)
            if any(word in event for word in _TELLING):
                self._event(event)
            elif not self.model:
                self._name(_data(event))
        return whole

    @property
    def rest(self) -> bytes:
        """What came after the last complete event."""
        return self._rest

    def _event(self, event: bytes) -> None:
        text = _data(event)
        if text.strip() == b"[DONE]":
            self.ended = True
            return
        data = _object(text)
        if data is None:
            return
        self._take(self._usage_of(data))
        self._name(text)
        kind = data.get("type")
        if kind == "error" or ("error" in data and "choices" not in data and kind is None):
            self.error = str(mapping(data.get("error")).get("message") or "an error in its stream")[:300]
        if kind == "message_stop" or self._finished(data):
            self.ended = True

    def _finished(self, data: Mapping[str, Any]) -> bool:
        """Whether a chunk has the reason why the model stopped: of these protocols no more of the text comes then."""
        for name, reason in (("choices", "finish_reason"), ("candidates", "finishReason")):
            found = data.get(name)
            if isinstance(found, list) and found and mapping(found[0]).get(reason):
                return True
        return False

    def _name(self, text: bytes) -> None:
        if not self.model and (data := _object(text)) is not None:
            message = mapping(data.get("message"))
            self.model = str(data.get("model") or data.get("modelVersion") or message.get("model") or "")

    def _take(self, usage: Usage | None) -> None:
        if usage is not None:
            self.usage = later(self.usage, usage)


def is_usage_alone(event: bytes) -> bool:
    """Whether a chunk of OpenAI's protocol has no text, only the usage: who did not ask for it may not expect it."""
    data = _object(_data(event)) if b'"choices"' in event else None
    return data is not None and data.get("choices") == [] and "usage" in data


def _end_of_event(data: bytes, start: int) -> int:
    """The bytes of the first event with its blank line; 0 where it is not complete. start: no end is before it."""
    ends = [(at, len(mark)) for mark in (b"\n\n", b"\r\n\r\n") if (at := data.find(mark, start)) >= 0]
    return sum(min(ends)) if ends else 0


def _data(event: bytes) -> bytes:
    return b"\n".join([line[5:].strip() for line in event.splitlines() if line.startswith(b"data:")])


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
