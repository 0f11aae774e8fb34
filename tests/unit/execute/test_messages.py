"""Where models are, and what comes of asking one: answers, errors for the person, errors of the provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from attrs import evolve

from evalkit.errors import EvalkitError, UserError
from evalkit.execute.models import messages
from evalkit.execute.models.messages import ProviderError, ask
from evalkit.execute.models.provider import ANTHROPIC_URL, GATEWAY_URL, Endpoint, find_endpoint, missing_key
from evalkit.execute.retry import RetryPolicy

KEY = "sk-secret-0123456789"
GATEWAY = Endpoint("https://gateway.invalid", "AI_GATEWAY_API_KEY", KEY)
REQUEST = {"model": "anthropic/claude-x-1.5", "messages": [{"role": "user", "content": "hello"}]}
ANSWER = {"type": "message", "content": []}


class Provider:
    """Gives the prepared answers in turn, the last one for good; notes what it was asked, and the pauses."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []
        self.said: list[str] = []
        self.lost = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask(self, endpoint: Endpoint = GATEWAY) -> dict[str, Any]:
        answer = ask(endpoint, REQUEST, policy=self.policy, say=self.said.append, transport=httpx.MockTransport(self))
        assert len(self.pauses) == len(self.said) == answer.retries
        self.lost = answer.lost
        return answer.response

    @property
    def policy(self) -> RetryPolicy:
        return evolve(messages.POLICY, sleep=self.pauses.append)

    def fails(self, kind: type[EvalkitError], endpoint: Endpoint = GATEWAY) -> EvalkitError:
        """The error that asking ends with; the key is nowhere in it or what it came from."""
        with pytest.raises(kind) as raised:
            self.ask(endpoint)
        error: BaseException | None = raised.value
        while error is not None:
            assert KEY not in f"{error} {error!r} {error.args}"
            error = error.__cause__ or error.__context__
        return raised.value


def api_error(status: int, text: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"type": "error", "error": {"type": "x", "message": text}}, headers=headers)


# ---- endpoints ----
@pytest.mark.parametrize(("environ", "url", "variable", "style"), [
    ({"AI_GATEWAY_API_KEY": KEY, "ANTHROPIC_API_KEY": "other"}, GATEWAY_URL, "AI_GATEWAY_API_KEY", "bearer"),
    ({"VERCEL_AI_GATEWAY_API_KEY": f" {KEY}\n"}, GATEWAY_URL, "VERCEL_AI_GATEWAY_API_KEY", "bearer"),
    ({"AI_GATEWAY_API_KEY": " ", "ANTHROPIC_API_KEY": KEY}, ANTHROPIC_URL, "ANTHROPIC_API_KEY", "x-api-key"),
])
def test_the_endpoint_follows_from_the_key(environ: dict[str, str], url: str, variable: str, style: str) -> None:
    """A gateway's key comes before Anthropic's; blanks around a key are no part of it, blanks alone are none."""
    found = find_endpoint(environ, None)
    assert found is not None
    assert (url, variable, KEY, style) == (found.url, found.variable, found.key, found.style)
    moved = find_endpoint(environ, "http://127.0.0.1:9/")
    assert moved is not None
    assert ("http://127.0.0.1:9", found.style) == (moved.url, moved.style)


def test_without_a_key_there_is_no_endpoint() -> None:
    """Also where an address is given; the error names the variables."""
    assert find_endpoint({}, "http://127.0.0.1:9") is None
    error = missing_key("agent=claude")
    assert "agent=claude needs a model, and no key is set" == error.message
    assert "AI_GATEWAY_API_KEY" in error.hint


def test_models_have_other_names_at_anthropic() -> None:
    """A gateway takes the slug, Anthropic its own name."""
    own = Endpoint(ANTHROPIC_URL, "ANTHROPIC_API_KEY", KEY, "x-api-key")
    assert "anthropic/claude-x-1.5" == GATEWAY.model("anthropic/claude-x-1.5")
    assert "claude-x-1-5" == own.model("anthropic/claude-x-1.5")


def test_claude_code_at_a_gateway_and_at_anthropic() -> None:
    """At a gateway the API key is set to nothing: one that is set would win over the token."""
    own = Endpoint(ANTHROPIC_URL, "ANTHROPIC_API_KEY", KEY, "x-api-key")
    assert {"ANTHROPIC_BASE_URL": GATEWAY.url, "ANTHROPIC_AUTH_TOKEN": KEY,
            "ANTHROPIC_API_KEY": ""} == GATEWAY.claude_code()
    assert {"ANTHROPIC_BASE_URL": ANTHROPIC_URL, "ANTHROPIC_API_KEY": KEY} == own.claude_code()


@pytest.mark.parametrize("key", ["sk-1 sk-2", "sk-1\nsk-2", "sk-1…", "sk-\x00"])
def test_a_value_that_is_no_key(key: str) -> None:
    """Told before it is sent: a header that cannot be sent would be printed."""
    for style in ("bearer", "x-api-key"):
        endpoint = Endpoint("https://x.invalid", "ANTHROPIC_API_KEY", key, style)
        for use in (endpoint.headers, endpoint.claude_code):
            with pytest.raises(UserError, match="ANTHROPIC_API_KEY is no key") as raised:
                use()
            assert "sk-1" not in str(raised.value)


def test_the_repr_shows_no_key() -> None:
    """An endpoint may be printed."""
    assert KEY not in repr(GATEWAY)


# ---- asking ----
def test_an_answer_is_its_json() -> None:
    """The request goes to the messages path with the key, and the model's name at this endpoint."""
    provider = Provider(httpx.Response(200, json=ANSWER))
    assert ANSWER == provider.ask()
    (request,) = provider.requests
    assert ("POST", "https://gateway.invalid/v1/messages") == (request.method, str(request.url))
    assert f"Bearer {KEY}" == request.headers["authorization"]
    assert REQUEST == json.loads(request.content)
    provider.ask(Endpoint("https://x.invalid", "ANTHROPIC_API_KEY", KEY, "x-api-key"))
    assert KEY == provider.requests[1].headers["x-api-key"]
    assert "claude-x-1-5" == json.loads(provider.requests[1].content)["model"]
    assert [] == provider.pauses


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_the_persons(status: int) -> None:
    """Told at once, with the variable to set."""
    provider = Provider(api_error(status, f"invalid x-api-key {KEY}"))
    error = provider.fails(UserError)
    assert f"https://gateway.invalid refused the key in AI_GATEWAY_API_KEY (status {status})" == error.message
    assert 1 == len(provider.requests)


def test_an_unknown_model_is_the_persons() -> None:
    """The provider's words are shown, but for the key that it may show itself."""
    error = Provider(api_error(404, f"model not found for {KEY}")).fails(UserError)
    assert "has no model `anthropic/claude-x-1.5`: model not found for [AI_GATEWAY_API_KEY redacted]" in error.message


def test_a_rate_limit_is_waited_for() -> None:
    """At least as long as the provider says, in seconds or as a date; then the answer counts, with its retries."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    provider = Provider(api_error(429, **{"retry-after": "7"}), api_error(429, **{"retry-after": "junk"}),
                        api_error(529, **{"retry-after": date}), httpx.Response(200, json=ANSWER))
    assert ANSWER == provider.ask()
    assert 7 <= provider.pauses[0] <= 8
    assert 0 <= provider.pauses[1] <= 2
    assert 28 < provider.pauses[2] < 35
    assert provider.said[0].startswith("https://gateway.invalid answered 429: no: again in ")
    assert provider.said[2].endswith("(retry 3 of 3)")
    assert 0 == provider.lost


def test_a_provider_that_asks_for_an_hour() -> None:
    """It is not asked again before, and nobody sits and waits: the run goes on without it."""
    provider = Provider(api_error(429, "slow down", **{"retry-after": "3600"}), httpx.Response(200, json=ANSWER))
    error = provider.fails(ProviderError)
    assert "https://gateway.invalid answered 429: slow down (and asks to wait 3600 s)" == error.message
    assert (1, []) == (len(provider.requests), provider.pauses)


@pytest.mark.parametrize(("answer", "lost"), [
    (api_error(529, "overloaded"), 0), (api_error(500), 0), (httpx.ConnectError("refused"), 0),
    (httpx.ReadTimeout(""), 4), (httpx.RemoteProtocolError("cut off"), 4)])
def test_trouble_that_stays(answer: httpx.Response | Exception, lost: int) -> None:
    """Four tries, then the provider's error. Answers that were lost after the request was sent may have cost."""
    provider = Provider(answer)
    error = provider.fails(ProviderError)
    assert (4, 3) == (len(provider.requests), len(provider.pauses))
    assert error.message.startswith("https://gateway.invalid ")
    assert error.message.endswith("(asked 4 times)")
    assert "run again later" in error.hint
    assert isinstance(error, ProviderError)
    assert lost == error.lost


def test_an_answer_after_a_lost_one() -> None:
    """The lost one is told with the answer: it may have cost as much."""
    provider = Provider(httpx.ReadError("reset"), httpx.Response(200, json=ANSWER))
    assert ANSWER == provider.ask()
    assert 1 == provider.lost


@pytest.mark.parametrize("status", [302, 400, 402, 409, 413, 418])
def test_an_error_that_stays_is_not_asked_again(status: int) -> None:
    """A bad request, an empty account; a redirect is not followed: the key is for this address alone."""
    provider = Provider(api_error(status, f"no {KEY}", location="https://elsewhere.invalid/"))
    error = provider.fails(ProviderError)
    assert f"https://gateway.invalid answered {status}: no [AI_GATEWAY_API_KEY redacted]" == error.message
    assert 1 == len(provider.requests)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", b'{"type": '])
def test_an_answer_that_is_no_message(body: bytes) -> None:
    """Garbage with status 200 is the provider's error; with another status its first words are shown."""
    assert "something that is no message" in Provider(httpx.Response(200, content=body)).fails(ProviderError).message
    assert "answered 400: " in Provider(httpx.Response(400, content=body)).fails(ProviderError).message


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is over the limit is no message."""
    monkeypatch.setattr(messages, "LARGEST_ANSWER", 100_000)
    parts = 0

    def body() -> Iterator[bytes]:
        nonlocal parts
        while True:
            parts += 1
            yield b"x" * 10_000

    Provider(httpx.Response(200, content=body())).fails(ProviderError)
    assert parts < 20


def test_an_answer_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drop now and then does not keep a judge waiting for ever."""
    monkeypatch.setattr(messages, "LONGEST_ANSWER", -1.0)
    provider = Provider(httpx.Response(200, json=ANSWER))
    assert "cannot be reached: its answer took over" in provider.fails(ProviderError).message


@pytest.mark.parametrize("url", ["gateway.invalid", "ftp://x", "http://[::1"])
def test_an_address_that_is_none(url: str) -> None:
    """The person's mistake, told at once."""
    pauses: list[float] = []
    with pytest.raises(UserError, match="is no address"):
        ask(Endpoint(url, "AI_GATEWAY_API_KEY", KEY), REQUEST, policy=RetryPolicy(sleep=pauses.append))
    assert [] == pauses


def test_a_provider_that_is_down() -> None:
    """A refused connection, with the real transport."""
    pauses: list[float] = []
    with pytest.raises(ProviderError, match="cannot be reached"):
        ask(Endpoint("http://127.0.0.1:1", "AI_GATEWAY_API_KEY", KEY), REQUEST, policy=RetryPolicy(sleep=pauses.append))
    assert 3 == len(pauses)


