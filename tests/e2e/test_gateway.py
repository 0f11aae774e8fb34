"""Real Claude Code against `evalkit gateway`: a script, a recording of what it said, and that recording again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.feature.project import KEY, MiniProject
from tests.unit.gateway.test_command import running

pytestmark = pytest.mark.slow

SCRIPT = r"""
script: 1
about: reads the notes, asks for what differs from run to run, writes the answer, looks at it
rules:
  - name: a rate limit first
    when: {side: false, turn: 1, nth: 1}
    reply: {status: 429, retry_after: 0.1}
  - when: {side: false, turn: 1, tools: [Read, Bash]}
    reply:
      text: I look first, at {{workspace}}.
      usage: {input: 1000, output: 50}
      calls:
        - {name: Read, input: {file_path: "{{workspace}}/notes.txt"}}
        - {name: Bash, input: {command: "ls -la; date; pwd"}}
  - when: {turn: 2, any: Greet the reader}
    reply:
      calls: [{name: Write, input: {file_path: "{{workspace}}/answer.txt", content: "Hello from {{workspace}}.\n"}}]
      chunk: 3
  - when: {turn: 3, result: /success/i}
    reply:
      calls: [{name: Bash, input: {command: 'ls "{{workspace}}"'}}]
  - when: {turn: 4, result: '/(?<file>answer\.\w+)/'}
    reply: I wrote {{file}}.
"""


def outcome(project: MiniProject) -> dict[str, Any]:
    """What came of the trial, without what differs from run to run."""
    result = json.loads(next(project.path("results").rglob("result.json")).read_text())
    usage = result["ending"]["usage"]
    return {"status": result["status"], "ending": result["ending"]["status"],
            "usage": {name: usage[name] for name in ("turns", "input_tokens", "output_tokens")},
            "checks": {check["id"]: check["verdict"]["status"] for check in result["checks"]}}


def test_a_script_a_recording_and_the_recording_again(small: MiniProject, tmp_path: Path) -> None:
    """Claude Code writes the answer against a YAML script through the recorder; then, in another workspace and without
    the script, against the cassette, with the same outcome. A changed prompt is another request, and is told.
    """
    script, cassette = tmp_path / "script.yaml", tmp_path / "cassette.jsonl"
    script.write_text(SCRIPT)
    run = ("run", "case:greeting", "agent=claude", "judge=off")
    small.edit("cases/mini/suite.eval", '"Bash(ls *)"', '"Bash(ls *)", "Bash(date)", "Bash(pwd)"')
    with running("play", str(script)) as (provider, _):
        with running("record", provider.url, str(cassette), env={"AI_GATEWAY_API_KEY": KEY}) as (recorder, _):
            done = small.doit(*run, f"gateway={recorder.url}")
            assert 0 == done.status, done.err + done.out
            status, said = recorder.end()
            assert 0 == status, said
        status, said = provider.end()
    assert (0, "5 requests answered\n") == (status, said)
    first = outcome(small)
    assert ("pass", "completed", 4) == (first["status"], first["ending"], first["usage"]["turns"])
    text = cassette.read_text()
    assert KEY not in text
    assert str(small.root) not in text
    assert "Hello from {{evalkit.workspace}}" in text

    other = MiniProject.make(tmp_path / "another-place")
    other.env.update(small.env)
    other.edit("cases/mini/suite.eval", '"Bash(ls *)"', '"Bash(ls *)", "Bash(date)", "Bash(pwd)"')
    with running("play", str(cassette), "--exact") as (player, _):
        done = other.doit(*run, f"gateway={player.url}")
        assert 0 == done.status, done.err + done.out
        status, said = player.end()
    assert (0, []) == (status, [line for line in said.splitlines() if line.startswith("no answer")]), said
    assert first == outcome(other)

    other.edit("cases/mini/greeting/greeting.eval", "Write a greeting into", "Put a greeting into")
    with running("play", str(cassette)) as (player, _):
        done = other.doit(*run, f"gateway={player.url}", "retries=0")
        status, said = player.end()
    assert 3 == done.status, done.err + done.out
    assert 1 == status
    assert "recorded '…" in said
    assert "Put a greeting into answer.txt" in said
