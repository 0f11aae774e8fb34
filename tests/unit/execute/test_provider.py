"""Where models are, with which key and over which protocol; and what is said where they are nowhere."""

from __future__ import annotations

from functools import partial

import pytest

from evalkit.errors import UserError
from evalkit.execute.agents.asking import asking
from evalkit.execute.models.chat import Protocol
from evalkit.execute.models.provider import (
    ANTHROPIC_URL,
    GATEWAY_URL,
    GEMINI_URL,
    OPENAI_URL,
    Endpoint,
    Endpoints,
    find_endpoint,
    missing_key,
    vendor_of,
)

KEY = "sk-secret-0123456789"
GATEWAY = Endpoint("https://gateway.invalid", "AI_GATEWAY_API_KEY", KEY)
OWN = Endpoint(ANTHROPIC_URL, "ANTHROPIC_API_KEY", KEY, "x-api-key")
CLAUDE, GPT, GEMINI = "anthropic/claude-x-1.5", "openai/gpt-x", "google/gemini-x-1.5"
ALL_KEYS = {"ANTHROPIC_API_KEY": "a-key", "OPENAI_API_KEY": "o-key", "GEMINI_API_KEY": "g-key"}


@pytest.mark.parametrize(("model", "vendor"), [
    (CLAUDE, "anthropic"), ("claude-x-1-5", "anthropic"), ("Anthropic/Claude-X", "anthropic"), (GPT, "openai"),
    ("gpt-x", "openai"), ("o3", "openai"), ("o4-mini", "openai"), ("chatgpt-x-latest", "openai"), (GEMINI, "google"),
    ("gemini-x", "google"), ("openai/google/gemini-x", "openai"), ("mistral/m-x", None), ("llama-x", None),
    ("opus", None), ("o", None), ("other/claude-x", None), ("", None)])
def test_the_vendor_of_a_model(model: str, vendor: str | None) -> None:
    """By its slug, or by how its own name begins."""
    assert vendor == vendor_of(model)


# ---- whose key ----
@pytest.mark.parametrize(("environ", "url", "variable", "style"), [
    ({"AI_GATEWAY_API_KEY": KEY, "ANTHROPIC_API_KEY": "other"}, GATEWAY_URL, "AI_GATEWAY_API_KEY", "bearer"),
    ({"VERCEL_AI_GATEWAY_API_KEY": f" {KEY}\n"}, GATEWAY_URL, "VERCEL_AI_GATEWAY_API_KEY", "bearer"),
    ({"AI_GATEWAY_API_KEY": " ", "ANTHROPIC_API_KEY": KEY}, ANTHROPIC_URL, "ANTHROPIC_API_KEY", "x-api-key"),
])
def test_the_endpoint_follows_from_the_key(environ: dict[str, str], url: str, variable: str, style: str) -> None:
    """A gateway's key comes before a vendor's; blanks around a key are no part of it, blanks alone are none."""
    for model in (None, CLAUDE):
        found = find_endpoint(environ, None, model)
        assert found is not None
        assert (url, variable, KEY, style, "anthropic") == (
            found.url, found.variable, found.key, found.style, found.protocol)
        moved = find_endpoint(environ, "http://127.0.0.1:9/", model)
        assert moved is not None
        assert ("http://127.0.0.1:9", found.style) == (moved.url, moved.style)


@pytest.mark.parametrize(("model", "url", "protocol", "headers", "name"), [
    (CLAUDE, ANTHROPIC_URL, "anthropic", {"x-api-key": "a-key"}, "claude-x-1-5"),
    ("claude-x", ANTHROPIC_URL, "anthropic", {"x-api-key": "a-key"}, "claude-x"),
    (GPT, OPENAI_URL, "openai", {"authorization": "Bearer o-key"}, "gpt-x"),
    ("o3", OPENAI_URL, "openai", {"authorization": "Bearer o-key"}, "o3"),
    (GEMINI, GEMINI_URL, "gemini", {"x-goog-api-key": "g-key"}, "gemini-x-1.5"),
])
def test_a_vendor_is_asked_itself(model: str, url: str, protocol: str, headers: dict[str, str], name: str) -> None:
    """With its own key, over its own protocol, by the model's own name."""
    found = find_endpoint(ALL_KEYS, None, model)
    assert found is not None
    assert (url, protocol, headers, name) == (found.url, found.protocol, found.headers(), found.model(model))


@pytest.mark.parametrize(("model", "url", "protocol"), [
    (CLAUDE, "http://h", "anthropic"), (GPT, "http://h/v1", "openai"), (GEMINI, "http://h", "gemini")])
def test_another_address_for_all(model: str, url: str, protocol: str) -> None:
    """The key chooses the protocol, `gateway=URL` the address."""
    found = Endpoints(ALL_KEYS, "http://h").of(model, "x")
    assert (url, protocol) == (found.url, found.protocol)


@pytest.mark.parametrize(("model", "url", "protocol", "compatible"), [
    (CLAUDE, GATEWAY_URL, "anthropic", False), (GPT, f"{GATEWAY_URL}/v1", "openai", True),
    (GEMINI, f"{GATEWAY_URL}/v1", "openai", True), ("mistral/m-x", f"{GATEWAY_URL}/v1", "openai", True)])
def test_a_gateway_has_any_model(model: str, url: str, protocol: str, compatible: bool) -> None:
    """Claude over the Messages API, all others over chat completions; each by its whole slug."""
    found = find_endpoint({**ALL_KEYS, "AI_GATEWAY_API_KEY": KEY}, None, model)
    assert found is not None
    assert (url, protocol, compatible, model) == (found.url, found.protocol, found.compatible, found.model(model))
    assert {"authorization": f"Bearer {KEY}"} == found.headers()


def test_a_compatible_server() -> None:
    """It has any model whose slug names no vendor that is known; the vendor `openai` is no part of a name there."""
    environ = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": "http://127.0.0.1:9/api/v1/"}
    for model, name in ((GPT, "gpt-x"), ("org/llama-x", "org/llama-x"), ("openai/org/llama-x", "org/llama-x")):
        found = find_endpoint(environ, None, model)
        assert found is not None
        assert ("http://127.0.0.1:9/api/v1", True, name) == (found.url, found.compatible, found.model(model))
    assert find_endpoint(environ, None, CLAUDE) is None
    assert find_endpoint({"OPENAI_BASE_URL": "http://h/v1"}, None, GPT) is None


# ---- no key ----
@pytest.mark.parametrize(("model", "variable"), [(CLAUDE, "ANTHROPIC_API_KEY"), (GPT, "OPENAI_API_KEY"),
                                                 (GEMINI, "GEMINI_API_KEY"), ("x/y", "OPENAI_BASE_URL")])
def test_the_variable_that_is_missing(model: str, variable: str) -> None:
    """Another vendor's key opens nothing; the error names those that would."""
    others = {name: key for name, key in ALL_KEYS.items() if name != variable}
    assert find_endpoint(others, "http://127.0.0.1:9", model) is None
    error = missing_key("agent=api", model)
    assert f"agent=api needs the model `{model}`, and no key for it is set" == error.message
    assert "AI_GATEWAY_API_KEY" in error.hint
    assert variable in error.hint
    assert not [name for name in ALL_KEYS if name in error.hint and name[:6] != variable[:6]]


def test_without_a_key_there_is_no_endpoint() -> None:
    """Also where an address is given; the error names the variables."""
    assert find_endpoint({}, "http://127.0.0.1:9") is None
    error = missing_key("agent=claude")
    assert "agent=claude needs a model, and no key is set" == error.message
    assert "AI_GATEWAY_API_KEY" in error.hint


@pytest.mark.parametrize("key", ["sk-1 sk-2", "sk-1\nsk-2", "sk-1…", "sk-\x00"])
def test_a_value_that_is_no_key(key: str) -> None:
    """Told before it is sent: a header that cannot be sent would be printed."""
    for style in ("bearer", "x-api-key"):
        endpoint = Endpoint("https://x.invalid", "ANTHROPIC_API_KEY", key, style)
        for use in (endpoint.headers, partial(asking, endpoint)):
            with pytest.raises(UserError, match="ANTHROPIC_API_KEY is no key") as raised:
                use()
            assert "sk-1" not in str(raised.value)


def test_the_repr_shows_no_key() -> None:
    """An endpoint may be printed."""
    assert KEY not in repr(GATEWAY) + repr(Endpoints({"OPENAI_API_KEY": KEY}))


# ---- agents' programs ----
def test_the_variables_of_programs_at_a_gateway_and_at_vendors() -> None:
    """At a gateway Anthropic's API key is set to nothing: one that is set would win over the token."""
    assert {"ANTHROPIC_BASE_URL": GATEWAY.url, "ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_API_KEY": ""} == asking(GATEWAY)
    assert {"ANTHROPIC_BASE_URL": ANTHROPIC_URL, "ANTHROPIC_API_KEY": KEY} == asking(OWN)
    others = Endpoints(ALL_KEYS)
    assert {"OPENAI_BASE_URL": OPENAI_URL, "OPENAI_API_KEY": ALL_KEYS["OPENAI_API_KEY"]} == asking(others.find(GPT))
    assert {"GOOGLE_GEMINI_BASE_URL": GEMINI_URL, "GEMINI_API_KEY": ALL_KEYS["GEMINI_API_KEY"]} == asking(
        others.find(GEMINI))
    assert {"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL",
            "OPENAI_API_KEY"} == set(asking(GATEWAY, others.find(GPT)))
    assert {} == asking(None)


def test_a_gateway_has_any_model_for_one_protocol() -> None:
    """Over the one that a program speaks."""
    found = find_endpoint({"AI_GATEWAY_API_KEY": KEY}, None, GPT, only="anthropic")
    assert found is not None
    assert (GATEWAY_URL, GPT) == (asking(found)["ANTHROPIC_BASE_URL"], found.model(GPT))


@pytest.mark.parametrize("model", [GPT, GEMINI])
def test_a_model_that_one_protocol_cannot_reach(model: str) -> None:
    """Told with what would help, though the vendor's key is there."""
    only: Protocol = "anthropic"
    assert Endpoints(ALL_KEYS).find(model, only=only) is None
    with pytest.raises(UserError, match="speaks Anthropic's Messages API only") as raised:
        Endpoints(ALL_KEYS).of(model, "agent=claude", only=only)
    assert f"`{model}`" in raised.value.message
    assert "AI_GATEWAY_API_KEY" in raised.value.hint
