"""JSON that strains a reader: whole, or a place that is told, but never an error of ours."""

from __future__ import annotations

import io
import json
from pathlib import Path

import orjson
import pytest

from evalkit.execute.agents.claude_stream import Reader
from evalkit.execute.models.prices import Prices
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Ended, Gap, Message, MessageUsage, ToolCall, ToolResult, Writer, read_events
from evalkit.execute.transcripts.foreign import decode, texts_within
from evalkit.execute.transcripts.mend import Mender
from evalkit.grade.audit import audit
from evalkit.grade.audit_lines import Lines
from evalkit.grade.audit_protected import Protected
from tests.unit.execute.transcripts import Transcript

NUMBERS = {"an integer of 5,000 digits": "9" * 5000, "a negative one": "-" + "9" * 5000, "an infinity": "1e999",
           "a number of 70 bits": "1" * 21, "NaN": "NaN", "Infinity": "-Infinity"}
VALUES = {**NUMBERS, "a deep list": "[" * 900 + "]" * 900, "a deeper list": "[" * 30_000 + "]" * 30_000,
          "a deep object": '{"a":' * 900 + "1" + "}" * 900, "one without end": '{"a":' * 5000}


def lines(value: str) -> dict[str, str]:
    """Lines that have the value at each place where a reader may meet it."""
    call = {"type": "assistant", "uuid": "x1", "message": {"id": "m9", "content": [
        {"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "ls", "n": "VALUE"}}],
        "usage": {"input_tokens": "VALUE", "output_tokens": 3}}}
    told = {"type": "user", "uuid": "x2", "message": {"content": [{"type": "tool_result", "tool_use_id": "t9",
                                                                    "content": "fine", "is_error": "VALUE"}]},
            "tool_use_result": {"stdout": "VALUE"}}
    end = {"type": "result", "subtype": "success", "num_turns": "VALUE", "total_cost_usd": "VALUE",
           "usage": {"input_tokens": "VALUE"}, "permission_denials": "VALUE",
           "modelUsage": {"m": {"inputTokens": "VALUE"}}}
    found = {"noise": '{"level": "warn", "n": VALUE}', "call": json.dumps(call), "result": json.dumps(told),
             "end": json.dumps(end), "before an event": "n VALUE " + json.dumps(call).replace('"VALUE"', "1")}
    return {name: line.replace('"VALUE"', value).replace("VALUE", value) for name, line in found.items()}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("place", lines("1"))
def test_a_value_anywhere_breaks_no_reader(name: str, place: str, tmp_path: Path) -> None:
    told = Transcript()
    told.result(told.call("Bash", {"command": "true"}))
    told.lines.append(lines(VALUES[name])[place])
    told.result(told.call("Bash", {"command": "false"}))
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(told.lines) + "\n")
    events = list(read_events(path))
    commands = [event.command for event in events if isinstance(event, ToolCall)]
    assert [command for command in commands if command != "ls"] == ["true", "false"]
    if place in ("call", "before an event"):
        assert "ls" in commands or any(isinstance(event, Gap) for event in events)
    for event in events:
        if isinstance(event, MessageUsage | Ended):
            orjson.dumps([event.cost, event.turns if isinstance(event, Ended) else event.input_tokens])
            assert event.cost is None or (event.cost == event.cost and abs(event.cost) < 1e300)
    audit(path, Protected((), (), Lines(), (), (), ()))


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_cannot_be_kept_loses_nothing_else(name: str, tmp_path: Path) -> None:
    told = Transcript()
    told.lines.append(lines(NUMBERS[name])["call"])
    events = list(read_events(told.save(tmp_path)))
    assert [event.command for event in events if isinstance(event, ToolCall)] == ["ls"]
    assert not any(isinstance(event, Gap) for event in events)
    usage = next(event for event in events if isinstance(event, MessageUsage))
    assert (usage.input_tokens, usage.output_tokens) == (0, 3)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("place", lines("1"))
def test_the_live_stream_takes_it_too(name: str, place: str) -> None:
    sink = io.BytesIO()
    reader = Reader(sink, Redactor(()), Prices({}), "m")
    reader.line(lines(VALUES[name])[place].encode())
    usage = reader.usage()
    assert usage.cost is None or abs(usage.cost) < 1e300


def test_what_is_read() -> None:
    assert decode(b'[1, -123456789012345678, 1e999, NaN, -Infinity, 1.5]') == [
        1, -123456789012345678, None, None, None, 1.5]
    assert decode(b"[" + b"9" * 30 + b"]") == [1e30]
    assert decode(b"9" * 5000) is None
    for data in (b"", b"{", b"1 2", b"\xff", b"[" * 100_000):
        with pytest.raises(ValueError):
            decode(data)


def test_texts_within_any_depth() -> None:
    deep: object = "in the midst"
    for _ in range(50_000):
        deep = [deep]
    found = texts_within({"a": "x", "b": [1, "y", {"c": deep}], "d": None, "e": "z"})
    assert list(found) == ["x", "y", "in the midst", "z"]


def test_a_call_that_is_nested_too_deeply_is_written_without_its_input(tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(5000):
        deep = [deep]
    path = tmp_path / "run.jsonl"
    with path.open("wb") as sink:
        writer = Writer(sink, Redactor(()), "api")
        call = ToolCall("c1", "move", {"to": deep})
        writer.write(call, raw={"output": deep})
        writer.write(ToolResult(call, "ok", True, "moved"))
        writer.write(Message("assistant", "done"))
    events = list(read_events(path))
    assert [type(event) for event in events] == [ToolCall, ToolResult, Message]


def test_a_torn_record_with_a_huge_number_is_put_together() -> None:
    mender = Mender()
    whole = lines("9" * 5000)["call"].encode()
    found = [*mender.mend(1, whole[:3000] + b"\n", ("assistant",), whole=True),
             *mender.mend(2, whole[3000:] + b"\n", ("assistant",), whole=True)]
    assert len(found) == 1
    assert isinstance(found[0], tuple)
