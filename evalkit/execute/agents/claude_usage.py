"""What a run of Claude Code consumed: the events of its stream, or its result line -> tokens and dollars.

Claude Code reckons the cost itself (`total_cost_usd`, of all models that it called). Where it knows no price of a model
it guesses one (`costBasis: unknown`): then a price of the project's counts, and without one the guess, which is told as
such. A run that was ended has no such line; its cost is that of the replies that were counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

from evalkit.execute.models.prices import Prices
from evalkit.execute.outcome import Usage
from evalkit.execute.transcripts.foreign import LARGEST_COUNT
from evalkit.values import evolve

__all__ = ["Counter", "total"]

_API = {"input_tokens": "input_tokens", "output_tokens": "output_tokens",
        "cache_read_tokens": "cache_read_input_tokens", "cache_write_tokens": "cache_creation_input_tokens"}
_MODEL_USAGE = {"input_tokens": "inputTokens", "output_tokens": "outputTokens",
                "cache_read_tokens": "cacheReadInputTokens", "cache_write_tokens": "cacheCreationInputTokens"}


@define
class _Message:
    """A reply: the model that gave it, its tokens, and whether its last count is in."""

    model: str
    tokens: dict[str, int] = field(factory=dict)
    whole: bool = False

    def take(self, usage: object) -> None:
        """Counts grow: the last ones hold for the whole reply."""
        for name, key in _API.items():
            value = usage.get(key) if isinstance(usage, dict) else None
            if type(value) is int and value < LARGEST_COUNT:
                self.tokens[name] = max(value, self.tokens.get(name, 0))


class Counter:
    """Counts the tokens of replies as they come. model: the one that was asked for."""

    def __init__(self, prices: Prices, model: str) -> None:
        self.prices = prices
        self._model = model
        self._messages: dict[str, _Message] = {}
        self._current: dict[str, _Message] = {}

    def start(self, source: str, message: object) -> None:
        """A reply begins; source: who made the request (the agent, or one of its subagents)."""
        if isinstance(message, dict):
            self._current[source] = self.seen(message)

    def end(self, source: str, usage: object) -> None:
        """The last count of the source's reply."""
        if source in self._current:
            self._current[source].take(usage)
            self._current[source].whole = True

    def seen(self, message: Mapping[str, Any]) -> _Message:
        """A reply, or a part of it, with the count of its beginning."""
        found = self._messages.setdefault(str(message.get("id")), _Message(str(message.get("model") or self._model)))
        found.take(message.get("usage"))
        return found

    @property
    def finished(self) -> int:
        """Replies whose end came."""
        return sum(message.whole for message in self._messages.values())

    @property
    def tokens(self) -> int:
        """All that the replies so far read and wrote, with what came from a cache."""
        return sum(sum(message.tokens.values()) for message in self._messages.values())

    @property
    def cost(self) -> float | None:
        """Dollars for the replies so far; None where a price is not known."""
        costs = [self._priced(message).cost for message in self._messages.values()]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def _priced(self, message: _Message) -> Usage:
        counted = _usage({"output_tokens": 0, **message.tokens})
        if self.prices.of(message.model) is not None:
            return self.prices.priced(message.model, counted)
        return self.prices.priced(self._model, counted)

    def usage(self, replies: int) -> Usage:
        """The replies so far. Where no count of a whole reply came, nobody knows the output, nor the cost."""
        messages = list(self._messages.values())
        usage = _usage({name: _sum(message.tokens.get(name) for message in messages) for name in _API}, replies)
        if not any(message.whole for message in messages):
            return evolve(usage, output_tokens=None)
        cost = self.cost
        if cost is None:
            return usage
        sources = dict.fromkeys(self._priced(message).cost_source for message in messages)
        part = "" if all(message.whole for message in messages) else ", without the end of the last reply"
        return evolve(usage, cost=cost, cost_source=" and ".join(sources) + part)


def total(result: Mapping[str, Any], replies: int, counter: Counter) -> Usage:
    """The usage of a result line."""
    models = result.get("modelUsage")
    models = {name: usage for name, usage in models.items() if isinstance(usage, dict)} if isinstance(
        models, dict) else {}
    if models:
        counts = _counts(models.values(), _MODEL_USAGE)
    elif isinstance(usage := result.get("usage"), dict):
        counts = _counts([usage], _API)
    else:
        return _with_cost(counter.usage(replies), result, models, counter.prices)
    return _with_cost(_usage(counts, replies), result, models, counter.prices)


def _with_cost(usage: Usage, result: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]],
               prices: Prices) -> Usage:
    cost = result.get("total_cost_usd")
    if not isinstance(cost, int | float) or isinstance(cost, bool):
        return usage
    guessed = sorted(name for name, used in models.items() if used.get("costBasis") == "unknown")
    if not guessed:
        return evolve(usage, cost=float(cost), cost_source="Claude Code")
    ours = [prices.priced(name, _usage(_counts([used], _MODEL_USAGE))).cost for name, used in models.items()]
    if None not in ours:
        return evolve(usage, cost=sum(part for part in ours if part is not None), cost_source="the project's prices")
    return evolve(usage, cost=float(cost), cost_source=f"a guess of Claude Code's: no price of {', '.join(guessed)}")


def _usage(counts: Mapping[str, int], turns: int | None = None) -> Usage:
    return Usage(turns, counts.get("input_tokens"), counts.get("output_tokens"), counts.get("cache_read_tokens"),
                 counts.get("cache_write_tokens"))


def _counts(parts: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, int]:
    parts = list(parts)
    return {name: _sum(part.get(key) for part in parts) for name, key in names.items()}


def _sum(values: Iterable[object]) -> int:
    return sum(value for value in values if type(value) is int and abs(value) < LARGEST_COUNT)
