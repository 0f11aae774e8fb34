"""`check transcript` in a run and when a run is regraded."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from tests.feature.asked import Asked
from tests.feature.project import MiniProject
from tests.unit.execute.transcripts import Transcript

EVAL = "cases/mini/greeting/greeting.eval"


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(capsys, monkeypatch)


@pytest.fixture
def project(project: MiniProject) -> MiniProject:
    """A case with checks of what the agent did."""
    project.edit(EVAL, '  judge "tone"', '  check transcript has "sh check.sh" as checked\n'
                 '  check transcript lacks /^shell: .*git push/ as no-push\n  judge "tone"')
    return project


def verdicts(project: MiniProject, place: str) -> dict[str, dict[str, Any]]:
    """The verdicts of a regraded trial."""
    return {grade["check"]: grade["verdict"] for grade in json.loads(project.read(f"{place}/regrade.json"))["grades"]}


@pytest.mark.parametrize("agent", ["oracle", "nop", "wrong:rude"])
def test_a_known_answer_is_skipped(project: MiniProject, agent: str) -> None:
    """It has no transcript, and neither passes nor fails for that; a second run has nothing to do."""
    done = project.doit("run", "case:greeting", f"agent={agent}")
    assert (0 if agent == "oracle" else 1) == done.status, done.err
    place = next(project.path("results/latest").rglob("checked.json"))
    found = json.loads(place.read_text())
    who = "an agent that does nothing" if agent == "nop" else "a known answer"
    assert ("skipped", f"{who} has no transcript") == (
        found["verdict"]["status"], found["verdict"]["summary"])
    assert {} == project.doit("run", "case:greeting", f"agent={agent}").ran


def test_proofs_stand(project: MiniProject, asked: Asked) -> None:
    """The case is proven by its other checks; that these were not graded is remarked."""
    assert "remark: `checked` was not graded here" in asked(project, "check", "--prove", "greeting")


def test_a_run_is_graded_by_what_its_transcript_tells(project: MiniProject) -> None:
    """An old transcript is played, and looked into; regrading finds that its verdicts hold."""
    lines = Transcript().write("answer.txt", "Hello.\n").bash("sh check.sh; ls").end()
    lines.save(project.path("old"))
    done = project.doit("run", "case:greeting", "agent=replay:old/transcript.jsonl")
    assert 0 == done.status, done.out + done.err
    place = next(project.path("results/latest").rglob("checked.json"))
    assert '"sh check.sh": line 4, Bash: shell: sh check.sh; ls' == json.loads(place.read_text())["verdict"]["evidence"]
    done = project.doit("run", "regrade:latest")
    assert "0 changed, 7 unchanged\n0 verdicts graded anew" in done.out, done.out + done.err
    shutil.rmtree(project.path(".evalkit/store"))  # the copy beside the result is the same
    done = project.doit("run", "regrade:latest")
    assert "0 changed, 7 unchanged\n0 verdicts graded anew" in done.out, done.out + done.err
    project.edit(EVAL, 'has "sh check.sh"', 'has "make test"')
    done = project.doit("run", "regrade:latest")
    assert 1 == done.status
    assert "1 verdict graded anew" in done.out
    assert "checked  pass → fail" in done.out


def test_regrading_an_old_run_looks_into_its_transcript(project: MiniProject) -> None:
    """Also where nothing but that is left; a transcript that changed is looked into again."""
    lines = Transcript().write("answer.txt", "Hello.\n").bash("sh check.sh; ls")
    place = "results/old/claude/m/greeting/trial-1"
    lines.end().save(project.path(place))
    done = project.doit("run", "regrade:old")
    assert 0 == done.status, done.out + done.err
    assert ["pass", "pass"] == [verdicts(project, place)[name]["status"] for name in ("checked", "no-push")]
    lines.bash("ls; git push", error=True).save(project.path(place))
    project.doit("run", "regrade:old")
    assert "fail" == verdicts(project, place)["no-push"]["status"]


def test_a_gap_is_no_pass(project: MiniProject) -> None:
    """The check is an error, and the exit status that of a harness that could not tell."""
    lines = Transcript().write("answer.txt", "Hello.\n").bash("sh check.sh; ls").end()
    lines.lines.append('{"type":"assistant","message":{"content":[{"type":"tool_use",,,')
    place = "results/old/claude/m/greeting/trial-1"
    lines.save(project.path(place))
    assert 3 == project.doit("run", "regrade:old").status
    found = verdicts(project, place)
    assert ("pass", "error") == (found["checked"]["status"], found["no-push"]["status"])
    assert "the transcript does not tell all: line 7: it is damaged" in found["no-push"]["summary"]
