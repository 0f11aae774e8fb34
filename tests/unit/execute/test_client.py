"""What comes of asking a model: answers, errors for the person, errors of the provider."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from evalkit.errors import EvalkitError, UserError
from evalkit.execute.models import anthropic, client
from evalkit.execute.models.chat import Chat, Tool, UserTurn
from evalkit.execute.models.client import Answer, ProviderError, Refused, TimeUp, complete
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.retry import RetryPolicy
from evalkit.values import evolve

KEY = "sk-secret-0123456789"
GATEWAY = Endpoint("https://gateway.invalid", "AI_GATEWAY_API_KEY", KEY)
OWN = Endpoint("https://x.invalid", "ANTHROPIC_API_KEY", KEY, "x-api-key")
OPENAI = Endpoint("https://o.invalid/v1", "OPENAI_API_KEY", KEY, protocol="openai")
GEMINI = Endpoint("https://g.invalid", "GEMINI_API_KEY", KEY, "x-goog-api-key", "gemini")
ALL = pytest.mark.parametrize("endpoint", [GATEWAY, OPENAI, GEMINI], ids=lambda endpoint: endpoint.protocol)
CHAT = Chat("anthropic/claude-x-1.5", (UserTurn("hello"),), longest=5)
FORCED = evolve(CHAT, tools=(Tool("tell", "", {"type": "object"}),), force="tell")
ANSWER = {"model": "claude-x", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
ANSWERS: dict[str, Any] = {
    "anthropic": ANSWER, "openai": {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]},
}


class Provider:
    """Gives the prepared answers in turn, the last one for good; notes what it was asked, and the pauses."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []
        self.said: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask(self, endpoint: Endpoint = GATEWAY, chat: Chat = CHAT, limit: float | None = None) -> Answer:
        policy = evolve(client.POLICY, sleep=self.pauses.append)
        answer = complete(endpoint, chat, policy=policy, say=self.said.append, limit=limit,
                          transport=httpx.MockTransport(self))
        assert len(self.pauses) == len(self.said) == answer.retries
        assert "hi" == answer.reply.text
        return answer

    def fails(self, kind: type[EvalkitError], endpoint: Endpoint = GATEWAY, **more: Any) -> Any:
        """The error that asking ends with; the key is nowhere in it or what it came from."""
        with pytest.raises(kind) as raised:
            self.ask(endpoint, **more)
        error: BaseException | None = raised.value
        while error is not None:
            assert KEY not in f"{error} {error!r} {error.args}"
            error = error.__cause__ or error.__context__
        return raised.value


def good(endpoint: Endpoint = GATEWAY) -> httpx.Response:
    return httpx.Response(200, json=ANSWERS[endpoint.protocol])


def api_error(status: int, text: str = "no", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"type": "error", "error": {"type": "x", "message": text}}, headers=headers)


# ---- answers ----
@pytest.mark.parametrize(("endpoint", "path", "header", "value"), [
    (GATEWAY, "https://gateway.invalid/v1/messages", "authorization", f"Bearer {KEY}"),
    (OWN, "https://x.invalid/v1/messages", "x-api-key", KEY),
    (OPENAI, "https://o.invalid/v1/chat/completions", "authorization", f"Bearer {KEY}"),
    (GEMINI, "https://g.invalid/v1beta/models/anthropic/claude-x-1.5:generateContent", "x-goog-api-key", KEY),
])
def test_an_answer_of_each_protocol(endpoint: Endpoint, path: str, header: str, value: str) -> None:
    """The request goes to the protocol's path with the key."""
    provider = Provider(good(endpoint))
    assert ANSWERS[endpoint.protocol] == provider.ask(endpoint).reply.response
    (request,) = provider.requests
    assert ("POST", path, value) == (request.method, str(request.url), request.headers[header])
    assert "application/json" == request.headers["content-type"]
    assert [] == provider.pauses


def test_a_model_that_takes_no_forced_call() -> None:
    """It is asked without force, at once; that is no retry, and it is told."""
    provider = Provider(api_error(400, "tool_choice forces tool use is not compatible with this model"), good())
    answer = provider.ask(chat=FORCED)
    assert (0, (anthropic.NOT_FORCED,)) == (answer.retries, answer.notes)
    assert ["tool", "auto"] == [json.loads(request.content)["tool_choice"]["type"] for request in provider.requests]


def test_a_refusal_that_cannot_be_mended_twice() -> None:
    """What is refused in either form ends it: no request is sent a second time."""
    provider = Provider(api_error(400, "use max_tokens, not max_completion_tokens"))
    assert "answered 400" in provider.fails(ProviderError, OPENAI).message
    assert 2 == len(provider.requests)


# ---- errors for the person ----
@ALL
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_the_persons(endpoint: Endpoint, status: int) -> None:
    """Told at once, with the variable to set."""
    provider = Provider(api_error(status, f"invalid key {KEY}"))
    error = provider.fails(Refused, endpoint)
    assert f"{endpoint.url} refused the key in {endpoint.variable} (status {status})" == error.message
    assert f"set {endpoint.variable} to a valid key" == error.hint
    assert 1 == len(provider.requests)


@ALL
def test_an_unknown_model_is_the_persons(endpoint: Endpoint) -> None:
    """The provider's words are shown, but for the key that it may show itself."""
    error = Provider(api_error(404, f"model not found for {KEY}")).fails(Refused, endpoint)
    assert f"has no model `anthropic/claude-x-1.5`: model not found for [{endpoint.variable} redacted]" in error.message


@pytest.mark.parametrize("url", ["gateway.invalid", "ftp://x", "http://[::1"])
def test_an_address_that_is_none(url: str) -> None:
    """The person's mistake, told at once."""
    pauses: list[float] = []
    with pytest.raises(UserError, match="is no address"):
        complete(evolve(GATEWAY, url=url), CHAT, policy=RetryPolicy(sleep=pauses.append))
    assert [] == pauses


# ---- what passes by itself ----
@ALL
def test_a_rate_limit_is_waited_for(endpoint: Endpoint) -> None:
    """At least as long as the provider says, in seconds or as a date; then the answer counts, with its retries."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    provider = Provider(api_error(429, **{"retry-after": "7"}), api_error(429, **{"retry-after": "junk"}),
                        api_error(529, **{"retry-after": date}), good(endpoint))
    answer = provider.ask(endpoint)
    assert (3, 0) == (answer.retries, answer.lost)
    assert 7 <= provider.pauses[0] <= 8
    assert 0 <= provider.pauses[1] <= 2
    assert 28 < provider.pauses[2] < 35
    assert provider.said[0].startswith(f"{endpoint.url} answered 429: no: again in ")
    assert provider.said[2].endswith("(retry 3 of 3)")


def test_a_pause_that_is_told_in_the_body() -> None:
    """As Gemini does."""
    body = {"error": {"message": "slow down", "details": [{"retryDelay": "12s"}]}}
    provider = Provider(httpx.Response(429, json=body), good(GEMINI))
    provider.ask(GEMINI)
    assert 12 <= provider.pauses[0] <= 13


def test_a_provider_that_asks_for_an_hour() -> None:
    """It is not asked again before, and nobody sits and waits: the run goes on without it."""
    provider = Provider(api_error(429, "slow down", **{"retry-after": "3600"}), good())
    error = provider.fails(ProviderError)
    assert "https://gateway.invalid answered 429: slow down (and asks to wait 3600 s)" == error.message
    assert (1, [], True) == (len(provider.requests), provider.pauses, error.transient)


@ALL
@pytest.mark.parametrize(("answer", "lost"), [
    (api_error(529, "overloaded"), 0), (api_error(500), 0), (httpx.ConnectError("refused"), 0),
    (httpx.ReadTimeout(""), 4), (httpx.RemoteProtocolError("cut off"), 4)])
def test_trouble_that_stays(endpoint: Endpoint, answer: httpx.Response | Exception, lost: int) -> None:
    """Four tries, then the provider's error. Answers that were lost after the request was sent may have cost."""
    provider = Provider(answer)
    error = provider.fails(ProviderError, endpoint)
    assert (4, 3) == (len(provider.requests), len(provider.pauses))
    assert error.message.startswith(f"{endpoint.url} ")
    assert error.message.endswith("(asked 4 times)")
    assert "run again later" in error.hint
    assert (lost, True, 3) == (error.lost, error.transient, error.retries)


def test_an_answer_after_a_lost_one() -> None:
    """The lost one is told with the answer: it may have cost as much."""
    assert 1 == Provider(httpx.ReadError("reset"), good()).ask().lost


def test_a_provider_that_is_down() -> None:
    """A refused connection, with the real transport."""
    pauses: list[float] = []
    with pytest.raises(ProviderError, match="cannot be reached"):
        complete(evolve(GATEWAY, url="http://127.0.0.1:1"), CHAT, policy=RetryPolicy(sleep=pauses.append))
    assert 3 == len(pauses)


# ---- what does not ----
@ALL
@pytest.mark.parametrize("status", [302, 400, 402, 409, 413, 418])
def test_an_error_that_stays_is_not_asked_again(endpoint: Endpoint, status: int) -> None:
    """A bad request, an empty account; a redirect is not followed: the key is for this address alone."""
    provider = Provider(api_error(status, f"no {KEY}", location="https://elsewhere.invalid/"))
    error = provider.fails(ProviderError, endpoint)
    assert f"{endpoint.url} answered {status}: no [{endpoint.variable} redacted]" == error.message
    assert (1, False) == (len(provider.requests), error.transient)


def test_an_account_without_credit() -> None:
    """A status that means a rate limit elsewhere: waiting does not fill an account."""
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    provider = Provider(httpx.Response(429, json=body))
    assert "the account of OPENAI_API_KEY has no credit or no quota left" == provider.fails(ProviderError, OPENAI).hint
    assert 1 == len(provider.requests)


@ALL
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff", b'{"type": ', b"{}", b'{"error": "broken"}'])
def test_an_answer_that_is_none(endpoint: Endpoint, body: bytes) -> None:
    """Garbage with status 200 is the provider's error, and may have cost; with another status it is shown."""
    error = Provider(httpx.Response(200, content=body)).fails(ProviderError, endpoint)
    assert "something that is no answer" in error.message
    assert 1 == error.lost
    assert "answered 400: " in Provider(httpx.Response(400, content=body)).fails(ProviderError, endpoint).message


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is over the limit is no answer."""
    monkeypatch.setattr(client, "LARGEST_ANSWER", 100_000)
    parts = 0

    def body() -> Iterator[bytes]:
        nonlocal parts
        while True:
            parts += 1
            yield b"x" * 10_000

    Provider(httpx.Response(200, content=body())).fails(ProviderError)
    assert parts < 20


# ---- limits of time ----
def test_an_answer_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drop now and then keeps nobody waiting for ever."""
    monkeypatch.setattr(client, "LONGEST_ANSWER", -1.0)
    assert "cannot be reached: its answer took over" in Provider(good()).fails(ProviderError).message


def test_a_limit_that_runs_out_while_the_provider_works() -> None:
    """It is not asked again: whoever set the limit is told just that."""
    def slow() -> Iterator[bytes]:
        for _ in range(100):
            time.sleep(0.02)
            yield b" "

    provider = Provider(httpx.Response(200, content=slow()), good())
    error = provider.fails(TimeUp, limit=0.1)
    assert "https://gateway.invalid gave no answer within 0.1 s" == error.message
    assert (1, 1) == (len(provider.requests), error.lost)


def test_a_limit_that_runs_out_while_the_provider_is_busy() -> None:
    """That is the provider's failure; no pause is begun that would end after the limit."""
    provider = Provider(api_error(429, "busy", **{"retry-after": "60"}))
    error = provider.fails(ProviderError, limit=30.0)
    assert not isinstance(error, TimeUp)
    assert "https://gateway.invalid answered 429: busy (and asks to wait 60 s)" == error.message
    assert [] == provider.pauses
