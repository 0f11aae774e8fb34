"""What a real Claude Code's transcript tells: events, usage, a sub-agent, and the checks that look into it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalkit.execute.transcripts import Folder, Gap, Message, MessageUsage, SubAgent, ToolCall, ToolResult, read_events
from evalkit.execute.transcripts.totals import Totals
from evalkit.gateway import Reply, ScriptedGateway, Text
from tests.e2e.test_rebuild import step, write
from tests.feature.project import KEY, MiniProject

pytestmark = pytest.mark.slow

SCRIPT = [
    step(("Bash", {"command": "ls -la"}), write("answer.txt", "Hello.\n")),
    step(("Task", {"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"})),
    step(("Read", {"file_path": "@/answer.txt"})),
    Reply((Text("It says hello."),)),
    step(("Bash", {"command": "curl --version"})),
    Reply((Text("Done."),)),
]


def test_a_real_transcript(tmp_path: Path) -> None:
    """Nothing of it is a gap; what the sub-agent did is told as its; a denied call counts as a try alone."""
    project = MiniProject.make(tmp_path)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    project.env["EVALKIT_CACHE"] = os.environ.get("EVALKIT_CACHE") or str(home / "evalkit")
    project.env["AI_GATEWAY_API_KEY"] = KEY
    project.edit("cases/mini/suite.eval", 'allow "Bash(ls *)"', 'allow "Bash(ls *)", Task')
    project.edit("cases/mini/greeting/greeting.eval", '  judge "tone"', """\
  check transcript has /^shell: ls -la$/, /^read: .*answer.txt$/, /^says: Done/ as did
  check transcript lacks "git push", "npm install" as did-not
  check transcript has "curl --version" as denied advisory
  judge "tone\"""")
    with ScriptedGateway(SCRIPT) as gateway:
        done = project.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 0 == done.status, done.out + done.err
    trial = next(project.path("results/latest/claude").rglob("trial-1"))
    events, totals = list(read_events(trial / "transcript.jsonl")), Totals()
    for event in events:
        totals.add(event)
    assert [] == [event for event in events if isinstance(event, Gap)]
    assert {"shell": 2, "write": 1, "task": 1, "read": 1} == totals.calls
    assert {"ok": 4, "denied": 1} == totals.results
    assert 1 == sum(isinstance(event, Folder) for event in events)
    task = next(event for event in events if isinstance(event, ToolCall) and event.tool == "task")
    assert [SubAgent(task.id)] == [event for event in events if isinstance(event, SubAgent)]
    assert [task.id] == [event.sub_agent for event in events if isinstance(event, ToolCall) and event.tool == "read"]
    hand_back = next(event for event in events if isinstance(event, ToolResult) and event.call == task)
    assert "It says hello." in hand_back.text  # it is no message of its own
    assert ["Done."] == [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]
    usages = [event for event in events if isinstance(event, MessageUsage)]
    assert 5 == len({usage.message for usage in usages}) == len(usages)
    result = json.loads((trial / "result.json").read_text())
    took = result["ending"]["usage"]
    assert totals.ended is not None
    assert (took["input_tokens"], took["output_tokens"]) == (
        totals.ended.tokens["input_tokens"], totals.ended.tokens["output_tokens"])
    assert totals.input_tokens == 5 * took["input_tokens"] // 6  # what the sub-agent said last is not told
    assert "success" == totals.state
    verdicts = {check["id"]: check["verdict"] for check in result["checks"]}
    assert ("pass", "pass", "fail") == tuple(verdicts[name]["status"] for name in ("did", "did-not", "denied"))
    assert "was not carried out" in verdicts["denied"]["evidence"]
    assert "Read of a sub-agent" in verdicts["did"]["evidence"]
