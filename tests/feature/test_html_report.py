"""report.html at the end of a run: `doit run` writes it, keeps it up to date, and does without it where it has to."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.feature.project import CASE, KEY, Done, MiniProject, fake_claude, files_with, on_path

PLACE = "claude/anthropic%2Fclaude-sonnet-5/greeting/trial-1"


def data_of(project: MiniProject, place: str) -> dict[str, Any]:
    text = project.read(f"results/latest/report-data/{place}.js")
    found: dict[str, Any] = json.loads(text.removeprefix("evalkit(").removesuffix(");\n"))
    return found


def evalkit(project: MiniProject, *args: str) -> Done:
    ran = subprocess.run([sys.executable, "-m", "evalkit.cli", *args], cwd=project.root, env=project.environ, text=True,
                         capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return Done(ran.returncode, ran.stdout, ran.stderr)


def without_jinja2(project: MiniProject, folder: Path) -> None:
    """Have Python find no Jinja2, as where the extra is not installed."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['jinja2'] = None\n")
    project.env["PYTHONPATH"] = on_path(folder)


def test_a_run_has_a_page(project: MiniProject, tmp_path: Path) -> None:
    """With what the agent was asked, what it changed and what checks came to; and without keys."""
    program, _ = fake_claude(tmp_path / "bin")
    project.env |= {"AI_GATEWAY_API_KEY": KEY}
    done = project.doit("run", "case:greeting", "agent=claude", "judge=off", f"claude={program}", "gateway=direct")
    assert done.status in (0, 1), done.err
    data = data_of(project, PLACE)
    prompt, *_, end = data["talk"]["events"]
    assert ("prompt", "Write a greeting into answer.txt.") == (prompt["role"], prompt["text"])
    assert ("note", "success") == (end["k"], end["text"])
    assert ["answer.txt"] == [file["path"] for file in data["changes"]["files"]]
    assert {"own", "greets", "finished", "not-empty", "tone"} == {check["id"] for check in data["checks"]}
    assert "claude-sonnet-5" in project.read("results/latest/report.html")
    assert [] == files_with(project.root / "results", KEY)


def test_it_is_kept_up_to_date(project: MiniProject) -> None:
    """A run with nothing to do leaves it alone; one that changed a verdict makes that trial's part anew, no other."""
    project.doit("run", "case:greeting", "agent=oracle")
    project.doit("run", "case:greeting", "agent=nop")
    page, other = project.path("results/latest/report.html"), project.path("results/latest/report-data/nop")
    stamps = [path.stat().st_mtime_ns for path in (page, *sorted(other.rglob("*.js")))]
    assert "nothing ran" in project.doit("run", "case:greeting", "agent=oracle").err
    assert stamps == [path.stat().st_mtime_ns for path in (page, *sorted(other.rglob("*.js")))]
    project.edit("cases/mini/greeting/greeting.eval", "/hello/i", "/goodbye/i")
    assert 1 == project.doit("run", "case:greeting", "agent=oracle").status
    assert "fail" == data_of(project, "oracle/greeting/trial-1")["status"]
    assert stamps[1:] == [path.stat().st_mtime_ns for path in sorted(other.rglob("*.js"))]
    page.unlink()
    assert "nothing ran" in project.doit("run", "case:greeting", "agent=oracle").err
    assert page.is_file()


def test_without_jinja2(project: MiniProject, tmp_path: Path) -> None:
    """A run does without the page, and says nothing of it; who asks for it is told what to install."""
    without_jinja2(project, tmp_path / "site")
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert (0, False) == (done.status, "jinja" in done.err.lower())
    assert not project.path("results/latest/report.html").exists()
    assert 0 == evalkit(project, "report").status
    asked = evalkit(project, "report", "--anew")
    assert 2 == asked.status
    assert "pip install 'evalkit[report]'" in asked.err


def test_it_cannot_be_written(project: MiniProject) -> None:
    """That is told, with the path; the verdicts stand."""
    project.doit("run", "case:greeting", "agent=oracle")
    page = project.path("results/latest/report.html")
    page.unlink()
    page.mkdir()
    project.edit("cases/mini/greeting/greeting.eval", "/hello/i", "/hello,/i")
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert 3 == done.status
    assert "report.html" in done.err
    assert "1 passed" in done.out


def test_a_bug_of_the_page_is_no_verdict(project: MiniProject, tmp_path: Path) -> None:
    """Should the page fail in a way that nobody foresaw, the table is printed all the same, and that is told."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "jinja2.py").write_text(
        "StrictUndefined = None\nclass Environment:\n    def __init__(self, **_):\n        raise RuntimeError('no')\n")
    project.env["PYTHONPATH"] = on_path(site)
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert 3 == done.status
    assert "report.html cannot be made: RuntimeError: no" in done.err
    assert "1 passed" in done.out


def test_the_page_is_reported_by_hand(project: MiniProject) -> None:
    """`evalkit report` says what it made, and where."""
    project.doit("run", "case:greeting", "agent=oracle")
    assert "results/latest/report.html: up to date" in evalkit(project, "report").out
    assert "results/latest/report.html: 1 trial made anew" in evalkit(project, "report", "--anew").out
    project.path("results/latest/report.html").unlink()
    assert "results/latest/report.html: written" in evalkit(project, "report").out


def test_a_trial_that_was_graded_again(project: MiniProject) -> None:
    """The page tells what it came to then, beside the run's own verdicts, which stand."""
    project.doit("run", "case:greeting", "agent=oracle")
    project.edit("cases/mini/greeting/greeting.eval", "/hello/i", "/goodbye/i")
    assert 1 == project.doit("run", "regrade:latest").status
    data = data_of(project, "oracle/greeting/trial-1")
    assert ("pass", "fail") == (data["status"], data["regraded"]["status"])
    assert [["greets", "pass", "fail", "1 of 1 not found: answer.txt"]] == data["regraded"]["changes"]


# ---- what changed while no page was made ----
SECOND = CASE.replace("case greeting", "case farewell").replace("/hello/i", "/reader/i")


def two_cases(project: MiniProject) -> None:
    """A second case, whose answer is the first one's."""
    folder = project.path("cases/mini")
    shutil.copytree(folder / "greeting", folder / "farewell")
    (folder / "farewell/greeting.eval").unlink()
    project.write("cases/mini/farewell/farewell.eval", SECOND)
    assert 0 == project.doit("run", "all", "judge=off").status


@pytest.mark.parametrize(("edited", "choice"), [(False, "agents=10"), (True, "agents=10"), (False, "trials=1")])
def test_what_changed_without_jinja2_is_shown_once_it_is_there(project: MiniProject, tmp_path: Path, choice: str, *,
                                                               edited: bool) -> None:
    """By a run that has nothing to do, and by one of another case, which finds that trial as it was.

    choice: of the run without it; with another one than before a summary that stayed the same is settled.
    """
    two_cases(project)
    before = dict(project.env)
    without_jinja2(project, tmp_path / "site")
    project.edit("cases/mini/greeting/greeting.eval", "/hello/i", "/HELLO/i")
    assert 0 == project.doit("run", "all", "judge=off", choice).status
    project.env = before
    if edited:
        project.edit("cases/mini/farewell/farewell.eval", "/reader/i", "/Reader/i")
    assert 0 == project.doit("run", "case:farewell" if choice == "trials=1" else "all", "judge=off").status
    result = json.loads(project.read("results/latest/oracle/greeting/trial-1/result.json"))
    keys = {check["key"] for check in data_of(project, "oracle/greeting/trial-1")["checks"]}
    assert {check["key"] for check in result["checks"]} == keys


def test_a_regrading_whose_page_was_not_made(project: MiniProject, tmp_path: Path) -> None:
    """As after a kill: the next run shows it, also one that found the trial as it was."""
    two_cases(project)
    project.edit("cases/mini/greeting/greeting.eval", "/hello/i", "/goodbye/i")
    before = dict(project.env)
    without_jinja2(project, tmp_path / "site")
    assert 1 == project.doit("run", "regrade:latest", "judge=off").status
    project.env = before
    project.edit("cases/mini/greeting/greeting.eval", "/goodbye/i", "/hello/i")
    project.edit("cases/mini/farewell/farewell.eval", "/reader/i", "/Reader/i")
    assert 0 == project.doit("run", "all", "judge=off").status
    assert "fail" == data_of(project, "oracle/greeting/trial-1")["regraded"]["status"]


def test_data_that_somebody_deleted(project: MiniProject) -> None:
    """A run with nothing to do makes it again: the page finds nothing without it."""
    project.doit("run", "case:greeting", "agent=oracle")
    shutil.rmtree(project.path("results/latest/report-data"))
    assert "nothing ran" in project.doit("run", "case:greeting", "agent=oracle").err
    assert "pass" == data_of(project, "oracle/greeting/trial-1")["status"]
    assert "nothing ran" in project.doit("run", "case:greeting", "agent=oracle").err
