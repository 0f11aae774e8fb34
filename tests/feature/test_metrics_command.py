"""`evalkit metrics`: over a run whose transcripts were written by hand, on both tracks of a case."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from evalkit.report.schemas import PRINTED, RECORDS, schema
from evalkit.report.summary import TrialSummary, line_text, summary_text
from tests.feature.asked import Asked
from tests.feature.project import MiniProject
from tests.unit.report.metrics_transcripts import Written, bash, write
from tests.unit.report.test_golden import compare
from tests.unit.report.test_metrics_work import on_ts, on_zig

SUITE = r"""
suite native {
  profile core { scaffold copy "skeleton" }
  profile app { scaffold copy "skeleton" }
  metrics ts {
    profiles   core
    compliance "sh check.sh", "native check", "native test", "native build"
    sources    "src/**/*.ts", "src/**/*.native"
    diagnostic teaching /\berror (?<rule>NS\d{4})\b/ as "{rule}"
    diagnostic /^\S+:\d+:\d+ (?<rule>TS\d{4,5})\b/ as "{rule}"
    share markup "src/**/*.native"
  }
  metrics zig {
    profiles   app
    compliance "native test", "native build"
    sources    "src/**/*.zig"
    diagnostic /\berror: .*\bno .*named '(?<member>\w+)'/ as "no member named {member}"
  }
}
"""
CASE = '''
case feed {
  prompt """
    Make it.
    """
  track ts { use core }
  track zig { use app }
  check exists "src"
}
'''


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(capsys, monkeypatch)


@pytest.fixture
def made(project: MiniProject) -> MiniProject:
    """Two trials on ts, of which one has all traps, one on zig that is never green, and four that tell nothing."""
    project.write("cases/native/suite.eval", SUITE)
    project.write("cases/native/feed.eval", CASE)
    project.write("cases/native/skeleton/README.md", "Read.\n")
    trials = [
        a_trial(project, "feed@ts", 1, on_ts(), tokens={"input": 1000, "output": 200}, cost=0.25),
        a_trial(project, "feed@ts", 2, Written().turn(write("src/core.ts", "a\n" * 30)).turn(bash("sh check.sh")).end(),
                cost=0.15),
        a_trial(project, "feed@zig", 1, on_zig(), status="fail"),
        a_trial(project, "feed@zig", 2, None), a_trial(project, "feed@zig", 3, on_zig(), status="contaminated"),
        a_trial(project, "gone", 1, on_zig()), a_trial(project, "greeting", 1, on_zig(), suite="mini"),
    ]
    project.write("results/latest/summary.json", summary_text(
        "latest", [trial.status for trial in trials], map(line_text, trials)).decode())
    return project


def a_trial(project: MiniProject, unit: str, number: int, transcript: Written | None, *, status: Any = "pass",
            suite: str = "native", tokens: dict[str, int] | None = None, cost: float | None = None) -> TrialSummary:
    place = f"claude/m/{unit}/trial-{number}"
    if transcript is not None:
        transcript.write(project.path(f"results/latest/{place}/transcript.jsonl"))
    return TrialSummary(
        place=place, case=unit.partition("@")[0], unit=unit, suite=suite, agent="claude", model="m", trial=number,
        lane="local", self_check=False, note="", dry=False, status=status, reason="", checks={}, judge=(), turns=None,
        cost=cost, seconds=1.0, ended="completed", tokens=tokens or {})


def test_a_run_on_both_tracks(made: MiniProject, asked: Asked) -> None:
    """What each trial comes to is told in test_metrics_work.py; here they are put together."""
    text = asked(made, "metrics")
    assert "written: results/latest/authoring-metrics.json" in text
    data = json.loads(made.read("results/latest/authoring-metrics.json"))
    jsonschema.validate(data, schema(RECORDS["authoring-metrics"]), cls=jsonschema.Draft202012Validator)
    group, = data["groups"]
    ts, zig = (track["figures"] for track in group["tracks"])
    assert ("claude m", ["ts", "zig"]) == (group["subject"], [track["track"] for track in group["tracks"]])
    # 1 of 2 at once; 2 and 0 retries; 2 and 0 teaching; turns 9 and 2, then 2 and 1; 1,200 tokens, and 3 x 15
    assert [0.5, 1.0, 1.0, 5.5, 1.5, 622.5, 0.2, 1.0] == [ts[name]["value"] for name in (
        "first_pass", "retries_to_green", "teaching", "turns_to_green", "tail", "tokens", "cost", "success")]
    # 10 and 30 lines, of which 4 are markup; 3 violations of 40 lines
    assert (40, {"markup": 0.1}, 75.0) == (ts["lines"], ts["shares"], ts["all_per_1000"])
    assert {"NS1004": 25.0, "NS1010": 25.0, "TS2322": 25.0} == ts["per_1000"]
    assert (1, 1, {"refused": 1, "compound without a diagnostic": 1}) == (
        ts["unexplained"], ts["before_edit"], ts["dropped"])
    # 2 violations of 7 lines
    assert (0.0, 0.0, None, 1, 7, {"no member named append": 2}) == (
        zig["success"]["value"], zig["first_pass"]["value"], zig["retries_to_green"], zig["never_green"], zig["lines"],
        zig["violations"])
    pair, = group["pairs"]
    apart = {measure["name"]: measure["difference"]["value"] for measure in pair["measures"]}
    assert ("ts", "zig", ["feed"]) == (pair["a"], pair["b"], pair["cases"])
    assert (-1.0, -0.5, pytest.approx(2000 / 7 - 75, abs=0.01)) == (
        apart["success"], apart["first_pass"], apart["violations_per_1000"])
    assert "retries_to_green" not in apart  # zig has none
    assert {"claude/m/feed@zig/trial-2": "it left no transcript", "claude/m/feed@zig/trial-3": "it is contaminated",
            "claude/m/gone/trial-1": "its unit is not in the project any more",
            "claude/m/greeting/trial-1": "suite mini declares no metrics for profile `note`"} == data["left_out"]
    compare("metrics.txt", text)
    assert [] == [line for line in text.splitlines() if len(line) > 80]


def test_what_is_declared_now_counts(made: MiniProject, asked: Asked) -> None:
    """No agent runs again: the transcripts are read by the suite's file as it is. `--json` prints what is written."""
    made.edit("cases/native/suite.eval", '"sh check.sh", "native check", "native test", "native build"',
              '"native test"')
    data = json.loads(asked(made, "metrics", "latest", "--json"))
    jsonschema.validate(data, schema(PRINTED["metrics"]), cls=jsonschema.Draft202012Validator)
    figures = data["runs"][0]["groups"][0]["tracks"][0]["figures"]
    assert ({"NS1010": 1}, 1, 1) == (figures["violations"], figures["never_green"], figures["unchecked"])
    written = json.loads(made.read("results/latest/authoring-metrics.json"))
    assert data["runs"] == [{name: value for name, value in written.items() if name != "schema"}]


def test_a_transcript_without_a_reply(made: MiniProject, asked: Asked) -> None:
    """An empty or wholly unreadable one is no trial of 0 turns: such would draw the means down."""
    place = "claude/m/feed@ts/trial-2"
    for text in ("", "no JSON\n[]\nnull\n"):
        made.write(f"results/latest/{place}/transcript.jsonl", text)
        data = json.loads(asked(made, "metrics", "--json"))["runs"][0]
        assert "no reply of the agent is in its transcript" == data["left_out"][place]
        assert (1, 11.0) == (data["groups"][0]["tracks"][0]["figures"]["trials"],
                             data["groups"][0]["tracks"][0]["figures"]["turns"]["value"])


@pytest.mark.parametrize(("trial", "told"), [("{}", "its trial 1 has no place"), ("5", "not a mapping")])
@pytest.mark.parametrize("command", [("metrics",), ("compare", "latest", "latest")])
def test_a_damaged_summary(made: MiniProject, asked: Asked, command: tuple[str, ...], trial: str, told: str) -> None:
    """It is named, with what writes it again; a line without its fields was told as evalkit's own bug."""
    made.write("results/latest/summary.json", f'{{"schema": 1, "trials": [{trial}]}}')
    said = asked(made, *command, status=2)
    assert told in said
    assert "doit run report:latest" in said


def test_what_cannot_be_told(project: MiniProject, made: MiniProject, asked: Asked) -> None:
    """A run that is not there, one that is no name, and a project that declares nothing."""
    assert "there is no run `nope`" in asked(made, "metrics", "nope", status=2)
    assert "there is no run `../x`" in asked(made, "metrics", "../x", status=2)
    assert "there is no run ``" in asked(made, "metrics", "", status=2)
    asked(made, "metrics", "latest", "nope", status=2)
    assert not made.path("results/latest/authoring-metrics.json").exists()  # all or nothing
    made.path("cases/native/suite.eval").unlink()
    made.path("cases/native/feed.eval").unlink()
    assert "declares metrics" in asked(project, "metrics", status=2)
