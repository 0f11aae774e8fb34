"""What a run leaves for people and other programs, and the commands that read it, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.project import Done, MiniProject

REPORTS = ("summary.json", "summary.md", "junit.xml", "results.csv")
BYE = 'case bye { use note; prompt "bye.md"; check not-empty as full }\n'


def evalkit(project: MiniProject, *words: str) -> Done:
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", *words], cwd=project.root, env=project.environ,
                          capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def states(project: MiniProject) -> dict[str, tuple[int, int]]:
    """Inodes and times of the reports: a report that is written has others."""
    found = {name: project.path(f"results/latest/{name}").stat() for name in REPORTS}
    return {name: (state.st_ino, state.st_mtime_ns) for name, state in found.items()}


def test_reports_are_written_once(project: MiniProject) -> None:
    """At the end of a run; not by one that has nothing to do; and again where somebody deleted one."""
    assert 0 == project.doit("run", "case:greeting").status
    before = states(project)
    root = ElementTree.parse(project.path("results/latest/junit.xml")).getroot()
    assert ["greeting [oracle]"] == [suite.get("name") for suite in root]
    assert "| `greeting` | pass |" in project.read("results/latest/summary.md")
    assert "**self-check: reference answer, no model was called**" in project.read("results/latest/summary.md")
    assert 2 == len(project.read("results/latest/results.csv").splitlines())
    again = project.doit("run", "case:greeting")
    assert ({}, before) == (again.ran, states(project))
    project.path("results/latest/junit.xml").unlink()
    assert ["report"] == [name.partition(":")[0] for name in project.doit("run", "case:greeting").ran]
    after = states(project)
    assert {name: before[name] for name in REPORTS if name != "junit.xml"} == {
        name: after[name] for name in REPORTS if name != "junit.xml"}
    assert project.path("results/latest/junit.xml").exists()


def test_an_edit_is_in_all_of_them(project: MiniProject) -> None:
    """Evidence too, of a check that fails now; a run of known answers imports no statistics."""
    project.doit("run", "case:greeting")
    project.edit("cases/mini/greeting/greeting.eval", "has /hello/i", "has /good morning/")
    assert 1 == project.doit("run", "case:greeting").status
    assert "failed: greets" in project.read("results/latest/results.csv")
    assert "- ✗ `greets` it says hello: " in project.read("results/latest/summary.md")
    root = ElementTree.parse(project.path("results/latest/junit.xml")).getroot()
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert ("1", "failed: greets") == (root.get("failures"), failure.get("message"))


def test_the_summary_of_a_github_step(project: MiniProject, tmp_path: Path) -> None:
    """Each run appends its own, one that has nothing to do too; where it cannot be written, that is told."""
    place = tmp_path / "step.md"
    place.write_text("before\n")
    project.env["GITHUB_STEP_SUMMARY"] = str(place)
    for _ in range(2):
        assert 0 == project.doit("run", "case:greeting").status
    summary = project.read("results/latest/summary.md")
    assert place.read_text() == f"before\n{summary}{summary}"
    project.env["GITHUB_STEP_SUMMARY"] = str(tmp_path)
    done = project.doit("run", "case:greeting")
    assert 0 == done.status
    assert "note: the step's summary cannot be written: " in done.err


@pytest.mark.slow
def test_commands_read_what_runs_left(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """Two runs of a stand-in of Claude Code, with a judge: a report, a history, a comparison and a plan."""
    project, _ = judged
    project.write("cases/mini/bye.eval", BYE)
    project.write("cases/mini/bye.md", "Say goodbye.\n")
    for run in ("before", "latest"):
        done = project.doit("run", "all", "trials=2", f"run={run}")
        assert 0 == done.status, done.err
    report = evalkit(project, "report", "before")
    assert 0 == report.status, report.err
    assert "pass rates, claude anthropic/claude-sonnet-5, local lane\n" in report.out
    assert "95 % Wilson interval of its trials" in report.out
    told: dict[str, Any] = json.loads(evalkit(project, "report", "--json").out)
    assert [2, 2] == [unit["trials"] for unit in told["groups"][0]["units"]]
    history: dict[str, Any] = json.loads(evalkit(project, "history", "greeting", "--json").out)
    assert ["before", "latest"] == [entry["run"] for entry in history["entries"]]
    compared = evalkit(project, "compare", "before", "latest")
    assert 0 == compared.status, compared.err
    assert "\nnot enough evidence: 2 cases would need about " in compared.out
    planned = evalkit(project, "plan", "all", "trials=2", "--detect", "10pp")
    assert 0 == planned.status, planned.err
    assert "  2 cases would need about " in planned.out


@pytest.mark.parametrize(("words", "said"), [
    (["report", "nothing"], "there is no run `nothing`"), (["report", "../x"], "there is no run `../x`"),
    (["compare", "latest", "nothing"], "there is no run `latest`"), (["history", "greeting"], "no run has a case"),
    (["plan", "all", "--detect", "10pp"], "nothing of this samples")])
def test_what_there_is_not(project: MiniProject, words: list[str], said: str) -> None:
    """It is a mistake, with what to do about it."""
    done = evalkit(project, *words)
    assert (2, "") == (done.status, done.out if words[0] != "plan" else "")
    assert said in done.err


@pytest.mark.parametrize("command", ["report", "compare", "history", "plan"])
def test_help_has_examples(project: MiniProject, command: str) -> None:
    """Of each command."""
    done = evalkit(project, command, "--help")
    assert 0 == done.status
    assert f"examples:\n  evalkit {command} " in done.out


def test_known_answers_import_no_statistics(project: MiniProject) -> None:
    """Neither where something ran, nor where nothing did."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-X", "importtime", "-m", "doit", "run", "case:greeting"],
                              cwd=project.root, env={**os.environ, **project.environ}, capture_output=True, text=True,
                              check=True)
        names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        assert set() == names & {"scipy", "numpy", "statsmodels", "pandas"}
