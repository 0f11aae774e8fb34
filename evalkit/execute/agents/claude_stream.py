"""Follows the stream of Claude Code: raw lines -> the transcript on disk, and what the ending is told by.

Measured on 2.1.332. Every content block of a message is an `assistant` line of its own; they share the message's id and
its usage as it was when the message began, and their `stop_reason` is null. An error is shown as a made-up `assistant`
line with `is_api_error_message`, whose `error` names its kind and whose `api_error` a lost connection; what Claude Code
says itself (to a prompt that is a command of its own) is one of the model `<synthetic>`, too. A request that is tried
again is a `system` line, `api_retry`, with `error_status` null where no connection came about.

The tokens of a reply are told by the provider's own events (`stream_event`, with `--include-partial-messages`). They
are counted as they come and not written down: what they say stands in the transcript as whole messages. The result
line's `usage` lacks the last request where a limit ended the run, its `modelUsage` does not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import IO, Any

import orjson

from evalkit.execute.agents.claude_usage import Counter, total
from evalkit.execute.budget import dollars
from evalkit.execute.models.prices import Prices
from evalkit.execute.outcome import Usage
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts.foreign import decode

__all__ = ["GIVE_UP_AFTER", "Reader"]

_AFTER_RESULT = 5.0
"""Seconds that it may take to exit after its result line."""
GIVE_UP_AFTER = 3
"""Retries in a row after which a provider is said not to answer."""
_NOTES = 20


class Reader:
    """Takes the lines of one run, one at a time.

    model: the one that was asked for. cost, tokens: the case's limits, dollars and a number; None: no limit.
    """

    def __init__(self, sink: IO[bytes], redactor: Redactor, prices: Prices, model: str, *, cost: float | None = None,
                 tokens: int | None = None) -> None:
        self._sink = sink
        self._redactor = redactor
        self._counter = Counter(prices, model)
        self._cost, self._tokens = cost, tokens
        self._result_at = 0.0
        self._replied: set[str] = set()
        self._unconnected = 0
        self.result: Mapping[str, Any] | None = None
        """The result line."""
        self.error = ""
        """The kind of the last error that was shown in a reply's place."""
        self.lost_connection = False
        """Whether that error was a lost connection."""
        self.refused = ""
        """With what the key was refused."""
        self.over = ""
        """The limit of the case that was passed before the run came to its end."""
        self.retries = 0
        self.retries_in_a_row = 0

    @property
    def replies(self) -> int:
        """Messages of the model so far."""
        return len(self._replied)

    @property
    def answers(self) -> int:
        """Replies that came to their end, also empty ones, which are no message of the stream."""
        return max(self.replies, self._counter.finished)

    @property
    def unreachable(self) -> bool:
        """No connection came about, again and again, and no reply came before."""
        return not self._replied and self._unconnected >= GIVE_UP_AFTER

    def line(self, raw: bytes) -> None:
        """Write a line down, cleaned of secrets, and note what it says. Noise between the lines is only written."""
        event = _object(raw)
        kind = event.get("type")
        if kind == "stream_event":
            self._streamed(event)
            return
        if kind == "system" and event.get("subtype") == "status" and event.get("status") == "requesting":
            return
        self._sink.write(self._redactor.clean(raw) + b"\n")
        self._sink.flush()
        if kind == "result":
            self.result, self._result_at = event, time.monotonic()
        elif kind == "assistant":
            self._assistant(event)
        elif kind == "system" and event.get("subtype") == "api_retry":
            self._retry(event.get("error_status"), event.get("error"))

    def _streamed(self, event: Mapping[str, Any]) -> None:
        inner = event.get("event")
        if not isinstance(inner, dict):
            return
        source = str(event.get("parent_tool_use_id"))  # a subagent's replies come between the others
        goes_on = False
        if inner.get("type") == "message_start":
            if self._cost is not None and (self._counter.cost or 0.0) > self._cost:
                self.over = f"cost limit of {dollars(self._cost)}"  # Claude Code's own limit did not hold
            self._counter.start(source, inner.get("message"))
            goes_on = True
        elif inner.get("type") == "message_delta":
            self._counter.end(source, inner.get("usage"))
            delta = inner.get("delta")
            goes_on = isinstance(delta, dict) and delta.get("stop_reason") == "tool_use"
        if goes_on:  # a run that ends by itself with the reply that passed the limit was not ended by it
            self._check_tokens()

    def _check_tokens(self) -> None:
        if self._tokens is not None and self._counter.tokens > self._tokens:
            self.over = f"limit of {self._tokens} tokens"

    def _assistant(self, event: Mapping[str, Any]) -> None:
        if event.get("is_api_error_message"):
            self.error = str(event.get("error") or "unknown")
            self.lost_connection = event.get("api_error") == "connection_failed"
            return
        message = event.get("message")
        if isinstance(message, dict) and message.get("model") != "<synthetic>":
            self._counter.seen(message)
            self._check_tokens()
            self._replied.add(str(message.get("id")))
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
        if self.result is not None:
            return "it did not exit after its result" if time.monotonic() - self._result_at > _AFTER_RESULT else ""
        return self.over

    def usage(self) -> Usage:
        """What the run consumed. Without a result line: what was counted until it ended."""
        if self.result is not None:
            return total(self.result, self.answers, self._counter)
        if self.refused or self.unreachable:
            return Usage(turns=0, cost=0.0)
        return self._counter.usage(self.replies)

    def notes(self) -> tuple[str, ...]:
        """What a reader of the result should know: denied tool calls."""
        denials = (self.result or {}).get("permission_denials")
        found = [denial for denial in (denials if isinstance(denials, list) else []) if isinstance(denial, dict)]
        notes = [] if self.replies or not self.answers else ["its model answered nothing"]
        for denial in found[:_NOTES]:
            asked = json.dumps(denial.get("tool_input"), ensure_ascii=False)[:120]
            notes.append(f"denied: {denial.get('tool_name')} {asked}")
        if len(found) > _NOTES:
            notes.append(f"and {len(found) - _NOTES} more denied")
        return tuple(self._redactor.text(note) for note in notes)


def _object(raw: bytes) -> dict[str, Any]:
    """A line's JSON object; an empty one where it is none."""
    try:
        event = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            event = decode(raw)  # half a surrogate pair, as JavaScript writes a text cut in a character; 1e999
        except ValueError:
            return {}
    return event if isinstance(event, dict) else {}
