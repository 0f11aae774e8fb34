"""The live gateway between clients and a provider on loopback: tokens, counts, limits, tries, and streams."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from evalkit.analysis.model import Limits
from evalkit.execute.models.chat import Chat, UserTurn
from evalkit.execute.models.client import ProviderError, complete
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.retry import RetryPolicy
from evalkit.gateway.connection import Received, Responder, error_body
from evalkit.gateway.live import LiveGateway
from evalkit.gateway.play import open_play
from evalkit.gateway.server import Server

from .asking import serving, write_script
from .upstream import KEY, PRICES, SSE, Upstream, end, front, message, sse, start, text

SOON = 10.0
"""Seconds in which something that is to come at all has come."""


def whole(request: Received, out: Responder) -> None:
    """A reply in one piece."""
    out.send(200, message())


def streamed(request: Received, out: Responder) -> None:
    """A reply as a stream."""
    out.start(200, SSE)
    for part in (start(), text("Hel"), text("lo"), end()):
        out.write(part)
    out.finish()


def until(holds: Any) -> None:
    """Wait until something holds; fails where it does not come."""
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


# ---- who may ask, and what ----
def test_the_real_key_is_put_in_the_tokens_place() -> None:
    """The provider sees the real key alone; the client holds a token that is no key, and sees no header of accounts."""
    def answer(request: Received, out: Responder) -> None:
        headers = {"Set-Cookie": "session=1", "anthropic-organization-id": "org", "request-id": "r"}
        out.send(200, message(), headers=headers)

    with front(answer) as made:
        assert made.endpoint.key.startswith("evalkit-")
        assert made.server.url == made.endpoint.shown
        reply = made.ask()
        seen = made.upstream.seen[0].headers
        assert "hi" == reply.json()["content"][0]["text"]
        assert f"Bearer {KEY}" == seen["authorization"]
        assert made.endpoint.key not in json.dumps(dict(seen))
        assert "r" == reply.headers["request-id"]
        assert not {"set-cookie", "anthropic-organization-id"} & set(reply.headers)


@pytest.mark.parametrize("headers", [
    {}, {"authorization": "Bearer evalkit-somebody-elses"}, {"x-api-key": KEY}, {"x-goog-api-key": "no"}])
def test_who_has_no_lease_is_refused(headers: dict[str, str]) -> None:
    """A 401 in the protocol's shape, final, and nothing reaches the provider; not even the real key opens it."""
    with front(whole) as made:
        for path, where in (("/v1/messages", ("error", "type")), ("/v1/chat/completions", ("error", "type")),
                            ("/v1beta/models/m:generateContent", ("error", "status"))):
            refused = made.client.post(made.gateway.url + path, headers=headers, json={})
            assert 401 == refused.status_code
            assert "false" == refused.headers["x-should-retry"]
            assert refused.json()[where[0]][where[1]] in ("authentication_error", "UNAUTHENTICATED")
            assert "does not know this token" in refused.json()["error"]["message"]
        assert [] == made.upstream.seen


@pytest.mark.parametrize("carries", [
    lambda token: {"headers": {"authorization": f"Bearer {token}"}}, lambda token: {"headers": {"x-api-key": token}},
    lambda token: {"headers": {"x-goog-api-key": token}}, lambda token: {"params": {"key": token, "beta": "true"}}])
def test_a_token_is_found_wherever_a_protocol_carries_it(carries: Any) -> None:
    """And it is nowhere in what goes on: not in a header, not in the query."""
    with front(whole) as made:
        asked = made.client.post(f"{made.gateway.url}/v1/messages", json={"model": "m"}, **carries(made.endpoint.key))
        assert 200 == asked.status_code
        assert made.endpoint.key not in f"{made.upstream.seen[0].query} {dict(made.upstream.seen[0].headers)}"


def test_a_lease_that_is_closed_opens_nothing() -> None:
    """An agent's process that outlived its run asks in vain."""
    with front(whole) as made:
        assert 200 == made.ask().status_code
        assert 1 == made.lease.close().replies
        assert 401 == made.ask().status_code
        assert 1 == made.lease.close().replies


@pytest.mark.parametrize("path", ["/v1/organizations/me", "/v1/files", "/v1/messages/batches", "/", "/v1/credits",
                                  "/v1/models/../credits", "/v1/models/%2e%2e/credits", "//v1/messages"])
def test_only_what_asks_models_goes_on(path: str) -> None:
    """The key opens more than an agent needs: files, batches, the account."""
    with front(whole) as made:
        assert 404 == made.ask(path).status_code
        got = made.client.get(made.gateway.url + path, headers=made.endpoint.headers())
        assert (200 if path == "/" else 404) == got.status_code
        assert [] == made.upstream.seen


def test_counting_and_listing_go_through_and_count_as_no_reply() -> None:
    """count_tokens, a list of models; and a HEAD, which asks whether somebody is there, needs no provider."""
    def answer(request: Received, out: Responder) -> None:
        out.send(200, b'{"input_tokens": 7}' if "count" in request.path else b'{"data": []}')

    with front(answer) as made:
        assert {"input_tokens": 7} == made.ask("/v1/messages/count_tokens").json()
        headers = {**made.endpoint.headers(), "anthropic-version": "2023-06-01"}
        assert {"data": []} == made.client.get(f"{made.gateway.url}/v1/models?limit=5", headers=headers).json()
        assert "limit=5" == made.upstream.seen[1].query
        assert 200 == made.client.head(made.gateway.url + "/").status_code
        assert 2 == len(made.upstream.seen)
        assert 0 == made.lease.traffic.replies


# ---- streams and counts ----
def test_each_event_goes_on_at_once() -> None:
    """What the provider sent is with the client while the provider still thinks; and it is counted by then."""
    goes_on = threading.Event()

    def answer(request: Received, out: Responder) -> None:
        out.start(200, SSE)
        out.write(start() + text("Hel"))
        assert goes_on.wait(SOON)
        out.write(end())
        out.finish()

    with front(answer) as made, made.stream() as reply:
        parts = reply.iter_bytes()
        first = next(parts)
        assert start() + text("Hel") == first
        usage = made.lease.traffic.usage
        assert (100, 10) == (usage.input_tokens, usage.cache_read_tokens)
        assert "without the end of a reply" in usage.cost_source
        goes_on.set()
        assert end() == b"".join(parts)
        usage = made.lease.traffic.usage
        assert (1, 100, 20) == (usage.turns, usage.input_tokens, usage.output_tokens)
        assert "the project's prices" == usage.cost_source


def test_bytes_go_on_as_they_came() -> None:
    """Events cut anywhere, comments, other line ends: nothing is changed, and all is counted."""
    stream = b": a comment\r\n\r\n" + start().replace(b"\n", b"\r\n") + text("ü") + b"event: ping\ndata: {}\n\n" + end()

    def answer(request: Received, out: Responder) -> None:
        out.start(200, SSE)
        for at in range(0, len(stream), 7):
            out.write(stream[at : at + 7])
        out.finish()

    with front(answer) as made, made.stream() as reply:
        assert stream == reply.read()
        assert (100, 20) == (made.lease.traffic.usage.input_tokens, made.lease.traffic.usage.output_tokens)


def test_costs_add_up_and_are_told_as_they_come() -> None:
    """Each reply counts once, streamed or not; the sum is told after each."""
    told: list[float] = []
    with front(lambda request, out: (streamed if request.json()["stream"] else whole)(request, out),  # type: ignore[index]
               spent=told.append) as made:
        made.ask(stream=False)
        with made.stream() as reply:
            reply.read()
        usage = made.lease.traffic.usage
    assert (2, 200, 40) == (usage.turns, usage.input_tokens, usage.output_tokens)
    assert [pytest.approx(0.14), pytest.approx(0.281)] == [told[0], usage.cost]
    assert told == sorted(told)
    assert usage.cost == told[-1]


def test_no_price_is_no_cost() -> None:
    """A reply of a model that nobody knows makes the whole cost unknown, and its tokens count."""
    with front(lambda request, out: out.send(200, message().replace(b'"m"', b'"other"'))) as made:
        made.ask(model="other")
        with made.gateway.lease("another", [made.lease.upstreams["anthropic"]], model="nobody's") as lease:
            made.client.post(f"{made.gateway.url}/v1/messages", json={"model": "other"},
                             headers={"x-api-key": lease.token})
            assert (None, 100) == (lease.traffic.usage.cost, lease.traffic.usage.input_tokens)
        assert {"other": 1} == made.lease.traffic.models
        assert 0.14 == pytest.approx(made.lease.traffic.usage.cost)  # of the model that the lease is for


def test_twenty_leases_do_not_mix() -> None:
    """Streams of twenty trials interleave: each client gets its own bytes, each lease its own count and model."""
    together = threading.Barrier(20)

    def answer(request: Received, out: Responder) -> None:
        number = int((request.json() or {})["number"])
        out.start(200, SSE)
        out.write(start(number, model=f"model-{number}"))
        together.wait(SOON)
        for _ in range(50):
            out.write(text(f"<{number}>"))
        out.write(end(number))
        out.finish()

    def ask(number: int) -> tuple[str, str, int | None, int | None, dict[str, int]]:
        with made.gateway.lease(f"trial {number}", [made.lease.upstreams["anthropic"]], model="m") as lease:
            reply = httpx.post(f"{made.gateway.url}/v1/messages", headers={"x-api-key": lease.token}, timeout=20,
                               json={"number": number, "stream": True}, trust_env=False).text
            usage = lease.traffic.usage
            return (reply.replace(text(f"<{number}>").decode(), ""), (start(number, model=f"model-{number}")
                    + end(number)).decode(), usage.input_tokens, usage.output_tokens, lease.traffic.models)

    with front(answer) as made, ThreadPoolExecutor(20) as pool:
        for number, (left, expected, read, written, models) in enumerate(pool.map(ask, range(1, 21)), 1):
            assert (expected, number, number, {f"model-{number}": 1}) == (left, read, written, models)


@pytest.mark.parametrize(("protocol", "path", "style", "chunks"), [
    ("openai", "/v1/chat/completions", "bearer", [
        {"model": "m", "choices": [{"delta": {"content": "Hi"}}]},
        {"model": "m", "choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"model": "m", "choices": [], "usage": {"prompt_tokens": 110, "completion_tokens": 20,
                                                "prompt_tokens_details": {"cached_tokens": 10}}}]),
    ("gemini", "/v1beta/models/m:streamGenerateContent", "x-goog-api-key", [
        {"modelVersion": "m", "candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
        {"modelVersion": "m", "candidates": [{"finishReason": "STOP"}], "usageMetadata": {
            "promptTokenCount": 110, "candidatesTokenCount": 15, "thoughtsTokenCount": 5,
            "cachedContentTokenCount": 10}}]),
])
def test_other_protocols_are_counted_too(protocol: Any, path: str, style: Any, chunks: list[dict[str, Any]]) -> None:
    """Their streams, with the key where they carry it. Who did not ask for OpenAI's usage chunk does not get it."""
    lines = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]

    def answer(request: Received, out: Responder) -> None:
        out.start(200, SSE)
        for line in lines:
            out.write(line)
        out.finish()

    def real(url: str) -> Endpoint:
        return Endpoint(f"{url}/v1" if protocol == "openai" else url, "OPENAI_API_KEY", KEY, style, protocol)

    with front(answer, real=real) as made:
        reply = made.ask(path, stream=True)
        usage = made.lease.traffic.usage
        seen = made.upstream.seen[0]
        assert (1, 100, 20, 10) == (usage.turns, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)
        assert path == seen.path
        assert KEY in seen.headers["authorization" if style == "bearer" else style]
        if protocol == "openai":
            assert b"".join(lines[:2]) == reply.content
            assert {"include_usage": True} == (seen.json() or {})["stream_options"]
            asked = made.ask(path, stream=True, stream_options={"include_usage": True})
            assert b"".join(lines) == asked.content
        else:
            assert b"".join(lines) == reply.content


def test_a_list_of_chunks_is_a_reply() -> None:
    """Gemini's stream without `alt=sse` is one JSON list."""
    chunks = [{"modelVersion": "m", "candidates": [{"finishReason": "STOP"}], "usageMetadata": {
        "promptTokenCount": 3, "candidatesTokenCount": 4}}]
    with front(lambda request, out: out.send(200, json.dumps(chunks).encode()),
               real=lambda url: Endpoint(url, "GEMINI_API_KEY", KEY, "x-goog-api-key", "gemini")) as made:
        assert chunks == made.ask("/v1beta/models/m:streamGenerateContent").json()
        assert (3, 4) == (made.lease.traffic.usage.input_tokens, made.lease.traffic.usage.output_tokens)


def test_a_protocol_without_a_key_is_told() -> None:
    """The lease is for one provider: its token opens no other."""
    with front(whole) as made:
        refused = made.ask("/v1/chat/completions")
        assert (404, True) == (refused.status_code, "no key for the protocol openai" in refused.text)


def test_a_lease_may_be_for_one_model_alone() -> None:
    """A judge's call asks its model and no other; an agent's program may ask smaller ones on the side."""
    with front(whole) as made:
        upstream = made.lease.upstreams["anthropic"]
        with made.gateway.lease("a judge", [upstream], model="m", only=True) as lease:
            def ask(model: str) -> httpx.Response:
                return made.client.post(f"{made.gateway.url}/v1/messages", json={"model": model},
                                        headers={"x-api-key": lease.token})

            assert [200, 403] == [ask("m").status_code, ask("dearer").status_code]
            assert "this token is for m alone" in ask("dearer").text
        assert 200 == made.ask(model="dearer").status_code
        assert 2 == len(made.upstream.seen)


# ---- limits ----
@pytest.mark.parametrize(("limits", "over"), [
    (Limits(tokens=200), "limit of 200 tokens"), (Limits(cost=0.2), "cost limit of $0.20")])
def test_a_limit_is_enforced_between_replies(limits: Limits, over: str) -> None:
    """The reply that passes it goes through; the request after it gets a final refusal that says which limit it was."""
    with front(whole, limits=limits) as made:
        assert [200, 200] == [made.ask().status_code for _ in range(2)]
        assert "" == made.lease.traffic.over
        refused = made.ask()
        assert (403, "permission_error") == (refused.status_code, refused.json()["error"]["type"])
        assert over in refused.text
        assert "false" == refused.headers["x-should-retry"]
        assert (over, 2) == (made.lease.traffic.over, len(made.upstream.seen))


# ---- what a provider fails ----
def failing(times: int, status: int, headers: dict[str, str] | None = None) -> Any:
    """An answer that fails so often, and then is a reply."""
    left = iter(range(times))

    def answer(request: Received, out: Responder) -> None:
        if next(left, None) is None:
            whole(request, out)
        else:
            out.send(status, error_body("x", f"no, {KEY}"), headers=headers)

    return answer


@pytest.mark.parametrize("status", [429, 500, 529, 408])
def test_what_passes_by_itself_is_asked_again(status: int) -> None:
    """The client sees a reply and nothing else; the tries are counted."""
    with front(failing(2, status)) as made:
        assert 200 == made.ask().status_code
        assert (2, None, 0) == (made.lease.traffic.retries, made.lease.traffic.failure, made.lease.traffic.tries)
        assert () == made.lease.traffic.notes()


def test_the_provider_names_the_pause() -> None:
    """Retry-After is waited for, and one that is longer than anybody waits is final."""
    waited: list[float] = []

    def wait(self: Responder, seconds: float) -> bool:
        waited.append(seconds)
        return False

    with pytest.MonkeyPatch.context() as patch, front(failing(1, 429, {"Retry-After": "3"})) as made:
        patch.setattr(Responder, "wait", wait)
        assert 200 == made.ask().status_code
    assert [3.0] == waited
    with front(failing(9, 429, {"Retry-After": "3600"})) as made:
        refused = made.ask()
        assert (429, "false", 1) == (refused.status_code, refused.headers["x-should-retry"], len(made.upstream.seen))
        failure = made.lease.traffic.failure
        assert failure is not None
        assert (True, 3600.0) == (failure.transient, failure.retry_after)
        assert "asks to wait 3600 s" in failure.message


def test_what_does_not_pass_is_final_after_our_tries() -> None:
    """The client gets the provider's own error, without the key that it shows, and is told not to ask again."""
    with front(failing(9, 529)) as made:
        refused = made.ask()
        assert (529, "false", 3) == (refused.status_code, refused.headers["x-should-retry"], len(made.upstream.seen))
        assert KEY not in refused.text
        assert "[AI_GATEWAY_API_KEY redacted]" in refused.text
        failure = made.lease.traffic.failure
        assert failure is not None
        assert failure.transient
        assert f"{made.server.url} answered 529: no, [AI_GATEWAY_API_KEY redacted] (asked 3 times)" == failure.message


@pytest.mark.parametrize("protocol", ["anthropic", "openai", "gemini"])
def test_what_a_file_has_no_answer_to_is_no_refused_key(protocol: Any, tmp_path: Path) -> None:
    """Asked once. The gateway and a client behind it tell the same: the file, what was asked, and what to do."""
    player = open_play(write_script(tmp_path, "- {when: {user: other}, reply: hi}\n"))
    with serving(player) as asker, LiveGateway(PRICES, instead=asker.url) as gateway:
        file = Endpoint("s.yaml", "AI_GATEWAY_API_KEY", KEY, protocol=protocol, upstream="s.yaml")
        with gateway.lease("a trial", [file], model="m") as lease:
            with pytest.raises(ProviderError) as raised:
                complete(lease.endpoint(file), Chat("m", (UserTurn("hello"),)))
            failure = lease.traffic.failure
    assert failure is not None
    said = f"s.yaml has no answer: no rule fits [{protocol} m; turn 1; user 'hello'; no tools]"
    assert said == failure.message == raised.value.message
    assert "the script needs a rule" in failure.hint
    assert failure.hint == raised.value.hint
    assert 1 == len(player.unknown())


@pytest.mark.parametrize(("status", "said"), [
    (401, "refused the key in AI_GATEWAY_API_KEY (status 401)"), (403, "refused the key in AI_GATEWAY_API_KEY"),
    (402, "answered 402"), (404, "has no model `m`")])
def test_what_a_person_has_to_mend_is_told_as_such(status: int, said: str) -> None:
    """Asked once; the client is told the provider's status, we keep the reason, which names the real variable."""
    with front(failing(9, status)) as made:
        refused = made.ask()
        assert (status, "false", 1) == (refused.status_code, refused.headers["x-should-retry"], len(made.upstream.seen))
        failure = made.lease.traffic.failure
        assert failure is not None
        assert said in failure.message
        assert not failure.transient


def test_a_request_that_is_wrong_is_the_programs_own() -> None:
    """A 400 goes back as it is: the program may ask otherwise; it is no failure of the provider's."""
    with front(failing(1, 400)) as made:
        refused = made.ask()
        assert (400, None) == (refused.status_code, refused.headers.get("x-should-retry"))
        assert made.lease.traffic.failure is None


def test_no_redirect_is_followed() -> None:
    """The key is for one address."""
    with front(failing(9, 307, {"Location": "/elsewhere"})) as made:
        assert 502 == made.ask().status_code
        assert ["/v1/messages"] == [request.path for request in made.upstream.seen]


def test_a_provider_that_is_not_there_is_told() -> None:
    """Who never answered is given up after some tries; a lease that had a reply has all of them."""
    with front(whole, policy=RetryPolicy(retries=9, window=0.0)) as made:
        nowhere = Endpoint("http://127.0.0.1:9", "AI_GATEWAY_API_KEY", KEY)
        with made.gateway.lease("another", [nowhere], model="m") as lease:
            refused = made.client.post(f"{made.gateway.url}/v1/messages", json={}, headers={"x-api-key": lease.token})
            failure = lease.traffic.failure
            assert failure is not None
            assert (502, "false", 3) == (refused.status_code, refused.headers["x-should-retry"], lease.traffic.tries)
            assert "http://127.0.0.1:9 cannot be reached" in failure.message
            assert failure.transient


def test_replies_that_break_off_cut_the_client_too() -> None:
    """What went on cannot be taken back: the client sees the cut, and after three in a row it is told to stop."""
    def answer(request: Received, out: Responder) -> None:
        out.start(200, SSE)
        out.write(start() + text("Hel"))
        out.drop()

    with front(answer) as made:
        for _ in range(3):
            with made.stream() as reply, pytest.raises(httpx.RemoteProtocolError):
                reply.read()
        refused = made.ask()
        traffic = made.lease.traffic
        assert (502, "false", 3) == (refused.status_code, refused.headers["x-should-retry"], len(made.upstream.seen))
        assert (3, 300, 3) == (traffic.replies, traffic.usage.input_tokens, traffic.broken)
        assert traffic.failure is not None
        assert traffic.failure.transient
        assert "broke off its reply" in traffic.failure.message


def test_a_reply_in_one_piece_that_is_cut_is_asked_for_again() -> None:
    """Nothing of it went on yet. The one that was lost is counted: it may have been paid for."""
    cut = iter([True])

    def answer(request: Received, out: Responder) -> None:
        if next(cut, False):
            out.start(200, {"Content-Type": "application/json"}, length=len(message()))
            out.write(message()[:20])
            out.drop()
        else:
            whole(request, out)

    with front(answer) as made:
        assert message() == made.ask().content
        assert (1, 1, 1) == (made.lease.traffic.replies, made.lease.traffic.retries, made.lease.traffic.broken)
        assert ("1 reply of the provider's broke off",) == made.lease.traffic.notes()


def test_a_connection_that_ends_before_a_reply_is_no_reply_that_broke_off() -> None:
    """It may have been paid for, so it is counted; it is told as what it was."""
    ends = iter([True])

    def answer(request: Received, out: Responder) -> None:
        out.drop() if next(ends, False) else whole(request, out)

    with front(answer) as made:
        assert message() == made.ask().content
        traffic = made.lease.traffic
        assert (1, 1, 1, 1) == (traffic.replies, traffic.retries, traffic.broken, traffic.lost)
        assert ("1 connection to the provider ended before its reply",) == traffic.notes()


def test_an_error_within_a_stream_is_a_reply_that_broke_off() -> None:
    """It goes on as it came; a whole reply afterwards makes it forgotten."""
    broken = iter([True])

    def answer(request: Received, out: Responder) -> None:
        if not next(broken, False):
            streamed(request, out)
            return
        out.start(200, SSE)
        out.write(start() + sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
        out.finish()

    with front(answer) as made:
        with made.stream() as reply:
            assert b"overloaded_error" in reply.read()
        failure = made.lease.traffic.failure
        assert failure is not None
        assert "broke off its reply: Overloaded" in failure.message
        with made.stream() as reply:
            reply.read()
        assert made.lease.traffic.failure is None


# ---- clients and providers that leave ----
def test_a_client_that_leaves_ends_the_providers_work() -> None:
    """In mid-stream, while the provider says nothing: its connection is closed, and what was counted stays."""
    gone = threading.Event()

    def answer(request: Received, out: Responder) -> None:
        out.start(200, SSE)
        out.write(start() + text("Hel"))
        if out.wait(SOON):
            gone.set()
        out.drop()

    with front(answer) as made:
        with made.stream() as reply:
            next(reply.iter_bytes())
        assert gone.wait(SOON)
        traffic = made.lease.traffic
        assert (1, 100, 0) == (traffic.replies, traffic.usage.input_tokens, traffic.broken)
        assert traffic.failure is None


def test_a_client_that_leaves_before_the_reply_ends_it_too() -> None:
    """The provider has not said a word yet."""
    asked, gone = threading.Event(), threading.Event()

    def answer(request: Received, out: Responder) -> None:
        asked.set()
        if out.wait(SOON):
            gone.set()
        out.drop()

    with front(answer) as made:
        with httpx.Client(timeout=0.5, trust_env=False) as client, pytest.raises(httpx.ReadTimeout):
            client.post(f"{made.gateway.url}/v1/messages", headers=made.endpoint.headers(), json={"model": "m"})
        assert asked.is_set()
        assert gone.wait(SOON)
        until(lambda: not made.gateway._exchanges)
        assert made.lease.traffic.failure is None


def test_a_client_that_leaves_ends_the_tries() -> None:
    """Nobody waits for the next one any more."""
    with front(failing(9, 529), policy=RetryPolicy(retries=9, window=60.0, random=lambda: 1.0)) as made:
        with httpx.Client(timeout=0.5, trust_env=False) as client, pytest.raises(httpx.ReadTimeout):
            client.post(f"{made.gateway.url}/v1/messages", headers=made.endpoint.headers(), json={"model": "m"})
        until(lambda: not made.gateway._exchanges)
        traffic = made.lease.traffic
        assert (1, 1) == (len(made.upstream.seen), traffic.tries)
        assert traffic.failure is not None


def test_the_end_of_the_gateway_ends_all() -> None:
    """Also what waits for a provider that says nothing."""
    asked = threading.Event()

    def answer(request: Received, out: Responder) -> None:
        asked.set()
        out.wait(SOON * 3)
        out.drop()

    with Server(Upstream(answer)) as server, ThreadPoolExecutor(1) as pool:
        with LiveGateway(PRICES) as gateway:
            lease = gateway.open("a trial", [Endpoint(server.url, "AI_GATEWAY_API_KEY", KEY)], model="m")
            waiting = pool.submit(httpx.post, f"{gateway.url}/v1/messages", json={}, timeout=60, trust_env=False,
                                  headers={"x-api-key": lease.token})
            assert asked.wait(SOON)
        with pytest.raises(httpx.HTTPError):
            waiting.result(SOON)


def test_over_a_unix_socket(tmp_path: Any) -> None:
    """For a sandbox without a network; and the provider sees what it always sees."""
    with Server(Upstream(whole)) as server, LiveGateway(PRICES, socket_path=tmp_path / "gateway") as gateway:
        lease = gateway.open("a trial", [Endpoint(server.url, "AI_GATEWAY_API_KEY", KEY)], model="m")
        transport = httpx.HTTPTransport(uds=str(tmp_path / "gateway"))
        with httpx.Client(transport=transport) as client:
            reply = client.post("http://localhost/v1/messages", json={"model": "m"},
                                headers={"authorization": f"Bearer {lease.token}"})
        assert (200, 1) == (reply.status_code, lease.traffic.replies)


def test_nothing_shows_a_token_or_a_key() -> None:
    """Whatever of it may be printed."""
    with front(whole) as made:
        shown = f"{made.lease!r} {made.gateway!r} {made.endpoint!r}"
        assert KEY not in shown
        assert made.endpoint.key not in shown
