"""What is played is asked as it was recorded, without a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalkit.execute.asking import Models
from evalkit.execute.models.chat import Protocol
from evalkit.execute.models.provider import Endpoint, Endpoints, plain_model
from evalkit.execute.models.replayed import Replayed, Way

KEYS: dict[str, Mapping[str, str]] = {
    "gateway": {"AI_GATEWAY_API_KEY": "k"}, "other gateway": {"VERCEL_AI_GATEWAY_API_KEY": "k"},
    "anthropic": {"ANTHROPIC_API_KEY": "k"}, "openai": {"OPENAI_API_KEY": "k"}, "google": {"GEMINI_API_KEY": "k"},
    "compatible": {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}}
SLUGS = [("gateway", "anthropic/claude-x-4.8"), ("other gateway", "openai/gpt-x.1"), ("gateway", "google/gemini-x"),
         ("gateway", "mistral/m"), ("anthropic", "anthropic/claude-x-4.8"), ("openai", "openai/gpt-x.1"),
         ("google", "google/gemini-x.1")]
OWN_NAMES = [("anthropic", "claude-x"), ("openai", "gpt-x"), ("compatible", "openai/gpt-x"),
             ("compatible", "mistral/m")]
ONLY: tuple[Protocol | None, ...] = (None, "anthropic", "openai", "gemini")


def manner(found: Endpoint | None, model: str) -> Any:
    """What of an endpoint shows in a request."""
    return found and (found.protocol, found.style, found.compatible, found.model(model))


@pytest.mark.parametrize(("keys", "model", "told"), [
    *((keys, model, True) for keys, model in SLUGS + OWN_NAMES), *((keys, model, False) for keys, model in SLUGS)])
def test_a_model_is_reached_as_it_was_recorded(keys: str, model: str, told: bool) -> None:
    """Over the same protocols, with the same names and settings. A cassette of before that does not tell the key: there
    the model's name does, where it differs.
    """
    real = Endpoints(KEYS[keys])
    recorded = real.of(model, "a test")
    way = Way(recorded.protocol, recorded.model(model), recorded.opened_by if told else "")
    played = Replayed({}, None, "c.jsonl", lambda: frozenset({way}))
    for only in ONLY:
        assert manner(real.find(model, only=only), model) == manner(played.find(model, only=only), model)
    assert {"c.jsonl"} == {each.shown for each in Models(played).endpoints(model, None)}


def test_each_model_has_its_own_way() -> None:
    """An agent of one vendor, a judge of another; who names no model wants one of Anthropic's."""
    ways = frozenset({Way("anthropic", "claude-x", "ANTHROPIC_API_KEY"), Way("openai", "gpt-x", "OPENAI_API_KEY")})
    played = Replayed({}, None, "c.jsonl", lambda: ways)
    assert ["x-api-key", "x-api-key", "bearer"] == [
        played.of(model, "a test").style for model in (None, "anthropic/claude-x", "openai/gpt-x")]


def test_a_name_that_a_program_has_of_its_own() -> None:
    """The key that was set decides."""
    played = Replayed({}, None, "c.jsonl", lambda: frozenset({Way("anthropic", "fast", "ANTHROPIC_API_KEY")}))
    assert "x-api-key" == played.of("anthropic/claude-x", "a test").style


def test_a_script_is_asked_as_a_gateway() -> None:
    """It answers any model."""
    played = Replayed({}, None, "s.yaml")
    found = [played.of(model, "a test") for model in ("anthropic/claude-x", "openai/gpt-x", "who/knows")]
    assert ["anthropic", "openai", "openai"] == [each.protocol for each in found]
    assert {"s.yaml"} == {each.shown for each in found}


@pytest.mark.parametrize(("name", "plain"), [
    ("anthropic/claude-x-4.8", "claude-x-4-8"), ("openai/gpt-5.1", "gpt-5.1"), ("google/gemini-x.1", "gemini-x.1"),
    ("openai/org/name", "org/name"), ("mistral/m.1", "mistral/m.1"), ("m", "m")])
def test_a_models_name_in_one_form(name: str, plain: str) -> None:
    assert plain == plain_model(name) == plain_model(plain)
