"""The real SDK and the real Claude Code in the sandbox lane."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalkit.gateway import Reply, ScriptedGateway, Step, Text, ToolCall
from tests.e2e.conftest import REPOSITORY, RealProject, workspace_of
from tests.feature.project import KEY, PYPROJECT, MiniProject, files_with
from tests.sandbox import bwrap

pytestmark = pytest.mark.slow

PLANTED = "sk-ant-api03-a-real-looking-key-that-no-agent-may-find-0123456789"
LOOK = r"""
env; echo; for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do cat $f 2>/dev/null | tr '\0' '\n'; done
grep -rsl 'real-''looking' / --exclude-dir=proc --exclude-dir=usr --exclude-dir=root 2>/dev/null
cat /proc/net/dev; ls /; ls -A /home/agent; cat ~/.bashrc /root/.bashrc 2>&1
"""


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> RealProject:
    """The native suite in a project of its own, in the sandbox lane."""
    bwrap()
    root = tmp_path_factory.mktemp("sandboxed") / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the native suite."""\n')
    shutil.copytree(REPOSITORY / "cases/native", root / "cases/native")
    return RealProject(root, {"EVALKIT_LANE": "sandbox", "EVALKIT_SKIP_LIVE": "1"})


def statuses(project: RealProject, subject: str) -> dict[str, str]:
    result = project.root / f"results/latest/{subject}/kanban-board/trial-1/result.json"
    found = json.loads(result.read_text())
    assert "sandbox" == found["lane"]
    return {check["id"]: check["verdict"]["status"] for check in found["checks"]}


def test_clones_of_one_prewarm_are_each_graded_right(native: RealProject) -> None:
    """Graded in parallel, from one warm cache: an unchanged tree, one with a changed source whose test fails for it,
    one with a spec of the harness's put into it, and one whose spec fails.
    """
    case = native.root / "cases/native/kanban-board"
    solution = case / "solution"
    for name, text in {
        "planted": 'test "planted" {\n    try @import("std").testing.expectEqual(@as(u32, 1), 2);\n}\n',
        "fine": 'test "fine" {\n    try @import("std").testing.expectEqual(@as(u32, 2), 2);\n}\n',
    }.items():
        shutil.copytree(solution, case / "wrong" / name)
        tests = case / "wrong" / name / "src/tests.zig"
        tests.write_text(tests.read_text() + "\n" + text)
    suite = native.root / "cases/native/suite.eval"
    for name, holds in (("good", "true"), ("bad", "false")):
        suite.with_name(f"{name}.zig").write_text(
            f'test "{name}" {{\n    try @import("std").testing.expect({holds});\n}}\n')
    suite.write_text(suite.read_text().replace("  define check markup", '''
  define check spec-good "a spec that passes" {
    put "good.zig" as "src/spec.zig"
    append "src/main.zig" "test { _ = @import(\\"spec.zig\\"); }"
    run "native test -Dplatform=null" time 5m
  }
  define check spec-bad "a spec that fails" {
    put "bad.zig" as "src/spec.zig"
    append "src/main.zig" "test { _ = @import(\\"spec.zig\\"); }"
    run "native test -Dplatform=null" time 5m
  }

  define check markup'''))
    text = (case / "kanban-board.eval").read_text()
    at = text.rindex("}")
    (case / "kanban-board.eval").write_text(
        text[:at] + '  check spec-good as spec-good\n  check spec-bad as spec-bad\n'
        '  wrong "wrong/planted" fails own-tests\n  wrong "wrong/fine" fails spec-bad\n' + text[at:])

    done = native.doit("run", "case:kanban-board", "agent=nop", "jobs=2")
    assert 1 == done.status, done.err + done.out
    found = statuses(native, "nop")
    assert ("pass", "pass", "fail") == (found["own-tests"], found["spec-good"], found["spec-bad"]), done.out
    assert 1 == done.err.count("prewarm, once for all trials")
    for name, own in (("planted", "fail"), ("fine", "pass")):
        trial = f"latest/wrong%3A{name}/kanban-board/trial-1"
        done = native.doit("run", f"grade:{trial}:own-tests", f"agent=wrong:{name}")
        assert 0 == done.status, done.err + done.out
        verdict = json.loads((native.root / "results" / trial / "grades/own-tests.json").read_text())["verdict"]
        assert own == verdict["status"], verdict
        assert "prewarm" not in done.err, "the prewarm is shared"
    assert 1 == len(list((native.root / ".evalkit/store/warm").glob("*/*")))


def test_claude_code_in_the_sandbox(small: MiniProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real program works at /workspace without a network, by the gateway alone, skipping permissions also as root;
    a key that is planted around it is nowhere that it looks.
    """
    bwrap()
    monkeypatch.setenv("MY_OWN_KEY", PLANTED)
    (small.root / "secret.txt").write_text(PLANTED)

    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"}),))

    steps: list[Step] = [Reply((ToolCall("Bash", {"command": LOOK}),)), write, Reply((Text("Done."),))]
    with ScriptedGateway(steps) as gateway:
        small.env["AI_GATEWAY_API_KEY"] = PLANTED
        done = small.doit("run", "case:greeting", "agent=claude", "lane=sandbox", "judge=off", "skip_permissions=1",
                          f"gateway={gateway.url}")
        requests = gateway.main_requests
        keys = {request.headers.get("authorization") for request in gateway.requests if request.is_main}
    assert 0 == done.status, done.err + done.out
    assert {f"Bearer {PLANTED}"} == keys, "the gateway shows the key to the provider"
    seen = json.dumps(requests)
    assert "/workspace" == workspace_of(requests[0])
    assert PLANTED not in seen
    assert "real-looking" not in seen
    assert "ANTHROPIC_AUTH_TOKEN=evalkit-" in seen
    assert str(small.root) not in seen
    looked = next(block for request in requests[1:] for message in request["messages"]
                  for block in message["content"] if isinstance(block, dict) and block.get("type") == "tool_result")
    text = json.dumps(looked["content"])
    assert "lo:" in text
    assert not any(name in text for name in ("eth0", "ens", "wlan"))
    assert [] == [name for name in files_with(small.root.parent, PLANTED) if not name.endswith("secret.txt")]
    assert KEY not in seen


def test_claude_code_is_the_same_in_both_lanes(small: MiniProject) -> None:
    """Transcript and outcome have one shape, whichever lane."""
    found = {}
    for lane in ("local", "sandbox"):
        def write(request: dict[str, Any]) -> Reply:
            place = f"{workspace_of(request)}/answer.txt"
            return Reply((ToolCall("Write", {"file_path": place, "content": "Hello.\n"}),))

        with ScriptedGateway([write, Reply((Text("Done."),))]) as gateway:
            done = small.doit("run", "case:greeting", "agent=claude", f"lane={lane}", "judge=off", f"run={lane}",
                              f"gateway={gateway.url}")
        assert 0 == done.status, done.err + done.out
        folder = next(small.path(f"results/{lane}").glob("claude/*/greeting/trial-1"))
        result = json.loads((folder / "result.json").read_text())
        events = [(line.get("type"), line.get("subtype"))
                  for line in map(json.loads, (folder / "transcript.jsonl").read_text().splitlines())]
        found[lane] = (set(result), result["status"], result["ending"]["status"], result["ending"]["usage"]["turns"],
                       result["tree_digest"], set(events))
    assert found["local"] == found["sandbox"]


def test_the_home_of_who_runs_it_is_not_there(small: MiniProject) -> None:
    """Not even its name, but for what toolchains are below it."""
    bwrap()
    home = Path.home()
    small.write("agent.sh", f"ls -A {home} {home}/.cache 2>&1; echo Hello >answer.txt\n")
    done = small.doit("run", "case:greeting", "agent=command:sh {project}/agent.sh", "lane=sandbox", "judge=off")
    assert 0 == done.status, done.err
    out = next(small.path(".evalkit/store/agent").rglob("transcript.stdout")).read_text()
    assert not {path.name for path in home.iterdir()} & set(out.split()) - {".cache"}
