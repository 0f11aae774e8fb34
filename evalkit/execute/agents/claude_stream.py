"""Follows the stream of Claude Code: raw lines -> the transcript on disk, and what the ending is told by.

Measured on 2.1.332. Every content block of a message is an `assistant` line of its own; they share the message's id and
its usage as it was when the message began (so its output tokens are no count), and their `stop_reason` is null. An
error is shown as a made-up `assistant` line with `is_api_error_message`, whose `error` names its kind. A request that
is tried again is a `system` line, `api_retry`, with `error_status` null where no connection came about.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import IO, Any

import orjson

from evalkit.execute.outcome import Usage
from evalkit.execute.secrets import Redactor

__all__ = ["Reader"]

_AFTER_RESULT = 5.0
"""Seconds that it may take to exit after its result line."""
GIVE_UP_AFTER = 3
"""Retries in a row after which a provider is said not to answer."""
_NOTES = 20


class Reader:
    """Takes the lines of one run, one at a time."""

    def __init__(self, sink: IO[bytes], redactor: Redactor) -> None:
        self._sink = sink
        self._redactor = redactor
        self._result_at = 0.0
        self._usages: dict[str, Mapping[str, Any]] = {}
        self.result: Mapping[str, Any] | None = None
        """The result line."""
        self.error = ""
        """The kind of the last error that was shown in a reply's place."""
        self.refused = ""
        """With what the key was refused."""
        self.retries = 0
        self.retries_in_a_row = 0
        self._unconnected = 0

    @property
    def replies(self) -> int:
        """Messages of the model so far."""
        return len(self._usages)

    @property
    def unreachable(self) -> bool:
        """No connection came about, again and again, and no reply came before."""
        return not self._usages and self._unconnected >= GIVE_UP_AFTER

    def line(self, raw: bytes) -> None:
        """Write a line down, cleaned of secrets, and note what it says. Noise between the lines is only written."""
        self._sink.write(self._redactor.clean(raw) + b"\n")
        self._sink.flush()
        event = _object(raw)
        kind = event.get("type")
        if kind == "result":
            self.result, self._result_at = event, time.monotonic()
        elif kind == "assistant":
            self._assistant(event)
        elif kind == "system" and event.get("subtype") == "api_retry":
            self._retry(event.get("error_status"), event.get("error"))

    def _assistant(self, event: Mapping[str, Any]) -> None:
        if event.get("is_api_error_message"):
            self.error = str(event.get("error") or "unknown")
            return
        message = event.get("message")
        if isinstance(message, dict):
            usage = message.get("usage")
            self._usages[str(message.get("id"))] = usage if isinstance(usage, dict) else {}
            self.retries_in_a_row = self._unconnected = 0

    def _retry(self, status: object, error: object) -> None:
        self.retries += 1
        self.retries_in_a_row += 1
        self._unconnected = self._unconnected + 1 if status is None else 0
        if status in (401, 403) or error == "authentication_failed":
            self.refused = f"status {status}"

    def stop(self) -> str:
        """Why the program should be ended now, or ""."""
        if self.refused:
            return "the key was refused"
        if self.unreachable:
            return "the provider cannot be reached"
        if self.result is not None and time.monotonic() - self._result_at > _AFTER_RESULT:
            return "it did not exit after its result"
        return ""

    def usage(self) -> Usage:
        """What the run consumed. Without a result line nobody counted the output tokens, nor the cost."""
        result = self.result or {}
        total = result.get("usage")
        parts = [total] if isinstance(total, dict) else list(self._usages.values())
        cost = result.get("total_cost_usd")
        priced = isinstance(cost, int | float)
        return Usage(
            turns=self.replies,
            input_tokens=_sum(parts, "input_tokens"),
            output_tokens=_sum(parts, "output_tokens") if isinstance(total, dict) else None,
            cache_read_tokens=_sum(parts, "cache_read_input_tokens"),
            cache_write_tokens=_sum(parts, "cache_creation_input_tokens"),
            cost=float(cost) if isinstance(cost, int | float) else None,
            cost_source="Claude Code" if priced else "",
        )

    def notes(self) -> tuple[str, ...]:
        """What a reader of the result should know: denied tool calls, retries."""
        denials = (self.result or {}).get("permission_denials")
        found = [denial for denial in (denials if isinstance(denials, list) else []) if isinstance(denial, dict)]
        notes = []
        for denial in found[:_NOTES]:
            asked = json.dumps(denial.get("tool_input"), ensure_ascii=False)[:120]
            notes.append(f"denied: {denial.get('tool_name')} {asked}")
        if len(found) > _NOTES:
            notes.append(f"and {len(found) - _NOTES} more denied")
        if self.retries:
            notes.append(f"the provider was asked again {self.retries} times")
        return tuple(self._redactor.text(note) for note in notes)


def _object(raw: bytes) -> dict[str, Any]:
    """A line's JSON object; an empty one where it is none."""
    try:
        event = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            event = json.loads(raw)  # half a surrogate pair, as JavaScript writes a text cut in a character
        except (ValueError, RecursionError):
            return {}
    return event if isinstance(event, dict) else {}


def _sum(parts: list[Any], name: str) -> int:
    return sum(value for part in parts if isinstance(value := part.get(name), int))
