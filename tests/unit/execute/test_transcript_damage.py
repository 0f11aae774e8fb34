"""Transcripts that are damaged at random: nothing is lost in silence, and nothing breaks."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from evalkit.errors import HarnessError
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Event, Gap, Message, ToolCall, ToolResult, Writer, lines, read_events
from evalkit.execute.transcripts.mend import Lost, Mender
from evalkit.execute.transcripts.seen import Seen
from tests.unit.execute.test_transcript_corpus import CORPUS

FILES = sorted(path for path in CORPUS.glob("*.json*")
               if path.stat().st_size and path.name not in ("over-long-line.jsonl", "unknown-events.jsonl"))
KINDS = ("assistant", "user")


def read(path: Path) -> list[Event]:
    """The events. Every call is told once, and has one result."""
    events = list(read_events(path))
    calls = [event.id for event in events if isinstance(event, ToolCall)]
    results = [event.call.id for event in events if isinstance(event, ToolResult)]
    assert sorted(calls) == sorted(results)
    assert len(calls) == len(set(calls))
    return events


def calls_of(events: list[Event]) -> set[str]:
    return {event.id for event in events if isinstance(event, ToolCall)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_call_that_is_lost_leaves_a_gap(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte that no JSON has, anywhere; a cut anywhere tells of the calls before it. Whatever the chunks are."""
    chance = random.Random(path.name)
    whole, data = calls_of(read(path)), path.read_bytes()
    for number in range(60):
        monkeypatch.setattr(lines, "_CHUNK", chance.choice([7, 64, 1 << 18]))
        at = chance.randrange(len(data))
        damaged = tmp_path / f"{number}.jsonl"
        damaged.write_bytes(data[:at] + b"\x01" + data[at:])
        events = read(damaged)
        assert whole <= calls_of(events) or any(isinstance(event, Gap) for event in events), at
        damaged.write_bytes(data[:at])
        read(damaged)
        damaged.write_bytes(data[:at] + data[at + chance.randrange(300):])
        read(damaged)


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".jsonl"], ids=lambda path: path.name)
def test_noise_between_lines_changes_nothing(path: Path, tmp_path: Path) -> None:
    """But in our own format, into which nobody else writes."""
    rows = path.read_bytes().split(b"\n")
    if path.name.startswith("own-") or b"\0" in path.read_bytes():
        return
    noisy = tmp_path / "noisy.jsonl"
    noisy.write_bytes(b"\n".join(piece for row in rows[:-1] for piece in (b"npm {warn] \"a", row, b""))
                      + b"\n" + rows[-1])
    kinds = [type(event) for event in read(path)]
    assert sorted(map(str, kinds)) == sorted(str(type(event)) for event in read(noisy))


@pytest.mark.parametrize("chunk", [1, 5, 100, 1 << 18])
@pytest.mark.parametrize("indent", [None, 1])
def test_the_elements_of_an_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int,
                                  indent: int | None) -> None:
    """However it is printed, and wherever a chunk ends: within escapes, strings, brackets."""
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    given = [{"type": "x", "t": 'a"b\\', "n": [[{}], "}]", {"k": "\\\"{["}]}, {"type": "y"}, {}]
    path = tmp_path / "array.json"
    path.write_text("noise\n" + json.dumps(given, indent=indent) + "\nafter\n")
    found = list(lines.records(path))
    assert given == [json.loads(raw or b"") for _, raw, _ in found[:3]]
    assert [(1, True), (2, True), (3, True)] == [(number, whole) for number, _, whole in found[:3]]
    assert [b"\n", b"after\n"] == [raw for _, raw, _ in found[3:]]


def test_an_element_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one is read."""
    monkeypatch.setattr(lines, "_CHUNK", 64)
    monkeypatch.setattr(lines, "LONGEST", 500)
    path = tmp_path / "array.json"
    path.write_text(json.dumps([{"a": 1}, {"b": ["x" * 3000, {"c": '"' * 90}]}, {"d": 2}]))
    assert [(1, b'{"a": 1}'), (2, None), (3, b'{"d": 2}')] == [record[:2] for record in lines.records(path)]


def test_an_array_is_not_what_a_line_of_noise_looks_like(tmp_path: Path) -> None:
    """A bracket in a log begins none; nor does one after the first event."""
    path = tmp_path / "a"
    event = '{"type":"x"}\n'
    for text in (f"[INFO] started\n{event}", f'{event}[{{"a":1}}]\n', "[]\n", "[1, 2]\n", "\n" * 70_000 + "["):
        path.write_text(text)
        assert text.encode() == b"".join(raw or b"" for _, raw, _ in lines.records(path))


def test_a_torn_record_waits_for_its_rest() -> None:
    """A few lines, and no longer; a damage that no rest can mend does not wait."""
    line = b'{"type":"user","message":{"content":"torn here"}}\n'
    mender = Mender()
    assert [] == list(mender.mend(1, line[:30], KINDS, whole=True))
    assert [] == list(mender.pass_by(2))
    assert [(1, json.loads(line))] == list(mender.mend(3, line[30:], KINDS, whole=True))
    assert [] == list(mender.mend(4, line[:30], KINDS, whole=True))
    assert [Lost(4, line[:30], True)] == list(mender.pass_by(13))
    broken = b'{"type":"user",,"message":{}}\n'
    assert [Lost(14, broken, True)] == list(mender.mend(14, broken, KINDS, whole=True))


def test_ids_are_told_apart() -> None:
    """In a table that grows."""
    seen = Seen()
    assert all(seen.add(f"id-{number}") for number in range(5000))
    assert not any(seen.add(f"id-{number}") for number in range(5000))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Every event of ours, also with half a surrogate pair and numbers that JSON does not know; without keys."""
    key = "vck_a-key-that-must-stay-secret"
    call = ToolCall("1", "look", {"half": "\ud83d", "big": 1 << 70, "key": key}, "read", "a.txt")
    said: list[Event] = [Message("assistant", "é\n", id="m"), call, ToolResult(call, "ok", True, "text", {"n": 1})]
    path = tmp_path / "own.jsonl"
    with path.open("wb") as sink:
        writer = Writer(sink, Redactor.of({"AI_GATEWAY_API_KEY": key}), "tools", folder="/w", calls=False)
        for number, event in enumerate(said):
            writer.write(event, raw={"n": number})
            assert number + 2 == path.read_bytes().count(b"\n")  # each line at once
        with pytest.raises(TypeError):
            writer.write(Gap(1, "x"))
    assert key.encode() not in path.read_bytes()
    _, gap, message, read_call, result = read(path)
    assert Gap(1, "this agent does not tell what it does, only what it says", blind=True) == gap
    assert Message("assistant", "é\n", id="m", line=2) == message
    assert isinstance(read_call, ToolCall)
    assert {"half": "\ud83d", "big": 1 << 70, "key": "[AI_GATEWAY_API_KEY redacted]"} == read_call.input
    assert isinstance(result, ToolResult)
    assert (read_call, "ok", "text", {"n": 1}) == (result.call, result.status, result.text, result.detail)


def test_a_version_that_nobody_knows_is_said(tmp_path: Path) -> None:
    """A newer evalkit may mean something else by the same words."""
    (tmp_path / "t").write_text('{"type": "evalkit", "version": 2, "agent": "api"}\n')
    with pytest.raises(HarnessError, match="the transcript has version 2, and only 1 is known"):
        read(tmp_path / "t")


def test_our_own_lines_without_the_first(tmp_path: Path) -> None:
    """Nothing tells what they are: that is a gap, not an agent that did nothing."""
    rows = (CORPUS / "own-tools.jsonl").read_bytes().split(b"\n", 1)
    (tmp_path / "t").write_bytes(rows[1])
    assert [Gap(1, "it is like one of a transcript, but no line tells of which format")] == read(tmp_path / "t")
