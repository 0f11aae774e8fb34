"""A transcript as a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Event, Folder, Message, ToolCall, ToolResult, read_events
from evalkit.report.html.conversation import conversation
from tests.unit.report.html_hostile import KEY

CORPUS = sorted(path for path in (Path(__file__).parents[2] / "transcripts").iterdir() if path.suffix != ".md")
NONE = Redactor.of({})


def told(*events: Event, redactor: Redactor = NONE) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = conversation(events, redactor)["events"]
    return found


def a_call(name: str, tool: str = "other", line: int = 1, **given: Any) -> ToolCall:
    return ToolCall(f"t{line}", name, given, tool, str(given.get("file_path", "")),  # type: ignore[arg-type]
                    str(given.get("command", "")), line=line)


def test_a_result_stands_with_its_call() -> None:
    """Also where other things came between them."""
    call = a_call("Bash", "shell", command="npm test", description="Run")
    other = a_call("Read", "read", 2, file_path="/w/a.ts")
    one, two = told(Folder("/w"), call, other, ToolResult(other, "ok", True, "text", line=3),
                    ToolResult(call, "error", True, "1 failed", line=4))[1:]
    assert {"k": "call", "line": 1, "tool": "shell", "name": "Bash", "sub": "", "status": "error", "ran": True,
            "result_line": 4, "about": "npm test", "result": "1 failed", "inputs": [["description", "Run"]]} == one
    assert ("a.ts", "ok", 3) == (two["about"], two["status"], two["result_line"])


def test_edits_are_differences() -> None:
    """Of an edit, of several in one call, and of what is written as a whole."""
    edit, many, write = told(
        a_call("Edit", "edit", 1, file_path="/a", old_string="x\ny", new_string="x\nz", replace_all=False),
        a_call("MultiEdit", "edit", 2, file_path="/a", edits=[{"old_string": "1", "new_string": "2"},
                                                              {"old_string": "3", "new_string": ""}]),
        a_call("Write", "write", 3, file_path="/b", content="one\ntwo\n"))
    assert (["@@ -1,2 +1,2 @@\n x\n-y\n+z"], 1, 1) == (edit["diffs"], edit["added"], edit["removed"])
    assert [["replace_all", "false"]] == edit["inputs"]
    assert 2 == len(many["diffs"])
    assert ["@@ -0,0 +1,2 @@\n+one\n+two"] == write["diffs"]


def test_a_call_with_anything_in_it() -> None:
    """Names of fields that mean something to scripts, and values of any kind, are told as texts."""
    given: dict[str, Any] = {"__proto__": {"a": 1}, "constructor": None, "n": 3}
    (call,) = told(a_call("mcp__x", "mcp", **given))
    assert [["__proto__", '{\n "a": 1\n}'], ["n", "3"]] == call["inputs"]


def test_a_prompt_is_told_once() -> None:
    """Some transcripts begin with it, most do not tell it."""
    events = [Message("user", "Write it.\n", line=1), Message("assistant", "Done.", line=2)]
    found = conversation(events, NONE, "Write it.")["events"]
    assert [("prompt", "Write it."), ("assistant", "Done.")] == [(event["role"], event["text"]) for event in found]
    assert ["user", "assistant"] == [event["role"] for event in told(*events)]


def test_a_long_transcript_keeps_its_ends() -> None:
    """What is in the middle is left out and counted; memory holds what is shown."""
    def events() -> Iterator[Event]:
        for line in range(1, 20_001):
            call = a_call("Bash", "shell", line, command=f"run {line}")
            yield call
            yield ToolResult(call, "ok", True, "y" * 2_000, line=line)

    shown = told(*events())
    (note,) = [event for event in shown if event["k"] == "note"]
    assert "run 1" == shown[0]["about"]
    assert "run 20000" == shown[-1]["about"]
    assert all(event["result"] == "y" * 2_000 for event in shown if event["k"] == "call")
    assert f"{20_000 - len(shown) + 1:,} events between here and line {note['line']:,} are left out" in note["text"]
    assert len(json.dumps(shown)) < 5_000_000


def test_keys_are_taken_out() -> None:
    """Of texts, inputs, results, differences and names."""
    shown = told(Message("assistant", f"the key is {KEY}"),
                 call := a_call(f"tool {KEY}", "edit", 2, old_string=KEY, new_string=f"{KEY}!", **{KEY: KEY}),
                 ToolResult(call, "ok", True, KEY * 3, line=3), redactor=Redactor.of({"AI_GATEWAY_API_KEY": KEY}))
    assert KEY not in json.dumps(shown)
    assert "[AI_GATEWAY_API_KEY redacted]" in shown[0]["text"]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_every_known_transcript(path: Path) -> None:
    """Whatever format, whatever damage: it is plain data, each call with a status, and gaps are told."""
    found = conversation(read_events(path), NONE)
    json.dumps(found).encode("utf-8")
    assert {"k", "line"} <= {key for event in found["events"] for key in event} or not found["events"]
    assert all(event["status"] in ("ok", "error", "denied", "missing") for event in found["events"]
               if event["k"] == "call")
    assert found["gaps"] == sum(event.get("what") == "gap" for event in found["events"])
