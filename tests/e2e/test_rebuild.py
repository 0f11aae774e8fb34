"""The tree that a real Claude Code leaves, against the one that is rebuilt from its transcript."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalkit.execute.rebuild import rebuild
from evalkit.execute.rebuilt import base_tree
from evalkit.gateway import Reply, ScriptedGateway, Text, ToolCall
from tests.e2e.conftest import workspace_of
from tests.feature.project import KEY, MiniProject

pytestmark = pytest.mark.slow

FILES = {"old.txt": b"one\ntwo\none\n", "win.txt": b"a\r\nb\r\n", "mark.txt": b"\xef\xbb\xbfa\r\nb\r\n",
         "mixed.txt": b"a\r\nb\nc\n", "real/a.txt": b"a\n"}


def step(*calls: tuple[str, dict[str, Any]]) -> Any:
    """A reply that calls tools; `@` in a path is the agent's own folder."""
    def reply(request: dict[str, Any]) -> Reply:
        root = workspace_of(request)
        return Reply(tuple(ToolCall(name, {key: value.replace("@", root) if isinstance(value, str) else value
                                           for key, value in given.items()}) for name, given in calls))

    return reply


def edit(name: str, old: str, new: str, **more: object) -> tuple[str, dict[str, Any]]:
    return "Edit", {"file_path": f"@/{name}", "old_string": old, "new_string": new, **more}


def write(name: str, content: str) -> tuple[str, dict[str, Any]]:
    return "Write", {"file_path": name, "content": content}


SCRIPT = [
    step(*(("Read", {"file_path": f"@/{name}"}) for name in FILES)),
    step(write("@/new.txt", "hello \nTODO"), edit("old.txt", "one", "1", replace_all=True),
         write("@/win.txt", "p\nq\n")),
    step(edit("new.txt", "TODO", "done $& $1  \n"), edit("new.txt", "nowhere", "x"), edit("mark.txt", "b", "c\nd"),
         edit("mixed.txt", "b", "B"), edit("old.txt", "1\ntwo", "")),
    step(write("@/real/../up.txt", "x"), write("below.txt", "r"), edit("made.txt", "", "made\n"),
         write("@/q.txt", "it\u2019s\n"), write("/etc/evalkit-must-not-be-there", "x")),
    step(edit("q.txt", "it's", "its"), ("Bash", {"command": "ls -la && cat old.txt"}), ("Bash", {"command": "date"})),
    Reply((Text("Done."),)),
]


def test_the_rebuilt_tree_is_the_one_that_the_agent_left(tmp_path: Path) -> None:
    """Byte for byte: line ends, marks, deletions, denied and failed calls, quotes that Claude Code changes."""
    project = MiniProject.make(tmp_path)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    project.env["EVALKIT_CACHE"] = os.environ.get("EVALKIT_CACHE") or str(home / "evalkit")
    project.env["AI_GATEWAY_API_KEY"] = KEY
    project.edit("cases/mini/suite.eval", "turns 5", "turns 20")
    for name, data in FILES.items():
        path = project.path("cases/mini/skeleton") / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    with ScriptedGateway(SCRIPT) as gateway:
        project.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    trial = next(project.path("results/latest/claude").rglob("trial-1"))
    left = base_tree(trial / "workspace.tar.zst")
    base = base_tree(next(project.path(".evalkit/store/workspace").rglob("tree.tar.zst")))
    rebuilt = rebuild(base, trial / "transcript.jsonl")
    assert {name: entry.data for name, entry in left.items()} == {
        name: entry.data for name, entry in rebuilt.entries.items()}
    assert ({}, "", "success") == (rebuilt.uncertain, rebuilt.whole, rebuilt.ended)
    assert b"1\n" == left["old.txt"].data
    denials = [json.loads(line) for line in (trial / "transcript.jsonl").read_text().splitlines()][-1]
    assert denials["permission_denials"]
    assert not Path("/etc/evalkit-must-not-be-there").exists()
