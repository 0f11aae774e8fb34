"""The native suite on a checkout of the SDK: the released package, copied into a folder that is built by `zig build`.

The package lacks the sources of the CLI; in their place stands a program that starts the packaged one. All else is
real: the build, the skills, the transpiler, the sandbox, and Claude Code against a script.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.project import load_project
from evalkit.execute.places import Places
from evalkit.execute.toolchain import find_installed
from tests.e2e.conftest import REPOSITORY, RealProject
from tests.feature.project import PYPROJECT

pytestmark = pytest.mark.slow

CASE = "case:ts-habits-core"
CLI = """
const std = @import("std");
pub fn main(init: std.process.Init.Minimal) u8 {
    _ = std.os.linux.execve("PLACE", @ptrCast(init.args.vector.ptr), @ptrCast(init.environ.block.slice.ptr));
    return 127;
}
"""
SCRIPT = """
script: 1
rules:
  - {name: titles, when: {side: true}, reply: A title}
  - name: looks around
    when: {turn: 1}
    reply:
      calls:
        - {name: Bash, input: {command: "cat CHECKOUT/evals/secret.md"}}
        - {name: Read, input: {file_path: "CHECKOUT/evals/secret.md"}}
        - {name: Bash, input: {command: "head -1 CHECKOUT/src/root.zig"}}
        - {name: Bash, input: {command: "native version"}}
  - {name: end, reply: Done.}
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> RealProject:
    """The suite with one small case."""
    root = tmp_path_factory.mktemp("real") / "project"
    suite, native = root / "cases/native", REPOSITORY / "cases/native"
    suite.mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the native suite."""\n')
    shutil.copy(native / "suite.eval", suite)
    for folder in ("harness", "core-workspace", "ts-habits-core"):
        shutil.copytree(native / folder, suite / folder)
    return RealProject(root)


@pytest.fixture(scope="module")
def checkout(real: RealProject, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a working copy, with evaluations of its own."""
    done = real.doit("run", "toolchain:native-sdk")
    assert done.status == 0, done.err
    toolchain = load_project(real.root).cases["ts-habits-core"].setup.toolchains[0]
    installed = find_installed(Places.of(real.root, os.environ).cache, toolchain)
    assert installed is not None
    modules = installed.folder / "npm/node_modules/@native-sdk"
    folder = tmp_path_factory.mktemp("sdk") / "native"
    shutil.copytree(modules / "cli", folder)
    binary = next(modules.glob("cli-*/bin/native"))
    (folder / "prebuilt").mkdir()
    shutil.copy(binary, folder / "prebuilt/native")
    (folder / "tools/native-sdk").mkdir(parents=True)
    (folder / "tools/native-sdk/main.zig").write_text(CLI.replace("PLACE", str(folder / "prebuilt/native")))
    (folder / "tools/native-sdk/markup_lsp.zig").write_text("")
    (folder / "evals").mkdir()
    (folder / "evals/secret.md").write_text("what the checks look for\n")
    return folder


def heard(project: RealProject, run: str) -> list[tuple[str, bool]]:
    """What the agent's tools returned, in the order of the calls, each with whether it was an error.

    Calls of one turn run side by side, and their results come as they finish.
    """
    transcript, = (project.root / "results" / run / "claude").glob("*/ts-habits-core/trial-1/transcript.jsonl")
    records: list[dict[str, Any]] = [json.loads(line) for line in transcript.read_text().splitlines()]
    parts = [part for record in records if record.get("type") in ("assistant", "user")
             for part in record["message"]["content"] if isinstance(part, dict)]
    results = {part["tool_use_id"]: part for part in parts if part.get("type") == "tool_result"}
    calls = [part["id"] for part in parts if part.get("type") == "tool_use"]
    return [(str(results[call]["content"]), bool(results[call].get("is_error"))) for call in calls]


def test_the_tree_at_hand_is_measured(real: RealProject, checkout: Path) -> None:
    """It is built there, once, and its answer passes; an edit of it is another toolchain, one of its evals is none."""
    real.env["NATIVE_SDK_REPO"] = str(checkout)
    done = real.doit("run", CASE, "run=checkout")
    assert done.status == 0, done.err + done.out
    assert f"building {checkout}" in done.err
    (checkout / "evals/secret.md").write_text("something else\n")
    assert {} == real.doit("run", CASE, "run=checkout").ran
    skill = checkout / "skill-data/ts-core/SKILL.md"
    skill.write_text(skill.read_text() + "\nBe brief.\n")
    edited = real.doit("run", "agent:checkout/oracle/ts-habits-core/trial-1", "run=checkout")
    assert edited.status == 0, edited.err + edited.out
    assert {"toolchain", "workspace", "agent"} <= set(edited.ran)


@pytest.mark.parametrize("lane", ["local", "sandbox"])
def test_the_agent_reads_its_sources_and_not_its_evaluations(lane: str, real: RealProject, checkout: Path) -> None:
    """Denied by rules in one lane, not there in the other."""
    script = real.root / "looks.yaml"
    script.write_text(SCRIPT.replace("CHECKOUT", str(checkout)))
    real.env["NATIVE_SDK_REPO"] = str(checkout)
    done = real.doit("run", CASE, "agent=claude", f"gateway={script}", f"lane={lane}", "judge=off", f"run={lane}")
    assert done.status == 1, done.err  # it wrote nothing
    (printed, denied), (read, refused), (source, failed), (version, _) = heard(real, lane)
    assert (denied, refused, failed) == (True, True, False)
    assert "what the checks look for" not in printed + read
    assert source == (checkout / "src/root.zig").read_text().splitlines()[0]
    assert version.startswith("native ")
