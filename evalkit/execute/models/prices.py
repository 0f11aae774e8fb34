"""What a model's tokens cost: usage -> US dollars, where the price is known.

Anthropic's list prices are from https://platform.claude.com/docs/en/about-claude/pricing, as of 2026-10-24 (`DATE`):
dollars for a million tokens, cache writes for the five minutes that are the API's default. A project tells the prices
of other models, or its own, in pyproject.toml:

    [tool.evalkit.prices]
    "vendor/model-2" = {input = 3.0, output = 15.0}

A model is known by its exact version: a version that is not in the list has no price, since nobody knows whether it
costs what its predecessor did. Cost that is not known is None, and is never taken for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import evolve, field, frozen

from evalkit.errors import UserError
from evalkit.execute.outcome import Usage

__all__ = ["DATE", "Price", "Prices", "read_prices"]

DATE = "2026-10-24"
"""The day on which the list was compared with Anthropic's page."""


@frozen
class Price:
    """Dollars for a million tokens. long: what all tokens of a request cost whose prompt has over `over` tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    over: int = 0
    long: Price | None = None

    def cost(self, usage: Usage) -> float | None:
        """Dollars for one request; None where its tokens were not counted."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        if self.long is not None and usage.input_tokens + read + written > self.over:
            return self.long.cost(usage)
        return (usage.input_tokens * self.input + usage.output_tokens * self.output + read * self.cache_read
                + written * self.cache_write) / 1_000_000


_OPUS = Price(5.0, 25.0, 0.5, 6.25)
_OLD_OPUS = Price(15.0, 75.0, 1.5, 18.75)
_SONNET = Price(3.0, 15.0, 0.3, 3.75)
_LIST: dict[str, Price] = {
    "claude-fable-5-1": Price(10.0, 50.0, 0.25, 12.5),
    "claude-fable-5": Price(10.0, 50.0, 1.0, 12.5),
    "claude-mythos-5-1": Price(10.0, 50.0, 0.25, 12.5),
    "claude-mythos-5": Price(10.0, 50.0, 1.0, 12.5),
    "claude-opus-5-5": Price(4.0, 20.0, 0.2, 5.0),
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-opus-4-1": _OLD_OPUS,
    "claude-opus-4": _OLD_OPUS,
    "claude-sonnet-5-5": Price(2.0, 10.0, 0.1, 2.5),
    "claude-sonnet-5": Price(2.0, 10.0, 0.2, 2.5),
    "claude-sonnet-4-6": _SONNET,
    "claude-sonnet-4-5": _SONNET,
    "claude-sonnet-4": _SONNET,
    "claude-haiku-5-5": Price(0.1, 0.5, 0.01, 0.125, over=100_000, long=Price(0.5, 2.5, 0.05, 0.625)),
    "claude-haiku-4-5": Price(1.0, 5.0, 0.1, 1.25),
}
_SAME_MODEL = re.compile(r"([-@]20[0-9]{6}|-latest|-0|\[1m\])+$")
"""What ends a name without making it another model: a snapshot's date, the newest one, version `4-0`, a window."""


def _plain(model: str) -> str:
    """The one name of a model: `anthropic/claude-x-4.5`, `claude-x-4-5-20250929` -> `claude-x-4-5`."""
    return _SAME_MODEL.sub("", model.lower().removeprefix("anthropic/").replace(".", "-"))


@frozen
class Prices:
    """The price list, with a project's own prices before it."""

    own: Mapping[str, Price] = field(factory=dict)

    def of(self, model: str | None) -> Price | None:
        """The price of a model by its slug or its own name. None: not known."""
        return self._find(model)[0]

    def priced(self, model: str | None, usage: Usage) -> Usage:
        """The usage of one request with its cost and where the price is from, as far as both are known."""
        price, source = self._find(model)
        cost = price.cost(usage) if price is not None else None
        return usage if cost is None else evolve(usage, cost=cost, cost_source=source)

    def _find(self, model: str | None) -> tuple[Price | None, str]:
        if model is None:
            return None, ""
        wanted = _plain(model)
        for name, price in self.own.items():
            if _plain(name) == wanted:
                return price, "the project's prices"
        return _LIST.get(wanted), f"price list {DATE}"


def read_prices(given: object) -> dict[str, Price]:
    """The prices of `[tool.evalkit.prices]`, as TOML holds them. Raises UserError.

    cache_read and cache_write cost as much as input where they are not given.
    """
    if not isinstance(given, Mapping):
        raise _wrong("prices", "it is no table")
    return {str(name): _read_price(str(name), price) for name, price in given.items()}


_NAMES = ("input", "output", "cache_read", "cache_write")


def _read_price(model: str, given: object) -> Price:
    if not isinstance(given, Mapping):
        raise _wrong(model, "it is no table")
    if unknown := [str(name) for name in given if name not in _NAMES]:
        raise _wrong(model, f"there is no `{unknown[0]}` (known: {', '.join(_NAMES)})")
    amounts: dict[str, float] = {}
    for name, amount in given.items():
        if not isinstance(amount, int | float) or isinstance(amount, bool) or not 0 <= amount < 1_000_000:
            raise _wrong(model, f"`{name}` is no amount of dollars: {amount!r}")
        amounts[name] = float(amount)
    if missing := [name for name in ("input", "output") if name not in amounts]:
        raise _wrong(model, f"it has no `{missing[0]}`")
    fresh = amounts["input"]
    return Price(fresh, amounts["output"], amounts.get("cache_read", fresh), amounts.get("cache_write", fresh))


def _wrong(model: str, why: str) -> UserError:
    return UserError(f"[tool.evalkit.prices] in pyproject.toml: the price of `{model}` cannot be read: {why}",
                     hint='dollars for a million tokens: "vendor/model" = {input = 3.0, output = 15.0}')
