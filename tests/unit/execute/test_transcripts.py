"""Transcripts -> events."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from evalkit.execute.transcripts import (
    Ended,
    Event,
    Folder,
    Gap,
    Message,
    SubAgent,
    ToolCall,
    ToolResult,
    read_events,
)
from evalkit.execute.transcripts import lines as module
from tests.unit.execute.transcripts import HOME, Transcript


def told(path: Path) -> list[Any]:
    """The events but for messages in short: results as (name, status, ran)."""
    def short(event: Event) -> Any:
        if isinstance(event, ToolResult):
            return event.call.name, event.status, event.ran
        return event.name if isinstance(event, ToolCall) else event

    return [short(event) for event in read_events(path) if not isinstance(event, Message)]


@pytest.mark.parametrize("session", [False, True])
def test_calls_and_results_come_in_order(tmp_path: Path, session: bool) -> None:
    """Both formats give the folder, each call with its input, and each result with what the tool told beside it."""
    lines = Transcript(session)
    lines.write("a.txt", "A", detail={"type": "create"}).bash("ls nosuch", error=True)
    events = list(read_events(lines.save(tmp_path)))
    assert [Folder(HOME)] == [event for event in events if isinstance(event, Folder)]
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [{"file_path": f"{HOME}/a.txt", "content": "A"}, {"command": "ls nosuch"}] == [call.input for call in calls]
    results = [event for event in events if isinstance(event, ToolResult)]
    assert [(calls[0], "ok", True), (calls[1], "error", True)] == [(item.call, item.status, item.ran)
                                                                    for item in results]
    assert {"type": "create"} == results[0].detail


def test_denied_calls_are_told_in_every_way_there_is(tmp_path: Path) -> None:
    """By a line before the result, by its text, by the session's mark, or only in the last line of all."""
    stream = Transcript()
    first = stream.call("Write", {})
    stream.add({"type": "system", "subtype": "permission_denied", "tool_use_id": first}).result(first, "no", error=True)
    stream.bash("rm x", text="Permission to use Bash with command rm x has been denied.", error=True)
    last = stream.call("Edit", {})
    stream.result(last, "something else", error=True).end(denied=(last,))
    assert [("Write", "denied", False), ("Bash", "denied", False), ("Edit", "denied", False)] == [
        event for event in told(stream.save(tmp_path / "a")) if isinstance(event, tuple)]
    session = Transcript(session=True)
    session.bash("cd ..", text="cd was blocked.", error=True, toolDenialKind="user-rejected")
    assert ("Bash", "denied", False) in told(session.save(tmp_path / "b"))


def test_a_refused_call_did_nothing(tmp_path: Path) -> None:
    """An error that the tool's own check of its input gives is one of a call that was not carried out."""
    lines = Transcript().bash("x", text="<tool_use_error>No such tool available</tool_use_error>", error=True)
    assert ("Bash", "error", False) in told(lines.save(tmp_path))


def test_a_call_without_a_result_is_told_at_the_end(tmp_path: Path) -> None:
    """An agent that was ended leaves calls open: whether they were carried out is not known."""
    lines = Transcript()
    lines.call("Write", {})
    lines.bash("ls")
    assert ["Write", "Bash", ("Bash", "ok", True), ("Write", "missing", True)] == told(lines.save(tmp_path))[1:]


def test_noise_between_the_lines_is_passed_over(tmp_path: Path) -> None:
    """Other programs' output, also on an event's line; a BOM; kinds that nobody knows; odd shapes; doubled lines."""
    lines = Transcript().write("a", "A")
    clean = told(lines.save(tmp_path / "clean"))
    noisy = Transcript().write("a", "A")
    noisy.lines[0] = "\ufeff" + noisy.lines[0]
    noisy.lines[1] = "Warning: {not json} " + noisy.lines[1] + " trailing words"
    noisy.lines += [noisy.lines[1], noisy.lines[2], "", "\x1b[31mnpm warn\x1b[0m", "[1, 2]", "null", '{"type": 7}',
                    '{"type":"stream_event","event":{}}', '{"type":"assistant","message":null}', "{ broken",
                    '{"type":"user","message":{"content":"text"}}', '{"type":"user","message":{"content":[1,null]}}',
                    json.dumps({"type": "api-request-blob", "message": {"content": [{"type": "tool_use"}]}})]
    assert clean == told(noisy.save(tmp_path / "noisy"))


def test_a_doubled_call_is_one(tmp_path: Path) -> None:
    """A resumed session repeats lines under new ids: a tool call's own id tells that it is the same."""
    lines = Transcript().write("a", "A")
    again = [json.dumps({**json.loads(line), "uuid": f"again-{number}"}) for number, line in enumerate(lines.lines)]
    lines.lines += again
    assert 1 == told(lines.save(tmp_path)).count("Write")


def test_a_cut_last_line(tmp_path: Path) -> None:
    """Of a cut result the call is known; a cut call may have been carried out, so it is a gap."""
    lines = Transcript().write("a", "A")
    cut = lines.lines[-1][:-30]
    assert ("Write", "missing", True) == told(_cut(tmp_path / "a", lines, cut))[-1]
    cut = json.dumps({"type": "assistant", "message": {"content": [{"type": "tool_use", "input": {}}]}})[:-6]
    last = told(_cut(tmp_path / "b", Transcript(), cut))[-1]
    assert Gap(2, "it is damaged, and held a tool call") == last


def _cut(folder: Path, lines: Transcript, last: str) -> Path:
    lines.lines = [*(lines.lines[:-1] if len(lines.lines) > 1 else lines.lines), last]
    return lines.save(folder, end="")


def test_what_cannot_be_read_is_a_gap(tmp_path: Path) -> None:
    """A damaged line with a call or a result, a result without a call, a call without a name."""
    lines = Transcript()
    lines.lines += ['{"type":"assistant","message":{"content":[{"type":"tool_use",,,', '{"x" "tool_result"']
    lines.result("toolu_unknown")
    lines.add({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "x"}]}})
    gaps = [event for event in told(lines.save(tmp_path)) if isinstance(event, Gap)]
    assert ["it is damaged, and held a tool call", "it is damaged, and held a tool's result",
            "its tool call has no name, id or input", "it is the result of a call that is not there"] == [
        gap.why for gap in gaps]


def test_a_line_that_is_too_long_is_a_gap_and_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is passed over piece by piece; what follows is read."""
    monkeypatch.setattr(module, "LONGEST", 1 << 20)
    lines = Transcript()
    lines.lines.append("x" * (20 << 20))
    path = lines.write("a", "A").save(tmp_path)
    del lines
    tracemalloc.start()
    events = told(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert Gap(2, "it is longer than 1 MB") in events
    assert ("Write", "ok", True) == events[-1]
    assert peak < 8 << 20


def test_half_a_surrogate_pair_is_read(tmp_path: Path) -> None:
    """JavaScript writes a text that was cut in a character so; a strict reader refuses the whole line."""
    lines = Transcript()
    lines.write("a", "half \ud83d")
    assert r"\ud83d" in lines.lines[-2]
    calls = [event for event in read_events(lines.save(tmp_path)) if isinstance(event, ToolCall)]
    assert ["half \ud83d"] == [call.input["content"] for call in calls]


def test_sub_agents(tmp_path: Path) -> None:
    """Their lines name the call that started them; a session's are only marked."""
    stream = Transcript()
    stream.call("Write", {}, parent_tool_use_id="toolu_task")
    assert [SubAgent("toolu_task"), "Write"] == told(stream.save(tmp_path / "a"))[1:3]
    session = Transcript(session=True)
    session.call("Write", {}, isSidechain=True)
    assert [SubAgent("session"), "Write"] == told(session.save(tmp_path / "b"))[:2]


def test_how_a_run_ended(tmp_path: Path) -> None:
    """The result line's subtype."""
    assert Ended("error_max_turns", line=2) == told(Transcript().end("error_max_turns").save(tmp_path))[-1]


def test_what_a_run_says_that_it_took(tmp_path: Path) -> None:
    """The sums over its models, which have the last request of a run that a limit ended; else its own usage."""
    lines = Transcript().add({
        "type": "result", "subtype": "success", "num_turns": 3, "total_cost_usd": 0.5, "usage": {"input_tokens": 5},
        "modelUsage": {"a": {"inputTokens": 7, "outputTokens": 2, "cacheReadInputTokens": 9},
                       "b": {"inputTokens": 1, "outputTokens": 1}}})
    ended = told(lines.save(tmp_path / "a"))[-1]
    assert (3, 0.5, {"input_tokens": 8, "output_tokens": 3, "cache_read_tokens": 9}) == (
        ended.turns, ended.cost, ended.tokens)
    lines = Transcript().add({"type": "result", "subtype": "success", "usage": {"input_tokens": 5, "output_tokens": 6}})
    assert {"input_tokens": 5, "output_tokens": 6} == told(lines.save(tmp_path / "b"))[-1].tokens
