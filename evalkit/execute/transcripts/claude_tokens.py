"""What each message of Claude Code's model took, told once, and what a run says that it took in all.

Each content block of a message is a line of its own. These lines share the message's id and its usage, which grows in
sessions and in the provider's own events: the greatest figures are the message's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import Factory, define

from evalkit.execute.transcripts.foreign import LARGEST_COUNT
from evalkit.execute.transcripts.model import Event, MessageUsage
from evalkit.execute.transcripts.seen import Seen

__all__ = ["ANY", "Usages", "Used", "told_tokens"]

ANY = "session"
"""What sub-agents are called whose lines do not tell whose they are."""
_TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_PLACES = tuple(enumerate(_TOKENS))
_TOLD = (("input_tokens", "inputTokens", "input_tokens"), ("output_tokens", "outputTokens", "output_tokens"),
         ("cache_read_tokens", "cacheReadInputTokens", "cache_read_input_tokens"),
         ("cache_write_tokens", "cacheCreationInputTokens", "cache_creation_input_tokens"))
"""What tokens are called in events, for a model of a result line, and in a usage."""
_OPEN = 64
"""Messages whose usage may still grow: one for each sub-agent that works at a time."""


@define
class Used:
    """A message's usage, as far as it is known."""

    message: str
    model: str
    sub_agent: str
    line: int
    tokens: list[int] = Factory(lambda: [0, 0, 0, 0])

    def add(self, usage: Mapping[str, Any]) -> None:
        tokens, get = self.tokens, usage.get
        for place, name in _PLACES:
            value = get(name)
            if type(value) is int and tokens[place] < value < LARGEST_COUNT:
                tokens[place] = value

    def event(self) -> MessageUsage:
        given, replied, read, written = self.tokens
        return MessageUsage(self.message, given, replied, read, written, self.model, None, self.sub_agent, self.line)


class Usages:
    """The usages that may still grow. One is told when the next message of its agent begins."""

    def __init__(self) -> None:
        self._open: dict[str, Used] = {}
        self._known = Seen()

    def count(self, line: int, identity: str, usage: Mapping[str, Any], model: object, aside: str,
              out: list[Event]) -> None:
        """Note a message's usage as far as it is known."""
        used = self._open.get(identity)
        if used is None:
            if not self._known.add(identity):
                return  # it was told before: a resumed session repeats its lines
            if self._open and aside != ANY:
                for done in [name for name, used in self._open.items() if used.sub_agent == aside]:
                    out.append(self._open.pop(done).event())
            if len(self._open) >= _OPEN:
                out.append(self._open.pop(next(iter(self._open))).event())
            used = self._open[identity] = Used(identity, model if isinstance(model, str) else "", aside, line)
        used.add(usage)

    def of(self, aside: str) -> Used | None:
        """The message that an agent is at."""
        return next((used for used in reversed(self._open.values()) if used.sub_agent == aside), None)

    def close(self, out: list[Event]) -> None:
        """Tell what is left."""
        out += [used.event() for used in self._open.values()]
        self._open.clear()


def told_tokens(event: Mapping[str, Any]) -> dict[str, int]:
    """The tokens of a result line: the sums over its models, which have what its `usage` may lack."""
    models = event.get("modelUsage")
    each = [used for used in models.values() if isinstance(used, dict)] if isinstance(models, dict) else []
    found = {}
    for name, of_model, own in _TOLD:
        values = [used.get(of_model) for used in each] or [_inner(event.get("usage"), own)]
        if numbers := [value for value in values if type(value) is int and 0 <= value < LARGEST_COUNT]:
            found[name] = sum(numbers)
    return found


def _inner(given: object, name: str) -> object:
    return given.get(name) if isinstance(given, dict) else None
