"""`doit run regrade:RUN`: stored trials under the checks as they stand now."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.project import Done, MiniProject, fake_claude
from tests.unit.execute.transcripts import Transcript

EVAL = "cases/mini/greeting/greeting.eval"
TRIAL = "results/latest/oracle/greeting/trial-1"
COMMAND = ("run", "regrade:latest")


def regrade(project: MiniProject, *args: str) -> Done:
    return project.doit(*COMMAND, *args)


@pytest.fixture
def ran(project: MiniProject) -> MiniProject:
    """A project whose reference answer was graded."""
    assert 0 == project.doit("run", "case:greeting", "agent=oracle").status
    return project


def grades(project: MiniProject, trial: str = TRIAL) -> dict[str, dict[str, Any]]:
    return {grade["check"]: grade for grade in json.loads(project.read(f"{trial}/regrade.json"))["grades"]}


def tree_of(folder: Path) -> dict[str, bytes]:
    """Without what tells of the regrading: its own file, and the page's data."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "regrade.json" and "report-data" not in path.parts}


def test_nothing_changed(ran: MiniProject) -> None:
    """Every verdict still holds; what is there stays as it was; no workspace is scaffolded."""
    shutil.rmtree(ran.path(".evalkit/store/workspace"))
    before = tree_of(ran.path("results"))
    done = regrade(ran)
    assert 0 == done.status, done.err
    assert "1 trial of latest: 5 verdicts, 0 changed, 5 unchanged\n0 verdicts graded anew, 5 still" in done.out
    assert before == tree_of(ran.path("results"))
    assert not ran.path(".evalkit/store/workspace").exists()


def test_only_the_changed_check_is_graded(ran: MiniProject) -> None:
    """A pattern's edit grades that check alone, beside the old verdicts; the next time it holds."""
    result = ran.read(f"{TRIAL}/result.json")
    ran.edit(EVAL, "/hello/i as greets", '"Good day" as greets')
    done = regrade(ran)
    assert 1 == done.status
    assert done.out.splitlines()[:8] == [
        "oracle, local lane",
        "case      #  check    verdict",
        "greeting  1  greets   pass → fail",
        '    check changed: "Good day": not found in 1 file',
        "greeting  1  (trial)  pass → fail",
        "    failed: greets",
        "",
        "1 trial of latest: 5 verdicts, 1 changed, 4 unchanged"]
    assert done.out.splitlines()[-2:] == ["before: 1 passed (100.0 %)", "after:  0 passed, 1 failed (0.0 %)"]
    assert result == ran.read(f"{TRIAL}/result.json")
    assert "0 verdicts graded anew" in regrade(ran).out
    ran.edit(EVAL, '"Good day" as greets', "/hello/i as greets")
    done = regrade(ran)
    assert (0, True) == (done.status, "0 changed, 5 unchanged\n0 verdicts graded anew" in done.out)


def test_new_and_removed_checks(ran: MiniProject) -> None:
    """A new check has no old verdict; of one that is gone the old verdict is told."""
    ran.edit(EVAL, '  check grep "answer.txt" lacks "TODO" as finished\n', '  check exists "answer.txt" as there\n')
    done = regrade(ran)
    assert 0 == done.status
    assert "greeting  1  there     - → pass" in done.out
    assert "    new check: answer.txt: answer.txt" in done.out
    assert "greeting  1  finished  pass → -" in done.out
    assert "    check is gone" in done.out


def test_choices(ran: MiniProject) -> None:
    """Beginnings of cases' names, ids of checks; what is meant by none is an error with a hint."""
    ran.edit(EVAL, "/hello/i as greets", '"Good day" as greets')
    ran.edit(EVAL, 'lacks "TODO" as finished', 'lacks "reader" as finished')
    done = regrade(ran, "check=finished")
    assert "finished  pass → fail" in done.out
    assert "greets" not in done.out.replace("failed: finished", "")
    for args, said in (("case=other",), "has no trial of a case whose name begins with `other`"), (
            ("check=finishd",), "no case of these has the check `finishd`"):
        done = regrade(ran, *args)
        assert (2, True) == (done.status, said in done.err), done.err
    assert "did you mean `finished`" in done.err
    assert 1 == regrade(ran, "case=gree,x", "check=finished,greets").status
    for run in ("latst", "..", "../results/latest"):
        done = ran.doit("run", f"regrade:{run}")
        assert (2, True) == (done.status, f"there is no run `{run}`" in done.err), done.err


def test_commands_run_again(ran: MiniProject) -> None:
    """Checks that run commands are graded in copies of the stored tree, from the archive beside the result."""
    shutil.rmtree(ran.path(".evalkit/store"))
    ran.edit(EVAL, 'check run "sh check.sh" as own', 'check run "grep -q reader answer.txt" as own')
    ran.edit(EVAL, 'case greeting {', 'case greeting {\n  check run "test -e nowhere" as gone')
    done = regrade(ran)
    assert 1 == done.status
    assert "gone" in done.out
    assert "- → fail" in done.out
    assert "pass" == grades(ran)["own"]["verdict"]["status"]
    assert "archive" == json.loads(ran.read(f"{TRIAL}/regrade.json"))["tree"]
    assert not ran.path(".evalkit/store/agent").exists()


def test_a_unit_that_is_gone(ran: MiniProject) -> None:
    """It is said, and keeps its verdicts; the other trials are regraded."""
    ran.write("cases/mini/other/other.eval", ran.read(EVAL).replace("case greeting", "case other").replace(
        '"', '"../greeting/', 0))
    for folder in ("starter", "solution", "wrong"):
        shutil.copytree(ran.path(f"cases/mini/greeting/{folder}"), ran.path(f"cases/mini/other/{folder}"))
    assert 0 == ran.doit("run", "case:other", "agent=oracle").status
    shutil.rmtree(ran.path("cases/mini/other"))
    done = regrade(ran)
    assert 0 == done.status
    assert "note: there is no `other` any more: it keeps its old verdicts" in done.out
    assert "1 trial of latest" in done.out
    assert not ran.path("results/latest/oracle/other/trial-1/regrade.json").exists()


def test_a_damaged_trial(ran: MiniProject) -> None:
    """It is said, the rest goes on, and the status tells that not all could be graded."""
    assert 1 == ran.doit("run", "case:greeting", "agent=nop").status
    ran.write("results/latest/nop/greeting/trial-1/result.json", "{")
    done = regrade(ran)
    assert 3 == done.status
    assert "note: latest/nop/greeting/trial-1 cannot be graded:" in done.out
    assert "1 trial of latest" in done.out


def test_a_threshold(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """A judge's threshold costs no call; its kept answer serves a regrading without a key as well."""
    project, gateway = judged
    assert 0 == project.doit("run", "case:greeting").status
    asked = len(gateway.requests)
    project.edit(EVAL, "pass at 6, advisory", "pass at 9")
    del project.env["AI_GATEWAY_API_KEY"]
    shutil.rmtree(next(project.path("results").rglob("judge")))
    done = regrade(project)
    assert 1 == done.status, done.err
    assert "tone" in done.out
    assert "8.0 of 10 (wanted 9)" in done.out
    assert asked == len(gateway.requests)


def test_a_judge_is_asked_where_it_can_be(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """A new criterion asks the judge and no agent; without a key it is told that nobody was asked."""
    project, gateway = judged
    assert 0 == project.doit("run", "case:greeting").status
    project.edit(EVAL, "It is friendly.", "It is very friendly.")
    key = project.env.pop("AI_GATEWAY_API_KEY")
    done = regrade(project)
    assert "tone   pass → skipped" in done.out
    asked = len(gateway.requests)
    project.env["AI_GATEWAY_API_KEY"] = key
    done = regrade(project)
    assert 0 == done.status
    assert "0 changed" in done.out
    assert asked + 1 == len(gateway.requests)


# ---- from transcripts ----
def store_transcript(project: MiniProject, lines: Transcript, number: int = 1) -> str:
    place = f"results/old/claude/some%2Fmodel/greeting/trial-{number}"
    lines.save(project.path(place))
    return place


def test_an_old_run_that_has_only_transcripts(project: MiniProject) -> None:
    """The tree is rebuilt over the unit's workspace; commands run in it; there is no verdict from before."""
    place = store_transcript(project, Transcript().write("answer.txt", "Hello.\n").bash("sh check.sh; ls").end())
    done = project.doit("run", "regrade:old")
    assert 0 == done.status, done.out + done.err
    assert "claude some/model, local lane" in done.out
    assert "greeting  1  own        - → pass" in done.out
    record = json.loads(project.read(f"{place}/regrade.json"))
    assert ("transcript", "pass") == (record["tree"], record["status"])
    assert {"own": "pass", "greets": "pass", "finished": "pass", "not-empty": "pass", "tone": "skipped"} == {
        name: grade["verdict"]["status"] for name, grade in grades(project, place).items()}
    again = project.doit("run", "regrade:old")
    assert "0 changed, 5 unchanged\n0 verdicts graded anew" in again.out


def test_what_cannot_be_rebuilt_is_an_error_of_the_checks_that_read_it(project: MiniProject) -> None:
    """Others are graded; what is doubtful is said per file."""
    lines = Transcript().write("answer.txt", "Hello.\n").write("other.txt", "x").bash("sed -i s/x/y/ other.txt")
    place = store_transcript(project, lines.end("error_max_turns"))
    done = project.doit("run", "regrade:old")
    assert 3 == done.status
    assert {"own": "error", "greets": "pass", "finished": "pass", "not-empty": "error", "tone": "skipped"} == {
        name: grade["verdict"]["status"] for name, grade in grades(project, place).items()}
    why = "a shell command may have written it (line 6: sed -i s/x/y/ other.txt)"
    assert f"its file other.txt cannot be rebuilt: {why}" == grades(project, place)["own"]["verdict"]["summary"]
    said = " ".join(done.out.split())
    assert f"note: old/claude/some%2Fmodel/greeting/trial-1: other.txt cannot be rebuilt: {why}" in said
    assert "capped" == json.loads(project.read(f"{place}/regrade.json"))["ending"]["status"]


def test_a_result_whose_tree_is_lost(ran: MiniProject) -> None:
    """It is said; with a transcript the tree is rebuilt, byte for byte, so that every verdict still holds."""
    shutil.rmtree(ran.path(".evalkit/store"))
    ran.path(f"{TRIAL}/workspace.tar.zst").unlink()
    done = regrade(ran)
    assert 3 == done.status
    assert "note: latest/oracle/greeting/trial-1 cannot be graded: it has neither a tree nor" in done.out
    Transcript().write("answer.txt", "Hello, reader.\n").save(ran.path(TRIAL))
    done = regrade(ran)
    assert 0 == done.status
    assert "5 verdicts, 0 changed, 5 unchanged\n0 verdicts graded anew" in done.out


def test_a_damaged_archive(ran: MiniProject) -> None:
    """What is wrong with it is said, and the transcript serves instead."""
    shutil.rmtree(ran.path(".evalkit/store/agent"))
    ran.write(f"{TRIAL}/workspace.tar.zst", "no archive")
    Transcript().write("answer.txt", "Hello, reader.\n").save(ran.path(TRIAL))
    done = regrade(ran)
    assert 0 == done.status
    assert "note: latest/oracle/greeting/trial-1: cannot read" in done.out


# ---- interrupted ----
@pytest.fixture
def slow(project: MiniProject) -> Iterator[tuple[MiniProject, subprocess.Popen[str]]]:
    """A regrading of eight trials at work, each with a command that takes half a second."""
    place = store_transcript(project, Transcript().write("answer.txt", "Hello.\n"))
    for number in range(2, 9):
        shutil.copytree(project.path(place), project.path(place).with_name(f"trial-{number}"))
    project.edit(EVAL, 'check run "sh check.sh" as own', 'check run "sleep 0.517" as own')
    env = {**os.environ, "EVALKIT_CACHE": str(project.root.parent / "cache"),
           "EVALKIT_WORK": str(project.root.parent / "work"), **project.env}
    process = subprocess.Popen([sys.executable, "-m", "doit", "run", "regrade:old"], cwd=project.root, env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until = time.monotonic() + 60
    while not list(project.path("results").rglob("regrade.json")) and time.monotonic() < until:
        time.sleep(0.02)
    yield project, process
    process.kill()
    process.communicate()


def whole(project: MiniProject) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in project.path("results").rglob("regrade.json")]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_regrading_is_taken_up(slow: tuple[MiniProject, subprocess.Popen[str]], number: signal.Signals,
                                              status: int) -> None:
    """What was written is whole and is not graded again; no command goes on."""
    project, process = slow
    process.send_signal(number)
    process.communicate(timeout=20)
    assert status == process.returncode
    done = whole(project)
    assert 0 < len(done) < 8
    again = project.doit("run", "regrade:old")
    assert 8 == len(whole(project))
    assert f"{5 * (8 - len(done))} verdicts graded anew, {5 * len(done)} still hold" in " ".join(again.out.split())
    assert "0.517" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_no_agent_is_needed(project: MiniProject, tmp_path: Path) -> None:
    """A run of an agent is regraded where neither its program nor a key is left."""
    program, count = fake_claude(tmp_path / "fake")
    with ScriptedGateway([]) as gateway:
        how = {"AI_GATEWAY_API_KEY": "vck_dummy-dummy-dummy", "EVALKIT_GATEWAY": gateway.url,
               "EVALKIT_CLAUDE": str(program)}
        project.env |= how
        assert 0 == project.doit("run", "case:greeting", "agent=claude", "trials=2", "judge=off").status
    for name in how:
        del project.env[name]
    program.unlink()
    project.edit(EVAL, "/hello/i as greets", '"Hello." as greets')
    done = regrade(project)
    assert 0 == done.status, done.err
    assert "2 trials of latest" in done.out
    assert ["run"] * 2 == count.read_text().split()


def test_choices_that_mean_nothing_are_mistakes(ran: MiniProject) -> None:
    """A regrading takes trials as they were run; a run takes cases by their names."""
    done = regrade(ran, "agent=nop")
    assert 2 == done.status
    assert "`agent` means nothing to regrade" in done.err
    done = ran.doit("run", "case:greeting", "check=own")
    assert (2, "error: `check` is a choice of regrade\n  doit run case:NAME takes cases by name\n") == (
        done.status, done.err)


def test_what_is_no_run_is_told_with_the_runs(ran: MiniProject) -> None:
    """Also where its name leads out of the results."""
    done = ran.doit("run", "regrade:..")
    assert 2 == done.status
    assert "known here: `latest`" in done.err
