"""The scripted Messages API server, seen through a real HTTP client."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from evalkit.gateway import (
    CutStream,
    Fault,
    Hang,
    Recorded,
    Reply,
    ScriptedGateway,
    Step,
    Text,
    ToolCall,
)

TOOL = {"name": "Write", "description": "write a file", "input_schema": {"type": "object"}}


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client without the environment's proxies."""
    with httpx.Client(timeout=10, trust_env=False) as opened:
        yield opened


def request(*, main: bool = True, stream: bool = False, text: str = "hello") -> dict[str, Any]:
    body: dict[str, Any] = {"model": "m/1", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
    if main:
        body["tools"] = [TOOL]
    if stream:
        body["stream"] = True
    return body


def ask(client: httpx.Client, gateway: ScriptedGateway, **kind: Any) -> httpx.Response:
    return client.post(f"{gateway.url}/v1/messages?beta=true", json=request(**kind))


def events(response: httpx.Response) -> list[dict[str, Any]]:
    found = []
    for chunk in response.text.strip().split("\n\n"):
        name, data = chunk.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name.removeprefix("event: ") == event["type"]
        found.append(event)
    return found


def first_text(response: httpx.Response) -> str:
    text = response.json()["content"][0]["text"]
    assert isinstance(text, str)
    return text


def assert_api_error(response: httpx.Response, status: int, kind: str) -> None:
    assert status == response.status_code
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert ("error", kind) == (body["type"], body["error"]["type"])
    assert body["error"]["message"]


def test_a_reply_becomes_one_message_object(client: httpx.Client) -> None:
    """Without `stream` a reply is one JSON message that names the requested model and the token counts."""
    reply = Reply((Text("hi"), ToolCall("Write", {"a": 1})), input_tokens=7, output_tokens=3)
    with ScriptedGateway([reply]) as gateway:
        message = ask(client, gateway).json()
    assert (message["type"], message["role"], message["model"]) == ("message", "assistant", "m/1")
    text, call = message["content"]
    assert text == {"type": "text", "text": "hi"}
    assert (call["type"], call["name"], call["input"]) == ("tool_use", "Write", {"a": 1})
    assert (message["usage"]["input_tokens"], message["usage"]["output_tokens"]) == (7, 3)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply((Text("a"),)), "end_turn"),
        (Reply((Text("a"), ToolCall("b", {}))), "tool_use"),
        (Reply((ToolCall("b", {}),), "max_tokens"), "max_tokens"),
        (Reply(()), "end_turn"),
    ],
)
def test_the_stop_reason_follows_from_the_blocks(client: httpx.Client, reply: Reply, expected: str) -> None:
    """A tool call implies `tool_use`, anything else `end_turn`; a given stop reason wins, in both modes."""
    with ScriptedGateway([reply, reply]) as gateway:
        assert expected == ask(client, gateway).json()["stop_reason"]
        assert expected == events(ask(client, gateway, stream=True))[-2]["delta"]["stop_reason"]


def test_a_stream_has_the_events_in_the_order_of_the_api(client: httpx.Client) -> None:
    """A streamed reply opens the message, each block in turn, tells the stop reason, and ends."""
    reply = Reply((Text("one"), ToolCall("b", {})), input_tokens=7, output_tokens=3)
    with ScriptedGateway([reply]) as gateway:
        response = ask(client, gateway, stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    got = events(response)
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    order = ["message_start", *block, *block, "message_delta", "message_stop"]
    assert [event["type"] for event in got] == order
    assert [event["index"] for event in got if "index" in event] == [0, 0, 0, 1, 1, 1]
    opening = got[0]["message"]
    assert (opening["content"], opening["stop_reason"], opening["usage"]["input_tokens"]) == ([], None, 7)
    assert got[-2]["usage"]["output_tokens"] == 3


def test_text_deltas_join_to_the_text(client: httpx.Client) -> None:
    """A long text comes in several deltas; joined they are the text, characters outside ASCII included."""
    text = "línea 1\nline 2 😀 " * 9
    with ScriptedGateway([Reply((Text(text),))]) as gateway:
        got = events(ask(client, gateway, stream=True))
    parts = [event["delta"]["text"] for event in got if event["type"] == "content_block_delta"]
    assert len(parts) > 1
    assert text == "".join(parts)


def test_input_json_deltas_join_to_the_tool_input(client: httpx.Client) -> None:
    """The block starts with an empty input; the joined partial_json parses to the scripted input."""
    content = 'a "quoted"\nline 😀\n' * 4
    arguments = {"file_path": "/tmp/á", "content": content, "deep": [{"n": None}, 1.5, True]}
    with ScriptedGateway([Reply((ToolCall("Write", arguments),))]) as gateway:
        got = events(ask(client, gateway, stream=True))
    start = got[1]["content_block"]
    assert (start["type"], start["name"], start["input"]) == ("tool_use", "Write", {})
    deltas = [event["delta"] for event in got if event["type"] == "content_block_delta"]
    assert {"input_json_delta"} == {delta["type"] for delta in deltas}
    assert len(deltas) > 1
    assert arguments == json.loads("".join(delta["partial_json"] for delta in deltas))


def test_ids_are_unique(client: httpx.Client) -> None:
    """No two messages and no two tool calls of a gateway share an id."""
    reply = Reply((ToolCall("a", {}), ToolCall("a", {})))
    with ScriptedGateway([reply, reply]) as gateway:
        messages = [ask(client, gateway).json() for _ in range(2)]
    assert len({message["id"] for message in messages}) == 2
    assert len({block["id"] for message in messages for block in message["content"]}) == 4


def test_a_fault_has_the_error_shape_and_retry_after(client: httpx.Client) -> None:
    """A fault answers with its status, its kind and, if given, a Retry-After header in seconds."""
    with ScriptedGateway([Fault(429, "rate_limit_error", "slow down", 2.0), Fault(529)]) as gateway:
        limited = ask(client, gateway)
        overloaded = ask(client, gateway, stream=True)
    assert_api_error(limited, 429, "rate_limit_error")
    assert (limited.json()["error"]["message"], limited.headers["retry-after"]) == ("slow down", "2")
    assert_api_error(overloaded, 529, "api_error")
    assert "retry-after" not in overloaded.headers


@pytest.mark.parametrize("stream", [True, False])
def test_a_cut_reply_breaks_the_connection(client: httpx.Client, stream: bool) -> None:
    """A cut reply ends before the HTTP body is complete, and the next request works again."""
    with ScriptedGateway([CutStream(3), Reply((Text("again"),))]) as gateway:
        with pytest.raises(httpx.RemoteProtocolError):
            ask(client, gateway, stream=stream)
        assert first_text(ask(client, gateway)) == "again"


@pytest.mark.parametrize("count", [0, 2])
def test_a_cut_stream_delivers_the_events_before_the_cut(client: httpx.Client, count: int) -> None:
    """Exactly `after_events` events arrive."""
    got: list[bytes] = []
    with (
        ScriptedGateway([CutStream(count)]) as gateway,
        client.stream("POST", f"{gateway.url}/v1/messages", json=request(stream=True)) as response,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        got.extend(response.iter_raw())
    assert count == b"".join(got).count(b"event: ")


def test_a_hanging_step_ends_without_an_answer(client: httpx.Client) -> None:
    """The connection is held for the given time and then dropped."""
    with ScriptedGateway([Hang(0.2)]) as gateway:
        start = time.monotonic()
        with pytest.raises(httpx.RemoteProtocolError):
            ask(client, gateway)
        assert time.monotonic() - start >= 0.2


@pytest.mark.parametrize("step", [Hang(60), Reply((Text("late"),), delay=60)])
def test_close_wakes_what_waits(step: Hang | Reply) -> None:
    """Closing drops held connections at once, ends every thread, and may be repeated."""
    before = set(threading.enumerate())
    gateway = ScriptedGateway([step])
    with ThreadPoolExecutor(1) as pool, httpx.Client(timeout=30, trust_env=False) as client:
        with gateway:
            waiting = pool.submit(ask, client, gateway)
            while not gateway.requests:
                time.sleep(0.01)
            start = time.monotonic()
        with pytest.raises(httpx.TransportError):
            waiting.result(timeout=30)
        assert time.monotonic() - start < 30
        gateway.close()
    assert before == set(threading.enumerate())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2])), timeout=2)


def test_close_ends_idle_connections() -> None:
    """An open keep-alive connection does not keep a thread alive after close."""
    before = set(threading.enumerate())
    with httpx.Client(trust_env=False) as client, ScriptedGateway([]) as gateway:
        client.get(gateway.url)
        gateway.close()
        assert before == set(threading.enumerate())


def test_a_delay_passes_before_the_answer(client: httpx.Client) -> None:
    """`delay` is in seconds."""
    with ScriptedGateway([Reply((Text("a"),), delay=0.2)]) as gateway:
        start = time.monotonic()
        assert first_text(ask(client, gateway)) == "a"
        assert time.monotonic() - start >= 0.2


def test_an_exhausted_script_answers_done(client: httpx.Client) -> None:
    """After the last step a main request gets `on_exhausted`, by default the text `done` and end_turn."""
    with ScriptedGateway([Reply((Text("one"),))]) as gateway:
        assert gateway.remaining == 1
        assert first_text(ask(client, gateway)) == "one"
        assert gateway.remaining == 0
        last = ask(client, gateway)
    assert (first_text(last), last.json()["stop_reason"]) == ("done", "end_turn")
    with ScriptedGateway([], on_exhausted=Reply((Text("no more"),))) as gateway:
        assert first_text(ask(client, gateway)) == "no more"


def test_side_requests_leave_the_script_alone(client: httpx.Client) -> None:
    """A request without tools, or with an empty list, gets a short text and uses up no step."""
    with ScriptedGateway([Reply((Text("main"),))]) as gateway:
        assert first_text(ask(client, gateway, main=False)) == "ok"
        empty = client.post(f"{gateway.url}/v1/messages", json={**request(main=False), "tools": []})
        assert first_text(empty) == "ok"
        assert first_text(ask(client, gateway)) == "main"
        assert [request()] == gateway.main_requests
        assert len(gateway.requests) == 3


def test_side_may_answer_side_requests(client: httpx.Client) -> None:
    """The `side` function sees the body; where it returns None the short default text stands."""

    def side(body: dict[str, Any]) -> Reply | None:
        return Reply((Text("a title"),)) if body["messages"][0]["content"] == "title?" else None

    with ScriptedGateway([], side=side) as gateway:
        assert first_text(ask(client, gateway, main=False, text="title?")) == "a title"
        assert first_text(ask(client, gateway, main=False)) == "ok"


def test_a_step_may_be_a_function_of_the_request(client: httpx.Client) -> None:
    """A callable step gets the request's body and returns a reply or a fault."""

    def echo(body: dict[str, Any]) -> Reply:
        return Reply((Text(body["messages"][0]["content"].upper()),))

    with ScriptedGateway([echo, lambda body: Fault(503)]) as gateway:
        assert first_text(ask(client, gateway, text="shout")) == "SHOUT"
        assert_api_error(ask(client, gateway), 503, "api_error")


def test_a_failing_step_fails_the_test(client: httpx.Client) -> None:
    """If a step raises, its request gets a 403, and the exception comes out of the `with` block."""

    def step(body: dict[str, Any]) -> Reply:
        raise AssertionError("not what the script expects")

    with pytest.raises(AssertionError, match="not what"), ScriptedGateway([step]) as gateway:
        assert_api_error(ask(client, gateway), 403, "permission_error")


def test_parallel_requests_take_distinct_steps() -> None:
    """Ten requests at once get ten different steps, and the n-th recorded one got the n-th step."""
    script = [Reply((Text(str(number)),), delay=0.05) for number in range(10)]
    with ScriptedGateway(script) as gateway:

        def one(number: int) -> tuple[str, str]:
            with httpx.Client(timeout=10, trust_env=False) as client:
                return str(number), first_text(ask(client, gateway, text=str(number)))

        with ThreadPoolExecutor(10) as pool:
            answers = dict(pool.map(one, range(10)))
        asked = [body["messages"][0]["content"] for body in gateway.main_requests]
    assert [str(number) for number in range(10)] == [answers[text] for text in asked]


def test_requests_are_recorded_and_credentials_masked(client: httpx.Client) -> None:
    """A record holds what was sent, with header names in lower case; its repr shows no credential."""
    with ScriptedGateway([]) as gateway:
        headers = {"X-Api-Key": "sk-secret", "Authorization": "Bearer sk-secret", "X-Other": "seen"}
        client.post(f"{gateway.url}/v1/messages?beta=true", json=request(), headers=headers)
        record: Recorded = gateway.requests[0]
    assert ("POST", "/v1/messages", request()) == (record.method, record.path, record.body)
    assert (record.headers["x-api-key"], record.headers["x-other"]) == ("sk-secret", "seen")
    assert "sk-secret" not in repr(record)
    assert "seen" in repr(record)


def test_the_output_stays_silent(client: httpx.Client, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither requests nor a client that goes away in the middle of a reply print anything."""
    with ScriptedGateway([Reply((Text("x" * 5_000_000),))]) as gateway:
        ask(client, gateway, main=False)
        with client.stream("POST", f"{gateway.url}/v1/messages", json=request(stream=True)):
            pass
        with socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2]))) as raw:
            raw.sendall(b"POST /v1/messages HTTP/1.1\r\nContent-Length: 50\r\n\r\n{")
        time.sleep(0.1)
    assert tuple(capfd.readouterr()) == ("", "")


def test_the_root_and_count_tokens_answer(client: httpx.Client) -> None:
    """What Claude Code asks beside messages: the probe of the root, and the token count."""
    with ScriptedGateway([]) as gateway:
        assert ((head := client.head(gateway.url)).status_code, head.content) == (200, b"")
        assert client.get(gateway.url).status_code == 200
        counted = client.post(f"{gateway.url}/v1/messages/count_tokens?beta=true", json=request())
        assert counted.json()["input_tokens"] > 10
        assert gateway.main_requests == []


@pytest.mark.parametrize("raw", [b"{", b"[1]", b"", b"\xff", b"[" * 100_000])
def test_a_malformed_body_gets_a_400(client: httpx.Client, raw: bytes) -> None:
    """A body that is not a JSON object gets an API error, takes no step, and is recorded without a body."""
    with ScriptedGateway([Reply((Text("kept"),))]) as gateway:
        for path in ("/v1/messages", "/v1/messages/count_tokens"):
            assert_api_error(client.post(gateway.url + path, content=raw), 400, "invalid_request_error")
        assert [record.body for record in gateway.requests] == [None, None]
        assert first_text(ask(client, gateway)) == "kept"


def test_an_unknown_path_gets_a_404(client: httpx.Client) -> None:
    """Any other path or method is an error in the API's shape; HEAD has no body even then."""
    with ScriptedGateway([]) as gateway:
        assert_api_error(client.post(f"{gateway.url}/v1/nothing", json={}), 404, "not_found_error")
        assert_api_error(client.get(f"{gateway.url}/v1/messages"), 404, "not_found_error")
        assert_api_error(client.put(gateway.url, json={}), 501, "invalid_request_error")
        assert ((head := client.head(f"{gateway.url}/x")).status_code, head.content) == (404, b"")


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "9" * 30])
def test_an_invalid_length_gets_a_400(length: str) -> None:
    """A Content-Length that is no size is refused without reading or allocating anything."""
    with (
        ScriptedGateway([]) as gateway,
        socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2])), timeout=5) as raw,
    ):
        raw.sendall(f"POST /v1/messages HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
        assert raw.makefile("rb").readline().startswith(b"HTTP/1.1 400")


def test_one_connection_serves_many_requests() -> None:
    """Keep-alive holds across messages, streams, faults, 404s and chunked request bodies."""
    script: list[Step] = [Reply((Text("one"),)), Reply((Text("two"),)), Fault(500), Reply((Text("four"),))]
    single = httpx.Client(trust_env=False, timeout=5, limits=httpx.Limits(max_connections=1))
    with ScriptedGateway(script) as gateway, single as client:
        ports = set()

        def note(response: httpx.Response) -> httpx.Response:
            ports.add(response.extensions["network_stream"].get_extra_info("client_addr"))
            return response

        note(client.head(gateway.url))
        assert first_text(note(ask(client, gateway))) == "one"
        assert events(note(ask(client, gateway, stream=True)))[-1]["type"] == "message_stop"
        note(ask(client, gateway))
        note(client.get(f"{gateway.url}/nowhere"))
        pieces = iter([json.dumps(request()).encode()[:20], json.dumps(request()).encode()[20:]])
        assert first_text(note(client.post(f"{gateway.url}/v1/messages", content=pieces))) == "four"
    assert len(ports) == 1


def test_a_gateway_is_entered_once() -> None:
    """There is no address before entering, and no second life after closing."""
    gateway = ScriptedGateway([])
    with pytest.raises(RuntimeError):
        gateway.url  # noqa: B018 - reading it is the test
    gateway.close()
    with gateway:
        assert gateway.url.startswith("http://127.0.0.1:")
    with pytest.raises(RuntimeError):
        gateway.__enter__()
