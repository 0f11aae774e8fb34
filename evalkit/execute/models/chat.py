"""What a model is asked and what it answers, whichever provider it is: plain data.

One file a protocol turns a `Chat` into a request and a response into a `Reply`: nothing else knows a protocol's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from evalkit.execute.outcome import Usage

__all__ = ["Chat", "ModelTurn", "Protocol", "Reply", "Request", "Stop", "Tool", "ToolOutput", "ToolUse", "Turn",
           "UserTurn"]

Protocol: TypeAlias = Literal["anthropic", "openai", "gemini"]
"""Anthropic Messages, OpenAI-compatible chat completions, Gemini generateContent."""
Stop: TypeAlias = Literal["end", "tools", "length", "refusal", "other"]
"""Why a model stopped: its turn is over, it calls tools, its reply got too long, it (or a filter) refused."""


@frozen
class Tool:
    """A tool that a model may call. schema: JSON Schema of its arguments, an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


@frozen
class ToolUse:
    """A call as the model made it. arguments: an object, or the text that it gave where that is no JSON object.

    id: unique in a chat; of a protocol without ids, one of ours.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str


@frozen
class ToolOutput:
    """What came of a call: what the model is told."""

    id: str
    name: str
    text: str
    failed: bool = False


@frozen
class UserTurn:
    """What the model is told: a text, or what its calls came to."""

    text: str = ""
    outputs: tuple[ToolOutput, ...] = ()


@frozen
class ModelTurn:
    """What the model said before. raw: its content as its provider sent it, which goes back as it came (a provider's
    signatures and reasoning are in it).
    """

    text: str
    calls: tuple[ToolUse, ...] = ()
    raw: Any = field(default=None, repr=False)


Turn: TypeAlias = UserTurn | ModelTurn


@frozen
class Chat:
    """One request to a model. model: its slug. force: the tool that it must call, once.

    longest: tokens of the answer, thinking included. longest, temperature, seed: None leaves it to the provider.
    """

    model: str
    turns: tuple[Turn, ...]
    system: str = ""
    tools: tuple[Tool, ...] = ()
    force: str | None = None
    longest: int | None = 8_000
    temperature: float | None = None
    seed: int | None = None


@frozen
class Request:
    """A chat as a protocol has it: the path below the endpoint's address, the JSON body, and the protocol's headers."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(factory=dict)


@frozen
class Reply:
    """A model's answer.

    detail: the provider's own word for why it stopped. model: as it names itself. usage: tokens as the provider counted
    them (input without what came from a cache or went into one; output with thinking), and its own cost where it tells
    one. content: what goes back as it came where the chat goes on. response: the provider's JSON, as it came.
    """

    text: str
    calls: tuple[ToolUse, ...]
    stop: Stop
    model: str
    usage: Usage
    response: Mapping[str, Any] = field(repr=False)
    detail: str = ""
    content: Any = field(default=None, repr=False)

    def turn(self) -> ModelTurn:
        """The answer as a turn of the chat that goes on."""
        return ModelTurn(self.text, self.calls, self.content)
