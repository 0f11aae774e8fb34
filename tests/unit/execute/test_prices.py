"""What tokens cost, and for which models that is known."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

from evalkit.errors import UserError
from evalkit.execute.models import prices as module
from evalkit.execute.models.prices import Price, Prices, price_date, read_prices
from evalkit.execute.outcome import Usage
from evalkit.values import evolve

MILLION = 1_000_000


@pytest.mark.parametrize(("model", "output"), [
    ("anthropic/claude-sonnet-4.5", 15.0), ("claude-sonnet-4-5", 15.0), ("claude-sonnet-4-5-20250929", 15.0),
    ("claude-sonnet-4-5@20250929", 15.0), ("anthropic/claude-sonnet-4", 15.0), ("claude-sonnet-4-0", 15.0),
    ("Anthropic/Claude-Sonnet-5", 10.0), ("claude-opus-4-1-20250805", 75.0), ("anthropic/claude-opus-4.8", 25.0),
    ("claude-opus-5-5", 20.0), ("claude-haiku-4-5-latest", 5.0), ("claude-haiku-4-5[1m]", 5.0),
    ("openai/gpt-5.4-mini", 4.5), ("gpt-5-mini-2025-08-07", 2.0), ("google/gemini-2.5-pro", 10.0),
    ("gemini-2.5-flash", 2.5),
])
def test_a_model_is_known_by_slug_and_name(model: str, output: float) -> None:
    """As gateways write it, as Anthropic does, with a snapshot's date."""
    price = Prices().of(model)
    assert price is not None
    assert output == price.output


@pytest.mark.parametrize("model", [
    None, "", "anthropic/claude-x-1.5", "claude-opus-4-9", "claude-opus-6", "claude-opus-4-6-fast", "claude-sonnet",
    "openai/gpt-x", "other/claude-sonnet-4-5", "claude-sonnet-4-55", "openai/claude-sonnet-4-5", "gpt-5-codex",
    "google/gpt-5", "gemini-2.5"])
def test_an_unknown_model_has_no_price(model: str | None) -> None:
    """Not that of a model with a similar name; and no cost is not a cost of nothing."""
    assert Prices().of(model) is None
    usage = Usage(input_tokens=1, output_tokens=1)
    assert usage == Prices().priced(model, usage)


def test_the_cost_of_a_request() -> None:
    """Each kind of token at its price, and where the price is from."""
    usage = Usage(input_tokens=MILLION, output_tokens=MILLION // 10, cache_read_tokens=2 * MILLION,
                  cache_write_tokens=MILLION)
    priced = Prices().priced("anthropic/claude-sonnet-4.5", usage)
    assert 3.0 + 1.5 + 0.6 + 3.75 == pytest.approx(priced.cost)
    assert f"price list {price_date()}" == priced.cost_source
    assert usage.input_tokens == priced.input_tokens


def test_tokens_that_nobody_counted_cost_an_unknown_amount() -> None:
    """A run that was cut off has no count of its output."""
    assert Price(1, 1, 1, 1).cost(Usage(input_tokens=5)) is None
    assert Price(1, 1, 1, 1).cost(Usage(output_tokens=5)) is None
    assert 10 / MILLION == Price(1, 1, 1, 1).cost(Usage(input_tokens=5, output_tokens=5))


def test_a_long_prompt_has_a_price_of_its_own() -> None:
    """All tokens of such a request, those of the cache count for its length."""
    model = "claude-haiku-5-5"
    short = Prices().priced(model, Usage(input_tokens=60_000, output_tokens=1000, cache_read_tokens=40_000))
    long = Prices().priced(model, Usage(input_tokens=60_000, output_tokens=1000, cache_read_tokens=40_001))
    assert 0.006 + 0.0005 + 0.0004 == pytest.approx(short.cost)
    assert 0.030 + 0.0025 + 0.00200005 == pytest.approx(long.cost)


def test_a_length_whose_price_nobody_knows() -> None:
    """Not that of a short prompt."""
    price = evolve(Price(1, 1, 1, 1), over=10)
    assert 15 / MILLION == price.cost(Usage(input_tokens=10, output_tokens=5))
    assert price.cost(Usage(input_tokens=9, output_tokens=5, cache_read_tokens=2)) is None


def test_the_providers_own_figure_stays() -> None:
    """It was paid; the list only says what is usual."""
    usage = Usage(input_tokens=MILLION, output_tokens=1, cost=0.5, cost_source="the provider's own figure")
    assert usage == Prices().priced("claude-opus-5", usage)


def test_the_list_tells_where_it_is_from() -> None:
    """Of each vendor its page and a day; every price is whole; a model stands there once."""
    told = yaml.safe_load(Path(module.__file__).with_name("prices.yaml").read_text(encoding="utf-8"))
    assert {"anthropic", "openai", "google"} == set(told)
    for vendor, list_ in told.items():
        assert list_["source"].startswith("https://")
        assert isinstance(list_["date"], date)
        assert str(list_["date"]) == price_date(vendor)
        for model, price in list_["models"].items():
            assert {"input", "output"} <= set(price) <= {
                "input", "output", "cache_read", "cache_write", "over", "long", "until"}, model
            assert 0 < price["input"] < price["output"], model
            assert 0 < price.get("cache_read", 0.001) < price["input"], model
            assert price["input"] <= price.get("cache_write", price["input"]), model


def test_a_price_that_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody knows what comes after it."""
    list_ = tmp_path / "prices.yaml"
    list_.write_text("acme: {source: x, date: 2026-01-01, models: {a: {input: 1, output: 2, until: 2026-01-01}, "
                     "b: {input: 1, output: 2, until: 9999-01-01}}}")
    monkeypatch.setattr(module, "_LIST", list_)
    module._vendors.cache_clear()
    try:
        assert Prices().of("acme/a") is None
        assert Price(1.0, 2.0, 1.0, 1.0) == Prices().of("acme/b")
    finally:
        module._vendors.cache_clear()


def test_a_project_has_prices_of_its_own() -> None:
    """For models that the list lacks, and instead of the list; caches cost as much as input where nothing is said."""
    own = read_prices(tomllib.loads('"vendor/model-2" = {input = 3, output = 15.0}\n'
                                    '"claude-sonnet-4-5" = {input = 1.0, output = 2.0, cache_read = 0.1, '
                                    'cache_write = 0.2}\n'))
    prices = Prices(own)
    assert Price(3.0, 15.0, 3.0, 3.0) == prices.of("vendor/model-2")
    assert Price(1.0, 2.0, 0.1, 0.2) == prices.of("anthropic/claude-sonnet-4.5")
    assert "the project's prices" == prices.priced("vendor/model-2", Usage(input_tokens=1, output_tokens=1)).cost_source
    assert Prices().of("claude-opus-5") == prices.of("claude-opus-5")


@pytest.mark.parametrize(("text", "why"), [
    ('prices = 3\n', "the price of `prices` cannot be read: it is no table"),
    ('[prices]\n"x/y" = 3\n', "the price of `x/y` cannot be read: it is no table"),
    ('[prices]\n"x/y" = {input = 3}\n', "it has no `output`"),
    ('[prices]\n"x/y" = {output = 3}\n', "it has no `input`"),
    ('[prices]\n"x/y" = {input = "3", output = 1}\n', "`input` is no amount of dollars: '3'"),
    ('[prices]\n"x/y" = {input = true, output = 1}\n', "`input` is no amount of dollars: True"),
    ('[prices]\n"x/y" = {input = -1, output = 1}\n', "`input` is no amount of dollars: -1"),
    ('[prices]\n"x/y" = {input = nan, output = 1}\n', "`input` is no amount of dollars: nan"),
    ('[prices]\n"x/y" = {in = 1, output = 1}\n', "there is no `in` (known: input, output, cache_read, cache_write)"),
])
def test_prices_that_cannot_be_read(text: str, why: str) -> None:
    """The person's error: the model, what is wrong, and how a price is written."""
    with pytest.raises(UserError) as raised:
        read_prices(tomllib.loads(text)["prices"])
    assert why in raised.value.message
    assert raised.value.message.startswith("[tool.evalkit.prices] in pyproject.toml")
    assert '"vendor/model" = {input = 3.0, output = 15.0}' in raised.value.hint
