"""What all protocols count alike: tokens and costs as JSON holds them, -> Usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.execute.outcome import Usage
from evalkit.values import evolve, fields_of

__all__ = ["OWN_COST", "count", "later", "mapping", "with_own_cost"]

OWN_COST = "the provider's own figure"
"""The source of a cost that the provider told."""
_MOST = 1 << 53
_DEAREST = 1e6
"""Dollars; more is no cost of one answer."""


def mapping(value: object) -> Mapping[str, Any]:
    """A JSON object; {} for anything else."""
    return value if isinstance(value, Mapping) else {}


def count(counts: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens; None where there is none, or no number."""
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def later(before: Usage, now: Usage) -> Usage:
    """The usage of a stream after one more of its events: what an event says replaces what was said before."""
    said = {field.name: getattr(now, field.name) for field in fields_of(Usage)}
    return evolve(before, **{name: value for name, value in said.items() if value not in (None, "")})


def with_own_cost(usage: Usage, response: Mapping[str, Any]) -> Usage:
    """The usage with the cost that a gateway tells beside its tokens, if it does.

    Gateways tell it as `usage.cost` (a number of dollars) or in a `provider_metadata` object, under `gateway`: what was
    taken from the account as `cost`, what the market asks as `marketCost` (texts of digits;
    https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions). Nothing was taken where the person's own
    key at the vendor paid: then it is the market's figure, or unknown.
    """
    told = [mapping(response.get("usage")), mapping(mapping(_metadata(response)).get("gateway"))]
    figures = [_dollars(place.get(name)) for name in ("cost", "marketCost", "market_cost") for place in told]
    paid = [figure for figure in figures if figure]
    return evolve(usage, cost=paid[0], cost_source=OWN_COST) if paid else usage


def _metadata(response: Mapping[str, Any]) -> object:
    """Where a response has what a gateway says of it: at the top, or in its first choice's message."""
    choices = response.get("choices")
    first = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    for place in (response, mapping(first.get("message")), mapping(first.get("delta")), first):
        for name in ("provider_metadata", "providerMetadata"):
            if name in place:
                return place[name]
    return None


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
        return None
    return amount if 0 <= amount < _DEAREST else None
