"""What a model's tokens cost: usage -> US dollars, where the price is known.

List prices stand in prices.yaml, each vendor's with its page and the day of the comparison. A project tells the prices
of other models, or its own, in pyproject.toml:

    [tool.evalkit.prices]
    "vendor/model-2" = {input = 3.0, output = 15.0}

A model is known by its exact version: a version that is not in the list has no price, since nobody knows whether it
costs what its predecessor did. Cost that is not known is None, and is never taken for nothing. Where a provider tells
the cost of an answer itself, that is its cost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from evalkit.errors import UserError
from evalkit.execute.outcome import Usage
from evalkit.values import Value, evolve, field

__all__ = ["Price", "Prices", "price_date", "read_prices"]

_LIST = Path(__file__).with_name("prices.yaml")


class Price(Value):
    """Dollars for a million tokens. long: what all tokens of a request cost whose prompt has over `over` tokens, where
    that is not 0; None: not known.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    over: int = 0
    long: Price | None = None

    def cost(self, usage: Usage) -> float | None:
        """Dollars for one request; None where its tokens were not counted, or its length has no price."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        if self.over and usage.input_tokens + read + written > self.over:
            return self.long.cost(usage) if self.long is not None else None
        return (usage.input_tokens * self.input + usage.output_tokens * self.output + read * self.cache_read
                + written * self.cache_write) / 1_000_000


class _Vendor(NamedTuple):
    """What a vendor asks: by the plain names of its models, on a day."""

    date: str
    models: dict[str, Price]


@cache
def _vendors() -> dict[str, _Vendor]:
    """The list, read once, without the prices that do not hold any more."""
    import yaml

    read: dict[str, Any] = yaml.safe_load(_LIST.read_text(encoding="utf-8"))
    today = datetime.now(UTC).date()
    return {vendor: _Vendor(str(told["date"]), {
        _plain(name): _listed(price) for name, price in told["models"].items()
        if price.get("until", today) >= today}) for vendor, told in read.items()}


def _listed(given: Mapping[str, Any]) -> Price:
    fresh = float(given["input"])
    long = given.get("long")
    return Price(fresh, float(given["output"]), float(given.get("cache_read", fresh)),
                 float(given.get("cache_write", fresh)), given.get("over", 0), _listed(long) if long else None)


def price_date(vendor: str = "anthropic") -> str:
    """The day on which a vendor's prices were compared with its page."""
    return _vendors()[vendor].date


_SAME_MODEL = r"([-@]20[0-9]{2}-?[0-9]{2}-?[0-9]{2}|-latest|-0|\[1m\])+$"
"""What ends a name without making it another model: a snapshot's date, the newest one, version `4-0`, a window."""


def _plain(name: str) -> str:
    """The one name of a model: `claude-x-4.5`, `claude-x-4-5-20250929` -> `claude-x-4-5`."""
    return re.sub(_SAME_MODEL, "", name.lower().replace(".", "-"))


def _slug(model: str) -> tuple[str, str]:
    """The vendor that a slug names ("" where it names none), and the model's plain name."""
    vendor, slash, name = model.lower().partition("/")
    return (vendor, _plain(name)) if slash else ("", _plain(vendor))


class Prices(Value):
    """The price list, with a project's own prices before it."""

    own: Mapping[str, Price] = field(factory=dict)

    def of(self, model: str | None) -> Price | None:
        """The price of a model by its slug or its own name. None: not known."""
        return self._find(model)[0]

    def priced(self, model: str | None, usage: Usage) -> Usage:
        """The usage of one request with its cost and where that is from, as far as both are known.

        A cost that the provider told stays.
        """
        if usage.cost is not None:
            return usage
        price, source = self._find(model)
        cost = price.cost(usage) if price is not None else None
        return usage if cost is None else evolve(usage, cost=cost, cost_source=source)

    def _find(self, model: str | None) -> tuple[Price | None, str]:
        if model is None:
            return None, ""
        vendor, name = _slug(model)
        for own, price in self.own.items():
            of, own_name = _slug(own)
            if own_name == name and (of == vendor or "" in (of, vendor)):
                return price, "the project's prices"
        for known, told in _vendors().items():
            if vendor in ("", known) and name in told.models:
                return told.models[name], f"price list {told.date}"
        return None, ""


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
