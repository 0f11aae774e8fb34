"""Tracks, arms, hidden tests and what else makes units of a case, run through the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.feature.project import MiniProject

SUITE = """\
suite mini {
  about "Two tracks and two arms."
  arm with-notes { about "Notes are there."; starter "notes" }
  arm bare { about "Nothing is there." }
  scaffold copy "skeleton"
}
"""
CASE = """\
case dual {
  about "One spec, written twice."
  prompt \"\"\"
    Write the number.
    \"\"\"
  check exists "number.*" as there "a number is written"
  check absent "*.tmp" as tidy
  check exists "notes.txt" as noted for arm with-notes
  track py {
    check run "python3 number.py" exit 3 has "forty" lacks "Traceback" as prints
    check hidden-tests "hidden" run "python3 hidden_test.py {report}" as behaviour
    solution "right-py"
    wrong "wrong-py" fails behaviour, prints
  }
  track sh {
    check run "sh number.sh" has "forty" as prints
    solution "right-sh"
  }
}
"""
HIDDEN = """\
import json, subprocess, sys
got = subprocess.run([sys.executable, "number.py"], capture_output=True, text=True).stdout
good = got.strip() == "forty-two"
json.dump({"testResults": [{"name": "t", "assertionResults": [{"fullName": "says forty-two", "status":
    "passed" if good else "failed", "failureMessages": [] if good else ["said " + got]}]}]}, open(sys.argv[1], "w"))
sys.exit(not good)
"""


@pytest.fixture
def project(tmp_path: Any) -> MiniProject:
    made = MiniProject.make(tmp_path)
    made.write("cases/mini/suite.eval", SUITE)
    made.path("cases/mini/greeting/greeting.eval").unlink()
    made.write("cases/mini/notes/notes.txt", "A number is asked for.\n")
    made.write("cases/mini/dual/dual.eval", CASE)
    made.write("cases/mini/dual/hidden/hidden_test.py", HIDDEN)
    made.write("cases/mini/dual/right-py/number.py", "print('forty-two')\nraise SystemExit(3)\n")
    made.write("cases/mini/dual/wrong-py/number.py", "print('fifty')\nraise SystemExit(3)\n")
    made.write("cases/mini/dual/right-sh/number.sh", "echo forty-two\n")
    return made


def statuses(project: MiniProject, place: str) -> dict[str, str]:
    result = json.loads(project.read(f"results/latest/{place}/trial-1/result.json"))
    return {check["id"]: check["verdict"]["status"] for check in result["checks"]}


def test_a_case_runs_on_all_tracks_and_on_the_first_arm(project: MiniProject) -> None:
    """Units are named by track and arm; each has the checks of its track, and its own answer."""
    done = project.doit("run", "case:dual")
    assert 0 == done.status, done.err + done.out
    assert "2 passed" in done.out
    assert {"there": "pass", "tidy": "pass", "noted": "pass", "prints": "pass", "behaviour": "pass"} == statuses(
        project, "oracle/dual@py+with-notes")
    assert {"there", "tidy", "noted", "prints"} == set(statuses(project, "oracle/dual@sh+with-notes"))
    assert {} == project.doit("run", "case:dual").ran


def test_units_are_chosen_by_name_track_and_arm(project: MiniProject) -> None:
    """A unit by its own name, whatever its arm; `track` and `arm` narrow or widen a case."""
    assert 0 == project.doit("run", "case:dual@sh+bare").status
    assert {"dual@sh+bare"} == {path.name for path in project.path("results/latest/oracle").iterdir()}
    assert "skipped" == statuses(project, "oracle/dual@sh+bare")["noted"]
    assert 0 == project.doit("run", "case:dual", "arm=all", "track=py").status
    assert {"dual@sh+bare", "dual@py+bare", "dual@py+with-notes"} == {
        path.name for path in project.path("results/latest/oracle").iterdir()}
    summary = json.loads(project.read("results/latest/summary.json"))
    assert {"pass": 3, "fail": 0, "contaminated": 0, "error": 0, "not run": 0} == summary["counts"]


@pytest.mark.parametrize(("choice", "said"), [
    ("track=pyy", "no case has the track `pyy`\n  did you mean `py`?"),
    ("arm=bear", "no case has the arm `bear`\n  did you mean `bare`?"),
])
def test_a_track_or_an_arm_that_nobody_has(project: MiniProject, choice: str, said: str) -> None:
    """A mistake, with the near one."""
    done = project.doit("run", "case:dual", choice)
    assert 2 == done.status
    assert said in done.err


def test_a_wrong_answer_of_a_track(project: MiniProject) -> None:
    """The evidence of hidden tests is what failed; a track without that answer is told."""
    done = project.doit("run", "case:dual@py+bare", "agent=wrong:wrong-py")
    assert 1 == done.status, done.err
    assert "failed: says forty-two" in done.out
    assert "its output lacks what it should have" in done.out
    missing = project.doit("run", "case:dual@sh+bare", "agent=wrong:wrong-py")
    assert 2 == missing.status
    assert "has no wrong answer `wrong-py`" in missing.err


def test_hidden_tests_are_an_input_of_their_check_alone(project: MiniProject) -> None:
    """An edited hidden test grades again; the agent and the other checks do not run."""
    project.doit("run", "case:dual@py+bare")
    project.edit("cases/mini/dual/hidden/hidden_test.py", "says forty-two", "says exactly forty-two")
    assert {"grade behaviour", "report", "result"} >= set(project.doit("run", "case:dual@py+bare").ran) > set()


def test_what_the_engine_cannot_run_is_told_before_any_work(project: MiniProject) -> None:
    """A case that asks for more than the agent does is refused, not measured wrongly; its answer can be played."""
    project.edit("cases/mini/suite.eval", "  scaffold copy", "  temperature 0.2\n  scaffold copy")
    project.env["AI_GATEWAY_API_KEY"] = "vck_dummy-key-of-a-test"
    done = project.doit("run", "case:dual")
    assert 2 == done.status
    assert "asks agent `claude` for what this evalkit cannot do: `temperature`" in done.err
    assert 0 == project.doit("run", "case:dual", "agent=oracle").status
