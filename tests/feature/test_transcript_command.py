"""`evalkit transcript`: what an agent did, for people and for programs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.feature.asked import Asked
from tests.feature.project import MiniProject
from tests.unit.execute.transcripts import Transcript

CORPUS = Path(__file__).resolve().parents[1] / "transcripts"
PLAIN = """\
     1  folder  /home/dev/shop
     2  agent   I look at the list first.
     3  read    /home/dev/shop/src/list.ts
     4          ok: 1 export const items = []
     2  usage   tokens: 12 in, 3 out, 900 from a cache, 100 into a cache
     5  write   /home/dev/shop/src/price.ts  (content: 45 characters)
     6          ok: File created successfully
     5  usage   tokens: 20 in, 60 out, 1,000 from a cache, 50 into a cache
     7  shell   npm test  (description: Run the tests)
     8          error: Exit code 1
                1 failed
     7  usage   tokens: 8 in, 30 out, 1,100 from a cache
     9  agent   The price is shown.
     9  usage   tokens: 8 in, 20 out, 1,200 from a cache
    10  end     success, 4 turns, $0.0123

3 calls (1 read, 1 write, 1 shell), 4 replies; tokens: 48 in, 113 out, 4,200 from a cache, 150 into a cache
amiss: 1 error
by its own count tokens: 48 in, 160 out
in the end: success
"""


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(capsys, monkeypatch)


def keep(project: MiniProject, place: str, name: str = "plain-stream.jsonl") -> None:
    folder = project.path(f"results/latest/{place}")
    folder.mkdir(parents=True)
    shutil.copyfile(CORPUS / name, folder / "transcript.jsonl")


def test_a_conversation(project: MiniProject, asked: Asked) -> None:
    """A call is a line, a result's first lines stand below it; usage is told once for each message."""
    assert PLAIN == asked(project, "transcript", str(CORPUS / "plain-stream.jsonl"))


def test_every_file_of_the_corpus_can_be_shown(project: MiniProject, asked: Asked) -> None:
    """Whatever it holds, and nothing in it drives the terminal; as data it is JSON, line by line."""
    for path in sorted(CORPUS.glob("*.json*")):
        status = 2 if path.name == "empty.jsonl" else 0
        shown = asked(project, "transcript", str(path), status=status)
        assert all(line.isprintable() for line in shown.splitlines()), path
        lines = asked(project, "transcript", str(path), "--json", status=status).splitlines() if not status else []
        assert all(json.loads(line)["type"] and line.isascii() for line in lines)


def test_sub_agents_stand_apart(project: MiniProject, asked: Asked) -> None:
    """Their part is marked; a result that comes later names its call."""
    shown = asked(project, "transcript", str(CORPUS / "sub-agents.jsonl"))
    assert "     4  search    │ Grep  (pattern: price)\n     5            │ ok: src/price.ts:1\n" in shown
    assert "     7          ok of line 2: It is in src/price.ts.\n" in shown


def test_what_a_terminal_obeys_is_shown(project: MiniProject, asked: Asked) -> None:
    """In names, messages, inputs and results, also as data."""
    lines = Transcript().bash("echo \x1b[31mred\x1b[0m \u202e \x9b", text="\x07bell\r\x1b]0;t\x07")
    path = str(lines.save(project.root / "odd"))
    for arguments in ((path,), (path, "--json")):
        shown = asked(project, "transcript", *arguments)
        assert all(line.isprintable() for line in shown.splitlines())


def test_data(project: MiniProject, asked: Asked) -> None:
    """The events with their fields; a result names its call and its tool."""
    events = [json.loads(line) for line in asked(project, "transcript", str(CORPUS / "own-tools.jsonl"),
                                                 "--json").splitlines()]
    assert ["folder", "message", "usage", "tool_call", "tool_result"] == [event["type"] for event in events][:5]
    assert {"type": "tool_result", "call": "c1", "name": "setColorMode", "tool": "other", "status": "ok", "ran": True,
            "text": '{"ok":true}', "detail": {"ms": 3}, "line": 5} == events[4]


def test_trials_have_names(project: MiniProject, asked: Asked) -> None:
    """A case with one trial, a unit, a trial's id and its folder all lead to the transcript; several are told."""
    keep(project, "claude/m/greeting@ts/trial-1")
    for what in ("greeting", "greeting@ts", "latest/claude/m/greeting@ts/trial-1",
                 "results/latest/claude/m/greeting@ts/trial-1", "latest"):
        assert PLAIN == asked(project, "transcript", what), what
    keep(project, "claude/m/greeting@ts/trial-2")
    told = asked(project, "transcript", "greeting", status=2)
    assert "`greeting` has 2 trials with a transcript" in told
    assert "latest/claude/m/greeting@ts/trial-2" in told


@pytest.mark.parametrize(("what", "said"), [
    ("nowhere", "there is no transcript `nowhere`"),
    ("dodo.py", "tells nothing of an agent"),
    ("\x1b[31m", "there is no transcript"),
])
def test_what_is_no_transcript(project: MiniProject, asked: Asked, what: str, said: str) -> None:
    """It is a mistake of the person's, told with what would be right."""
    assert said in asked(project, "transcript", what, status=2)
