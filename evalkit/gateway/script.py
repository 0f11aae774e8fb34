"""What a script says, and what the gateway records: plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from evalkit.gateway.connection import masked

__all__ = ["Answer", "Close", "CutStream", "Fault", "Garbage", "Hang", "JsonObject", "Recorded", "Reply", "Step",
           "Text", "ToolCall"]

JsonObject: TypeAlias = dict[str, Any]


@frozen
class Text:
    """A text block of a reply."""

    text: str


@frozen
class ToolCall:
    """A tool_use block of a reply. The gateway gives it an id that is unique within the gateway."""

    name: str
    input: Mapping[str, object]


@frozen
class Reply:
    """A message from the model; `delay` is in seconds and passes before the first byte of the answer.

    stop_reason: in the words of the Messages API; the other protocols get theirs for it. chunk: characters of a piece
    of a streamed text. speed: bytes a second of the body; None sends them at once. content_type: instead of the right
    one.
    """

    blocks: tuple[Text | ToolCall, ...]
    stop_reason: str | None = None
    input_tokens: int = 100
    output_tokens: int = 20
    delay: float = 0.0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    chunk: int = 16
    speed: float | None = None
    content_type: str | None = None

    @property
    def ending(self) -> str:
        """The stop reason that is sent: the given one, or else what the blocks imply."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(isinstance(block, ToolCall) for block in self.blocks) else "end_turn"


@frozen
class Fault:
    """An HTTP error in the API's error shape; `retry_after` is in seconds and becomes a header."""

    status: int
    kind: str = "api_error"
    message: str = "the script says that this request fails"
    retry_after: float | None = None


@frozen
class CutStream:
    """A reply whose connection breaks after `after_events` stream events, before the stream is complete.

    A request that does not stream gets half of the body that its Content-Length promised.
    """

    after_events: int
    reply: Reply = Reply((Text("this reply is cut off before it is complete"),))


@frozen
class Hang:
    """No answer at all: the connection is held for `seconds`, or until the gateway closes, then dropped."""

    seconds: float


@frozen
class Garbage:
    """A body that is no answer of the protocol."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


@frozen
class Close:
    """The connection ends without a byte."""


Answer: TypeAlias = Reply | Fault | CutStream | Hang | Garbage | Close
Step: TypeAlias = Answer | Callable[[JsonObject], Answer]


@frozen
class Recorded:
    """One request as it came in.

    `path` is without the query, header names are in lower case, and `body` is None when there was no body
    or it was not a JSON object.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=masked)
    body: JsonObject | None

    @property
    def is_main(self) -> bool:
        """Whether this asks a model for an answer and offers tools, and so takes a step of the script."""
        asks = self.path.endswith(("/messages", "/chat/completions", ":generateContent", ":streamGenerateContent"))
        if self.method != "POST" or not asks or self.body is None:
            return False
        tools = self.body.get("tools")
        return isinstance(tools, list) and bool(tools)
