"""Scripts: which rule answers, with what, in which protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from evalkit.gateway.script_keys import WHEN
from tests.unit.gateway.asking import PROTOCOLS, broken_off, events, playing, request, said, write_script

FALLBACK = "- reply: other\n"
CONDITIONS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("protocol: anthropic", {}, {"protocol": "openai"}),
    ("protocol: [openai, gemini]", {"protocol": "gemini"}, {}),
    ("model: claude-*", {"model": "claude-x"}, {"model": "gpt-x"}),
    ("model: [claude-*, 'gpt-?']", {"model": "gpt-5"}, {"model": "gpt-55"}),
    ("user: greet", {"text": "please greet me"}, {"text": "please leave"}),
    ("user: /^GREET/i", {"text": "greet me"}, {"text": "do greet me"}),
    ("user: [a, b]", {"text": "a and b"}, {"text": "a alone"}),
    ("user: '2'", {"text": "1 2 3"}, {"text": "1 3"}),
    ("system: brief", {"system": "be brief"}, {"system": "be long", "text": "brief"}),
    ("any: found", {"before": [("x", "was found")]}, {"before": [("x", "was lost")]}),
    ("any: hello", {"text": "hello", "before": [("x", "y")]}, {"text": "bye", "system": "hello"}),
    ("result: ok", {"before": [("x", "all ok")]}, {"before": [("x", "all ok"), ("y", "bad")]}),
    ("result: /./", {"before": [("x", "y")]}, {}),
    ("tools: Write", {"tools": ["Read", "Write"]}, {"tools": ["Read"]}),
    ("tools: [Read, Write]", {"tools": ["Read", "Write", "Edit"]}, {"tools": ["Write"]}),
    ("turn: 2", {"before": [("x", "y")]}, {}),
    ("side: true", {}, {"tools": ["Read"]}),
    ("side: false", {"tools": ["Read"]}, {}),
    ("stream: true", {"stream": "sse"}, {}),
    ("not: {user: bye}", {"text": "hello"}, {"text": "bye"}),
    ("user: h, not: {tools: Write}", {"text": "hello"}, {"text": "hello", "tools": ["Write"]}),
]


@pytest.mark.parametrize(("when", "fits", "fails"), CONDITIONS, ids=[when for when, _, _ in CONDITIONS])
def test_a_rule_answers_what_its_condition_fits(tmp_path: Path, when: str, fits: dict[str, Any],
                                                fails: dict[str, Any]) -> None:
    """Each condition takes one request and leaves another to the next rule."""
    script = write_script(tmp_path, f"- when: {{{when}}}\n  reply: this\n{FALLBACK}")
    with playing(script) as (asker, player):
        assert ("this", "other") == (asker.say(**fits), asker.say(**fails))
    assert [] == player.unknown()
    assert 2 == player.answered


def test_every_condition_is_tried() -> None:
    """The table above knows all keys; `nth` has a test of its own."""
    tried = {key for when, _, _ in CONDITIONS for key in WHEN if f"{key}:" in when}
    assert set(WHEN) - {"nth"} == tried


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_conditions_hold_in_every_protocol(tmp_path: Path, protocol: str) -> None:
    """User, system, tools, results and turns are found wherever a protocol has them."""
    script = write_script(tmp_path, """\
        - when: {user: '/(?<what>\\w+) please/', system: brief, tools: Look, turn: 2, result: seen}
          reply: "{{what}} for {{model}}"
        """)
    with playing(script) as (asker, _):
        more: dict[str, Any] = {"protocol": protocol, "system": "be brief", "tools": ["Look"], "model": "some"}
        assert "tea for some" == asker.say("tea please", before=[("a", "seen it")], **more)
        assert "403" == asker.say("tea please", before=[("a", "missed it")], **more)


@pytest.mark.parametrize(("protocol", "stream"), [
    ("anthropic", ""), ("anthropic", "sse"), ("openai", ""), ("openai", "sse"), ("gemini", ""), ("gemini", "sse"),
    ("gemini", "array")])
def test_a_reply_has_the_protocol_s_shape(tmp_path: Path, protocol: str, stream: str) -> None:
    """Text, a call, the stop reason and token counts, whole and streamed."""
    script = write_script(tmp_path, """\
        - reply:
            text: A long text that comes in pieces.
            calls: [{name: Write, input: {path: a.txt, lines: [1, 2.5, true, null], day: 2026-01-02}}]
            usage: {input: 7, output: 3, cache_read: 2}
            chunk: 4
        """)
    with playing(script) as (asker, _):
        answer = asker.ask(protocol=protocol, stream=stream)
    assert "A long text that comes in pieces." == said(answer, protocol)
    wanted = {"path": "a.txt", "lines": [1, 2.5, True, None], "day": "2026-01-02"}
    found: Any = events(answer) if stream == "sse" else answer.json()
    last = found[-1] if isinstance(found, list) else found
    if protocol == "anthropic":
        parts = [event["delta"] for event in found if event["type"] == "content_block_delta"] if stream else []
        call = (json.loads("".join(part.get("partial_json", "") for part in parts)) if stream
                else found["content"][1]["input"])
        usage = found[0]["message"]["usage"] if stream else found["usage"]
        stop = found[-2]["delta"]["stop_reason"] if stream else found["stop_reason"]
        assert (wanted, "tool_use") == (call, stop)
        assert (7, 2) == (usage["input_tokens"], usage["cache_read_input_tokens"])
    elif protocol == "openai":
        deltas = [event["choices"][0]["delta"] for event in found if event["choices"]] if stream else []
        calls = [call["function"] for delta in deltas for call in delta.get("tool_calls", [])] if stream else [
            call["function"] for call in found["choices"][0]["message"]["tool_calls"]]
        assert wanted == json.loads("".join(call["arguments"] for call in calls))
        assert "Write" == calls[0]["name"]
        stop = found[-2]["choices"][0]["finish_reason"] if stream else found["choices"][0]["finish_reason"]
        assert "tool_calls" == stop
        assert (9, 3, 2) == (last["usage"]["prompt_tokens"], last["usage"]["completion_tokens"],
                             last["usage"]["prompt_tokens_details"]["cached_tokens"])
        if stream:
            assert answer.text.endswith("data: [DONE]\n\n")
    else:
        candidate = last["candidates"][0]
        assert {"name": "Write", "args": wanted} == candidate["content"]["parts"][-1]["functionCall"]
        assert "STOP" == candidate["finishReason"]
        assert (9, 3) == (last["usageMetadata"]["promptTokenCount"], last["usageMetadata"]["candidatesTokenCount"])


def test_openai_s_stream_tells_usage_only_where_it_is_asked_for(tmp_path: Path) -> None:
    with playing(write_script(tmp_path, FALLBACK)) as (asker, _):
        answer = asker.client.post(f"{asker.url}/v1/chat/completions",
                                   json={"model": "m", "stream": True, "messages": [{"role": "user", "content": "a"}]})
    assert not [event for event in events(answer) if "usage" in event]


def test_answers_follow_each_other(tmp_path: Path) -> None:
    """`then` gives the next answers, the last one again and again; `times` ends a rule."""
    script = write_script(tmp_path, """\
        - when: {user: a}
          reply: one
          then: [two, three]
        - when: {user: b}
          reply: one
          then: [two]
          times: 3
        - reply: over
        """)
    with playing(script) as (asker, _):
        assert ["one", "two", "three", "three"] == [asker.say("a") for _ in range(4)]
        assert ["one", "two", "two", "over"] == [asker.say("b") for _ in range(4)]


def test_nth_counts_what_fits_the_rest_of_the_rule(tmp_path: Path) -> None:
    """Requests count that another rule answered; those that do not fit do not."""
    script = write_script(tmp_path, """\
        - when: {user: a, nth: 2}
          reply: second
        - when: {user: a, nth: 3}
          reply: third
        - reply: other
        """)
    with playing(script) as (asker, player):
        assert ["other", "other", "second", "third", "other"] == [asker.say(text) for text in "abaaa"]
    assert [] == player.notes()


def test_what_a_pattern_captures_stands_in_texts_and_inputs(tmp_path: Path) -> None:
    """At any depth; braces can be written; the working directory is known where a request tells it."""
    script = write_script(tmp_path, r"""
        - when: {user: '/name is (?<who>\w+)/', result: '/(?<what>\w+)$/'}
          reply:
            text: 'Hello {{who}}, \{{who}} {{ who }} {{result}}'
            calls: [{name: Write, input: {"in": ["{{workspace}}/{{what}}"]}}]
        """)
    with playing(script) as (asker, player):
        answer = asker.ask("my name is Ada", before=[("x", "an apple")], system="Working directory: /home/ada/work\n")
        assert "Hello Ada, {{who}} {{ who }} an apple" == said(answer, "anthropic")
        assert {"in": ["/home/ada/work/apple"]} == answer.json()["content"][1]["input"]
        lost = asker.ask("my name is Ada", before=[("x", "an apple")])
    assert 403 == lost.status_code
    assert "does not tell its workspace" in player.unknown()[0]


def test_no_rule_fits(tmp_path: Path) -> None:
    """A 403 that says what was asked, in the protocol's shape; it is counted, and told at the end, as is a rule that
    answered nothing.
    """
    script = write_script(tmp_path, "- name: shy\n  when: {user: never}\n  reply: a\n")
    with playing(script) as (asker, player):
        messages = {}
        for protocol in PROTOCOLS:
            answer = asker.ask("what now?", protocol=protocol, tools=["Write"])
            assert 403 == answer.status_code
            messages[protocol] = answer.json()["error"]["message"]
        for message in messages.values():
            assert "no rule fits" in message
            assert "'what now?'" in message
            assert "tools Write" in message
    assert (0, 3) == (player.answered, len(player.unknown()))
    assert [f"{script}:3: shy answered nothing"] == player.notes()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_error_has_the_protocol_s_shape(tmp_path: Path, protocol: str) -> None:
    """Status, kind and Retry-After; a kind of its own follows from the status."""
    script = write_script(tmp_path, """\
        - reply: {status: 429, retry_after: 2s, message: slow down}
          then: [{status: 529}, {status: 500, kind: odd_error}, fine]
        """)
    with playing(script) as (asker, _):
        limited, overloaded, broken = (asker.ask(protocol=protocol, stream="sse") for _ in range(3))
        assert "fine" == asker.say(protocol=protocol)
    assert (429, "2", "slow down") == (limited.status_code, limited.headers["retry-after"],
                                       limited.json()["error"]["message"])
    assert (529, 500) == (overloaded.status_code, broken.status_code)
    if protocol != "gemini":
        kinds = [answer.json()["error"]["type"] for answer in (limited, overloaded, broken)]
        assert ["rate_limit_error", "overloaded_error", "odd_error"] == kinds
    else:
        assert "RESOURCE_EXHAUSTED" == limited.json()["error"]["status"]


@pytest.mark.parametrize(("protocol", "stream"), [("anthropic", "sse"), ("openai", "sse"), ("gemini", "array"),
                                                  ("openai", "")])
def test_a_cut_reply_breaks_off(tmp_path: Path, protocol: str, stream: str) -> None:
    """In the middle of a body, after so many events."""
    script = write_script(tmp_path, "- reply: {text: never complete, cut: 2}\n")
    with playing(script) as (asker, _):
        got = broken_off(asker, *_request(protocol, stream))
    assert got
    if stream == "sse":
        assert 2 == got.count(b"data: ")


def _request(protocol: str, stream: str) -> tuple[str, dict[str, Any]]:
    return request("hello", protocol=protocol, stream=stream, model="m", system="", tools=(), before=())


@pytest.mark.parametrize("reply", ["{hang: 50ms}", "{close: true}"])
def test_no_answer_at_all(tmp_path: Path, reply: str) -> None:
    """The connection ends without a byte, and the next request is answered."""
    with playing(write_script(tmp_path, f"- reply: {reply}\n  then: [fine]\n")) as (asker, player):
        with pytest.raises(httpx.RemoteProtocolError):
            asker.ask()
        assert "fine" == asker.say()
    assert 2 == player.answered


def test_garbage_and_wrong_content_types(tmp_path: Path) -> None:
    """A body that is nothing, a right body under a wrong name, and both."""
    script = write_script(tmp_path, """\
        - reply: {garbage: "{\\"half\\": "}
          then:
            - {text: right, content_type: text/plain}
            - {garbage: <html>, content_type: text/html}
        """)
    with playing(script) as (asker, _):
        answers = [asker.ask(stream=stream) for stream in ("", "", "sse")]
    assert ['{"half": ', "<html>"] == [answers[0].text, answers[2].text]
    assert [200] * 3 == [answer.status_code for answer in answers]
    assert ["application/json", "text/plain", "text/html"] == [answer.headers["content-type"] for answer in answers]
    assert "right" == answers[1].json()["content"][0]["text"]


def test_slow_bytes_arrive_whole(tmp_path: Path) -> None:
    """`speed` and `delay` change when bytes come and not which."""
    script = write_script(tmp_path, "- reply: {text: slow, speed: 20000, delay: 10ms}\n")
    with playing(script) as (asker, _):
        assert ["slow", "slow"] == [asker.say(stream=stream) for stream in ("", "sse")]


def test_a_slow_reply_ends_with_the_server(tmp_path: Path) -> None:
    """A reply that would take minutes holds nothing up when the gateway closes, or when its client leaves."""
    script = write_script(tmp_path, "- reply: {text: slow, speed: 1}\n")
    path, body = _request("anthropic", "sse")
    with playing(script) as (asker, _), asker.client.stream("POST", asker.url + path, json=body) as answer:
        assert b"" != next(answer.iter_raw())


@pytest.mark.parametrize(("path", "name"), [("/v1/messages/count_tokens", "input_tokens"),
                                            ("/v1beta/models/m:countTokens", "totalTokens")])
def test_tokens_are_counted(tmp_path: Path, path: str, name: str) -> None:
    """About four bytes a token; no rule is asked."""
    with playing(write_script(tmp_path, FALLBACK)) as (asker, player):
        assert asker.client.post(asker.url + path, json={"text": "a" * 400}).json()[name] > 100
    assert 0 == player.answered


def test_what_is_not_asked_of_a_model(tmp_path: Path) -> None:
    """The root says that somebody is there; other paths are not; a body that is no object is a 400."""
    with playing(write_script(tmp_path, FALLBACK)) as (asker, player):
        client, url = asker.client, asker.url
        assert [200, 200] == [client.head(url + "/").status_code, client.get(url + "/").status_code]
        assert 404 == client.post(f"{url}/v1/embeddings", json={}).status_code
        assert 400 == client.post(f"{url}/v1/messages", content=b"[").status_code
        # Nothing is taken for granted of what a body holds.
        odd = {"model": 5, "messages": [3, {"role": "user", "content": [None, {"type": "text"}]}], "tools": "none"}
        assert 200 == client.post(f"{url}/v1/messages", json=odd).status_code
        assert 200 == client.post(f"{url}/v1/chat/completions", json={**odd, "tools": [{}]}).status_code
        assert 200 == client.post(f"{url}/v1beta/models/m:generateContent", json={"contents": {}}).status_code
    assert [] == player.unknown()


def test_a_pattern_that_takes_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, and holds up nothing for longer than its time."""
    monkeypatch.setattr("evalkit.gateway.rules._LONGEST_SEARCH", 0.05)
    script = write_script(tmp_path, "- when: {user: '/^(a|aa)+$/'}\n  reply: a\n")
    with playing(script) as (asker, player):
        assert "403" == asker.say("a" * 60 + "b")
    assert "took over" in player.unknown()[0]
