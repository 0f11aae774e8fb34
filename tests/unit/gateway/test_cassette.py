"""Recording and playing again: what is kept, what is equal, and what a request that was not recorded is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from evalkit.errors import UserError
from evalkit.execute.models.replayed import Way, ways_in
from evalkit.gateway.cassette import CassetteWriter, read_cassette
from evalkit.gateway.connection import Received, Responder
from evalkit.gateway.play import open_play
from evalkit.gateway.record import Recorder
from tests.unit.gateway.asking import PROTOCOLS, Asker, broken_off, playing, said, serving, write_script

KEY = "vck_a-dummy-key-that-must-not-be-kept"
ENVIRON = {"AI_GATEWAY_API_KEY": KEY}
KEYS = {"anthropic": {"ANTHROPIC_API_KEY": KEY}, "openai": {"OPENAI_API_KEY": KEY}, "gemini": {"GEMINI_API_KEY": KEY}}
MODELS = {"anthropic": "claude-x", "openai": "gpt-x", "gemini": "gemini-x"}


@define
class Provider:
    """Stands in for a provider: an app that answers by a function, and keeps what it got."""

    answer: Callable[[Received, Responder], None]
    got: list[Received] = field(factory=list)

    def handle(self, request: Received, out: Responder) -> None:
        self.got.append(request)
        self.answer(request, out)


@contextmanager
def recording(url: str, path: Path, environ: Mapping[str, str] = ENVIRON) -> Iterator[tuple[Asker, Recorder]]:
    recorder = Recorder(url, CassetteWriter(path), environ)
    try:
        with serving(recorder) as asker:
            yield asker, recorder
    finally:
        recorder.close()


def stream(*chunks: bytes) -> Callable[[Received, Responder], None]:
    def answer(request: Received, out: Responder) -> None:
        out.start(200, {"Content-Type": "text/event-stream", "Request-Id": "req_0123456789abcdef", "Set-Cookie": "a=b",
                        "anthropic-organization-id": "11111111-2222", "X-RateLimit-Remaining": "5"})
        for chunk in chunks:
            out.write(chunk)
        out.finish()

    return answer


def event(text: str) -> bytes:
    data = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return f"event: content_block_delta\ndata: {json.dumps(data)}\n\n".encode()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_recording_is_played_again(tmp_path: Path, protocol: str) -> None:
    """In each protocol, whole and streamed: the same bytes for the same requests; only the provider got the key."""
    script = write_script(tmp_path, """\
        - when: {turn: 1}
          reply: {text: first, calls: [{name: Look, input: {at: x}}]}
        - reply: second
        """)
    path = tmp_path / "a/cassette.jsonl"
    asked: list[dict[str, Any]] = [{"stream": way, "before": before, "tools": ["Look"], "system": "s",
                                    "protocol": protocol, "model": MODELS[protocol]}
                                   for before in ((), [("x", "seen")]) for way in ("", "sse")]
    seen: list[Received] = []
    player = open_play(script)

    def watched(request: Received, out: Responder) -> None:
        seen.append(request)
        player.handle(request, out)

    with (serving(Provider(watched)) as provider,
          recording(provider.url, path, KEYS[protocol]) as (asker, recorder)):
        first = [asker.ask(**each) for each in asked]
    assert [] == recorder.troubles()
    assert ["first", "first", "second", "second"] == [said(answer, protocol) for answer in first]
    assert all(KEY in str(dict(request.headers)) for request in seen)
    assert KEY not in path.read_text()
    with playing(path) as (asker, played):
        again = [asker.ask(**each) for each in asked]
        assert [answer.content for answer in first] == [answer.content for answer in again]
        assert [answer.headers["content-type"] for answer in first] == [
            answer.headers["content-type"] for answer in again]
    assert ([], [], 4) == (played.unknown(), played.notes(), played.answered)


def test_chunks_keep_their_bounds_and_headers_are_few(tmp_path: Path) -> None:
    """Even in the middle of an event, or of a character; headers that tell of an account go nowhere."""
    body = event("né").decode().replace("\\u00e9", "é").encode()
    chunks = [body[:10], body[10 : body.index("é".encode()) + 1], body[body.index("é".encode()) + 1 :], event("x")]
    with (serving(Provider(stream(*chunks))) as provider,
          recording(provider.url, tmp_path / "c") as (asker, _)):
        answer = asker.ask(stream="sse")
        assert b"".join(chunks) == answer.content
        assert {"content-type", "transfer-encoding"} == set(answer.headers)
    exchange, = read_cassette(tmp_path / "c").exchanges
    assert {"content-type": "text/event-stream"} == exchange.answer.headers
    assert 4 == len(exchange.answer.chunks)
    assert b"".join(chunks) == "".join(map(str, exchange.answer.chunks)).encode()
    with playing(tmp_path / "c") as (asker, _):
        assert b"".join(chunks) == asker.ask(stream="sse").content


def test_no_key_and_no_account_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not from requests (headers, query, metadata, texts), nor from answers, where a stream has cut a key in pieces."""
    parts = [event("the key is vck_a-dummy-"), event("key-that-must-"), event("not-be-kept, yes"),
             b'data: {"error": {"message": "org-abcdefghijklmnop is over"}, "request_id": "req_011CSHoEeqs5C35K"}\n\n']
    provider_app = Provider(stream(*parts))
    with (serving(provider_app) as provider, recording(provider.url, tmp_path / "c") as (asker, _)):
        body = {"model": "m", "stream": True, "metadata": {"user_id": "user_123"}, "user": "someone",
                "messages": [{"role": "user", "content": f"my key is {KEY}"}]}
        asker.client.post(f"{asker.url}/v1/messages?beta=true&key=sk-other", json=body, headers={
            "Authorization": "Bearer sk-dummy-token", "Cookie": "session=1", "X-Account": "acc"})
    request, = provider_app.got
    assert f"Bearer {KEY}" == request.headers["authorization"]
    for gone in ("sk-other", "sk-dummy-token", "session"):
        assert gone not in str((request.query, dict(request.headers)))
    kept = (tmp_path / "c").read_text()
    for gone in (KEY, "dummy-key", "sk-other", "sk-dummy", "session=1", "user_123", "someone", "org-abc", "req_011",
                 "req_0123", "11111111", "acc"):
        assert gone not in kept.replace("cache", ""), gone
    monkeypatch.setenv("AI_GATEWAY_API_KEY", KEY)
    with playing(tmp_path / "c") as (asker, _):
        text = asker.client.post(f"{asker.url}/v1/messages", json=body).text
    assert "the key is [AI_GATEWAY_API_KEY redacted]" in text
    assert ", yes" in text


def test_what_a_model_says_of_accounts_is_its_own(tmp_path: Path) -> None:
    """Only errors tell the person's."""
    script = write_script(tmp_path, """\
        - reply:
            text: org-abcdefghijklmnop
            calls: [{name: Look, input: {project_id: mine, request_id: req_0123456789abcdef}}]
        """)
    with playing(script) as (provider, _), recording(provider.url, tmp_path / "c") as (asker, _):
        first = [asker.ask(stream=way).content for way in ("", "sse")]
    with playing(tmp_path / "c") as (asker, _):
        assert first == [asker.ask(stream=way).content for way in ("", "sse")]


def test_what_came_broken_is_played_broken(tmp_path: Path) -> None:
    """An error with Retry-After, a body that is no text, and answers that broke off, streamed and whole."""
    def answer(request: Received, out: Responder) -> None:
        match (request.json() or {})["messages"][0]["content"]:
            case "0":
                out.send(429, b'{"error": {}}', headers={"Retry-After": "7"})
            case "1":
                out.send(200, b"\xff\xfe")
            case "2":
                out.start(200, {"Content-Type": "text/event-stream"})
                out.write(event("half"))
            case _:
                out.start(200, length=9)
                out.write(b"half")

    def check(asker: Asker) -> None:
        limited, odd = asker.ask("0"), asker.ask("1")
        assert (429, "7", b'{"error": {}}') == (limited.status_code, limited.headers["retry-after"], limited.content)
        assert b"\xff\xfe" == odd.content
        for text, part in (("2", event("half")), ("3", b"half")):
            body = {"model": "m", "messages": [{"role": "user", "content": text}]}
            assert part == broken_off(asker, "/v1/messages", body)

    with serving(Provider(answer)) as provider, recording(provider.url, tmp_path / "c") as (asker, _):
        check(asker)
    with playing(tmp_path / "c") as (asker, _):
        check(asker)


def test_equal_requests_are_answered_in_their_order(tmp_path: Path) -> None:
    """The first first; after the last it starts again, so that a second trial gets what the first got."""
    script = write_script(tmp_path, "- reply: {status: 529}\n  then: [two, three]\n")
    with (playing(script) as (provider, _), recording(provider.url, tmp_path / "c") as (asker, _)):
        assert ["529", "two", "three"] == [asker.say() for _ in range(3)]
    with playing(tmp_path / "c") as (asker, _):
        assert ["529", "two", "three", "529", "two"] == [asker.say() for _ in range(5)]


def record_conversation(folder: Path) -> Path:
    """Three requests: a question, after one call, after two."""
    script = write_script(folder, """\
        - when: {turn: 1}
          reply: {calls: [{name: Look, input: {at: a}}]}
        - when: {turn: 2}
          reply: {calls: [{name: Look, input: {at: b}}]}
        - reply: done
        """)
    path = folder / "c"
    with (playing(script) as (provider, _), recording(provider.url, path) as (asker, _)):
        for before in ([], [("a", "one")], [("a", "one"), ("b", "two")]):
            asker.ask("find it", before=before, tools=["Look"], system="be brief")
    return path


def test_the_place_in_a_conversation_decides(tmp_path: Path) -> None:
    """An agent whose tools returned something else gets the answer of its place, which is told; `exact` refuses."""
    path = record_conversation(tmp_path)
    more: dict[str, Any] = {"tools": ["Look"], "system": "be brief"}
    with playing(path) as (asker, player):
        assert "done" == asker.say("find it", before=[("a", "one"), ("b", "three")], **more)
    assert [] == player.unknown()
    assert ("request 3 was answered by its place in the conversation: turn 5 (user): result: recorded 'two', asked "
            "'three'") == player.notes()[0]
    assert "2 of 3 recorded requests were not asked" == player.notes()[1]
    with playing(path, exact=True) as (asker, player):
        assert "403" == asker.say("find it", before=[("a", "one"), ("b", "three")], **more)
    assert "turn 5 (user): result: recorded 'two', asked 'three'" in player.unknown()[0]


@pytest.mark.parametrize(("changed", "told"), [
    ({"text": "find them"}, "turn 1 (user): text: recorded 'find it', asked 'find them'"),
    ({"model": "n"}, 'model: recorded "m", asked "n"'),
    ({"system": "be long"}, "system text: recorded 'be brief', asked 'be long'"),
    ({"tools": ["Look", "Write"]}, "tools: offered now and not recorded: Write"),
    ({"tools": []}, "tools: recorded and not offered now: Look"),
    ({"stream": "sse"}, 'stream: recorded "", asked "sse"'),
    ({"before": [("c", "one")]}, 'turn 2 (assistant): recorded \'…ll": "Look", "input": {"at": "a"}}\', asked '),
    ({"before": [("a", "one"), ("b", "two"), ("d", "x")]}, "turns: recorded 5, asked 7; the first 5 of 7 are equal"),
    ({"protocol": "openai"}, 'protocol: recorded "anthropic", asked "openai"'),
], ids=lambda value: "-".join(value) if isinstance(value, dict) else "")
def test_the_nearest_request_s_difference_is_shown(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    """In the answer, and at the end."""
    path = record_conversation(tmp_path)
    more: dict[str, Any] = {"text": "find it", "tools": ["Look"], "system": "be brief", **changed}
    with playing(path) as (asker, player):
        answer = asker.ask(**more)
        assert 403 == answer.status_code
        assert told in answer.json()["error"]["message"]
    message, = player.unknown()
    assert "was not recorded\n    the nearest is request " in message
    assert told in message
    assert 0 == player.answered


def test_tokens_are_counted_though_nobody_recorded_it(tmp_path: Path) -> None:
    """A recorded count is played; any other is an estimate."""
    def count(request: Received, out: Responder) -> None:
        out.send(200, b'{"input_tokens": 12345}')

    body = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    with (serving(Provider(count)) as provider, recording(provider.url, tmp_path / "c") as (asker, _)):
        asker.client.post(f"{asker.url}/v1/messages/count_tokens", json=body)
    with playing(tmp_path / "c") as (asker, player):
        url = f"{asker.url}/v1/messages/count_tokens"
        assert 12345 == asker.client.post(url, json=body).json()["input_tokens"]
        assert 12345 != asker.client.post(url, json={**body, "system": "b"}).json()["input_tokens"]
    assert [] == player.unknown()


def test_folders_are_those_of_who_plays(tmp_path: Path) -> None:
    """A path of the recording's workspace, cut in pieces by the stream, is one of the player's workspace."""
    def answer(request: Received, out: Responder) -> None:
        stream(event("see /tmp/rec"), event("ord/ws/a.txt and /tmp/record/x"), event("."))(request, out)

    with (serving(Provider(answer)) as provider, recording(provider.url, tmp_path / "c") as (asker, _)):
        asker.ask("look in /tmp/record/ws/b", system="Working directory: /tmp/record/ws\n", stream="sse")
    assert "/tmp/record" not in (tmp_path / "c").read_text()
    with playing(tmp_path / "c") as (asker, player):
        told = asker.ask("look in /var/work/my_place/b", system="Working directory: /var/work/my_place\n", stream="sse")
        assert "see /var/work/my_place/a.txt and /var/work/x." == said(told, "anthropic")
        assert "403" == asker.say("look in /tmp/record/ws/b", stream="sse")
    assert 1 == len(player.unknown())


def test_what_cannot_be_recorded(tmp_path: Path) -> None:
    """A provider that is not there, a refused key, no key for a model: told, and no cassette is left."""
    def refuse(request: Received, out: Responder) -> None:
        out.send(401, b'{"error": {"message": "bad key"}}')

    with serving(Provider(refuse)) as provider:
        with recording(provider.url, tmp_path / "c", {"ANTHROPIC_API_KEY": KEY}) as (asker, recorder):
            assert 401 == asker.ask().status_code
            no_key = asker.ask(protocol="openai", model="gpt-x")
            assert (502, True) == (no_key.status_code, "OPENAI_API_KEY" in no_key.text)
        gone = provider.url
    assert "refused the key in ANTHROPIC_API_KEY" in recorder.troubles()[0]
    with recording(gone, tmp_path / "c") as (asker, recorder):
        answer = asker.ask()
        assert (502, True) == (answer.status_code, "cannot be reached" in answer.text)
    assert 1 == len(recorder.troubles())
    assert [] == list(tmp_path.iterdir())


def test_a_client_that_leaves_is_told(tmp_path: Path) -> None:
    """Half an answer that nobody waited for is no part of a cassette."""
    left = threading.Event()

    def answer(request: Received, out: Responder) -> None:
        out.start(200, {"Content-Type": "text/event-stream"})
        out.write(event("x"))
        left.wait(10)
        for _ in range(500):
            out.write(event("x" * 20_000))
        out.finish()

    body = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    with serving(Provider(answer)) as provider, recording(provider.url, tmp_path / "c") as (asker, recorder):
        with asker.client.stream("POST", f"{asker.url}/v1/messages", json=body) as response:
            next(response.iter_raw())
        left.set()
        for _ in range(500):
            if recorder.troubles():
                break
            threading.Event().wait(0.02)
        assert ["request 1: its client left before the answer ended"] == recorder.troubles()


def test_a_cassette_is_never_overwritten(tmp_path: Path) -> None:
    """Not one that is there, nor one that came meanwhile; what was recorded then is kept beside it."""
    path = tmp_path / "c"
    script = write_script(tmp_path, "- reply: a\n")
    with playing(script) as (provider, _):
        recorder = Recorder(provider.url, CassetteWriter(path), ENVIRON)
        with serving(recorder) as asker:
            asker.ask()
        path.write_text("another's")
        with pytest.raises(Exception, match="cannot write"):
            recorder.close()
    assert "another's" == path.read_text()
    kept, = tmp_path.glob(".c.*.tmp")
    assert 1 == len(read_cassette(kept).exchanges)
    with pytest.raises(UserError, match="is there already"):
        CassetteWriter(path)


def test_a_long_conversation_takes_the_room_of_its_last_request(tmp_path: Path) -> None:
    """Equal parts are written once."""
    script = write_script(tmp_path, "- reply: a\n")
    before = [(str(number), f"{number}" * 2000) for number in range(20)]
    with (playing(script) as (provider, _), recording(provider.url, tmp_path / "c") as (asker, _)):
        for number in range(20):
            asker.ask(before=before[:number], system="s" * 5000)
    assert (tmp_path / "c").stat().st_size < 150_000
    assert 20 == len(read_cassette(tmp_path / "c").exchanges)


def test_requests_at_once(tmp_path: Path) -> None:
    """All are recorded, and each gets its own answer again."""
    script = write_script(tmp_path, "- when: {user: '/(?<n>.+)/'}\n  reply: 'for {{n}}'\n")

    def all_at_once(asker: Asker) -> set[str]:
        found: set[str] = set()

        def one(number: int) -> None:
            found.add(f"{number}: {asker.say(str(number))}")

        threads = [threading.Thread(target=one, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    expected = {f"{number}: for {number}" for number in range(20)}
    with playing(script) as (provider, _), recording(provider.url, tmp_path / "c") as (asker, _):
        assert expected == all_at_once(asker)
    with playing(tmp_path / "c") as (asker, player):
        assert expected == all_at_once(asker)
    assert [] == player.notes()


@pytest.mark.parametrize(("lines", "said_"), [
    (['{"cassette": 1'], "1: the cassette is damaged"),
    (['{"cassette": 2}'], " is a cassette of version 2, this evalkit plays 1"),
    (['{"cassette": 1}', "[]"], "2: the cassette is damaged"),
    (['{"cassette": 1}', '{"exchange": 1, "request": {"head": {}, "system": "x", "tools": "x", "turns": []}}'],
     "2: the cassette is damaged: KeyError"),
    (['{"cassette": 1}', '{"part": "x", "is": ""}', '{"exchange": 1, "request": {"head": {}, "system": "x", '
      '"tools": "x", "turns": []}, "answer": {"status": 200, "headers": {"a": "b\\r\\nc"}, "chunks": []}}'],
     "3: the cassette is damaged: ValueError"),
])
def test_a_damaged_cassette(tmp_path: Path, lines: list[str], said_: str) -> None:
    """The line is told, and what to do."""
    path = tmp_path / "c.yaml"  # what a file is does not hang on its name
    path.write_text("\n".join(line.replace('{"cassette": ', '{"cassette":') for line in lines) + "\n")
    with pytest.raises(UserError) as raised:
        open_play(path)
    assert said_ in raised.value.message
    assert "record it again" in raised.value.hint


@pytest.mark.parametrize(("text", "told"), [
    ("", "is empty"), ("\n \n", "is empty"), ('{"cassette": 1, "evalkit": "0"}\n', "is empty: it holds no request"),
    ("script: 1\n", "is no cassette: its first line")])
def test_a_cassette_that_holds_nothing(tmp_path: Path, text: str, told: str) -> None:
    """It is told as a cassette, and never as a script."""
    path = tmp_path / "c.jsonl"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        open_play(path)
    assert told in raised.value.message
    assert "cassette" in raised.value.message
    assert "record it again" in raised.value.hint


@pytest.mark.parametrize(("recorded", "asked"), [
    ("claude-x-4-8", "anthropic/claude-x-4.8"), ("anthropic/claude-x-4.8", "claude-x-4-8"),
    ("gpt-x.1", "openai/gpt-x.1"), ("google/gemini-x.1", "gemini-x.1"), ("org/name", "openai/org/name")])
def test_a_model_is_one_by_whichever_of_its_names(tmp_path: Path, recorded: str, asked: str) -> None:
    """A slug and the vendor's own name are equal; another model is not, and its difference is shown."""
    script, path = write_script(tmp_path, "- reply: hi\n"), tmp_path / "c.jsonl"
    with playing(script) as (provider, _), recording(provider.url, path) as (asker, _):
        asker.ask(model=recorded)
    with playing(path) as (asker, player):
        assert "hi" == asker.say(model=asked)
        assert "403" == asker.say(model=asked + "-2")
    assert "model: recorded" in player.unknown()[0]


@pytest.mark.parametrize(("environ", "by"), [
    (ENVIRON, "AI_GATEWAY_API_KEY"), ({"VERCEL_AI_GATEWAY_API_KEY": KEY}, "AI_GATEWAY_API_KEY"),
    ({"OPENAI_API_KEY": KEY}, "OPENAI_API_KEY"),
    ({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "OPENAI_BASE_URL")])
def test_a_cassette_tells_what_opened_the_provider(tmp_path: Path, environ: Mapping[str, str], by: str) -> None:
    """By the name of the variable, never its value."""
    script, path = write_script(tmp_path, "- reply: hi\n"), tmp_path / "c.jsonl"
    with playing(script) as (provider, _), recording(provider.url, path, environ) as (asker, _):
        asker.ask(protocol="openai", model="gpt-x")
    assert [by] == [exchange.by for exchange in read_cassette(path).exchanges]
    assert {Way("openai", "gpt-x", by)} == ways_in(path)
    assert frozenset() == ways_in(script) == ways_in(tmp_path / "none")
    assert KEY not in path.read_text()
