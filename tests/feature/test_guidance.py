"""Single answers on several arms, from the command line: lists of arms, judges on request, `evalkit arms`, proofs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.feature.project import Done, MiniProject

SUITE = """\
suite mini {
  profile app {
    use agent api
    answer "a.py" over template "skeleton"
    check exists "a.py" as there
    judge "fit" as fit { files "a.py"; criterion "It fits."; on request }
  }
  arm with    { }
  arm without { guidance none }
  arm third   { guidance none; contract none }
}
"""
CASE = """\
case answer {
  use app
  prompt "PROMPT.md"
  guidance "guide.md"
  score code as code { apis "m#run"; pass at 1 }
  solution "solution"
  wrong "wrong/other" fails code
}
"""
SCRIPT = {"script": 1, "rules": [
    {"when": {"tools": "record_scores"},
     "reply": {"calls": [{"name": "record_scores", "input": {"scores": [
         {"criterion": 1, "score": 7, "reason": "It does."}]}}]}},
    {"when": {"system": "Run it"}, "reply": "```python\nimport m\nm.run()\n```"},
    {"reply": "```python\nimport m\nm.start()  # m.run()\n```"}]}
PLAYED = "gateway=scripts/model.yaml"


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    made = MiniProject.make(tmp_path)
    for old in made.root.glob("cases/**/*.eval"):
        old.unlink()
    for name, text in {"suite.eval": SUITE, "answer/answer.eval": CASE, "answer/PROMPT.md": "Write a.py.\n",
                       "answer/guide.md": "# Guide\n\n## Use\n\nRun it.\n", "skeleton/a.py": "",
                       "answer/solution/a.py": "import m\nm.run()\n",
                       "answer/wrong/other/a.py": "'''m.run()'''\n"}.items():
        made.write(f"cases/mini/{name}", text)
    made.write("scripts/model.yaml", json.dumps(SCRIPT))
    return made


def evalkit(project: MiniProject, *args: str) -> Done:
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", *args], cwd=project.root, env=project.environ,
                          capture_output=True, text=True, check=False, timeout=120)
    return Done(done.returncode, done.stdout, done.stderr)


def test_arms_of_a_list(project: MiniProject) -> None:
    """Those that are named run, side by side; an unknown one among them is a mistake."""
    done = project.doit("run", "case:answer", "arm=with,third", PLAYED, "trials=2")
    assert 1 == done.status, done.err
    lines = json.loads(project.path("results/latest/summary.json").read_bytes())["trials"]
    assert [("answer+third", 0.0)] * 2 + [("answer+with", 1.0)] * 2 == sorted(
        (line["unit"], line["measures"]["code"]["composite"]) for line in lines)
    done = project.doit("run", "case:answer", "arm=with,other", PLAYED)
    assert 2 == done.status
    assert "no case has the arm `other`" in done.err


def test_a_summary_of_arms(project: MiniProject) -> None:
    """Written beside the results, with the first arm as the one that others are compared with."""
    project.doit("run", "case:answer", "arm=with,third", PLAYED, "trials=2")
    done = evalkit(project, "arms")
    assert 0 == done.status, done.err
    assert "| composite | 1.00 | 0.00 | +1.00 |" in done.out
    assert "written: results/latest/arms.md" in done.out
    assert project.path("results/latest/arms.md").read_text() in done.out
    assert not project.path("results/latest/plots").exists()
    assert "| composite | 0.00 | 1.00 | -1.00 |" in evalkit(project, "arms", "--base", "third").out


def test_nothing_to_sum_up(project: MiniProject) -> None:
    """A run that there is not, one of known answers alone, and an arm that nobody ran on."""
    assert 2 == evalkit(project, "arms", "other").status
    project.doit("run", "case:answer", "agent=oracle")
    done = evalkit(project, "arms")
    assert 2 == done.status
    assert "run `latest` has no trial of a model on an arm" in done.err
    project.doit("run", "case:answer", PLAYED)
    assert 2 == evalkit(project, "arms", "--base", "nowhere").status


def test_a_judge_on_request(project: MiniProject) -> None:
    """It is not asked where a model could be, unless somebody says so."""
    done = project.doit("run", "case:answer", PLAYED)
    assert "it judges on request alone: judge=on" in done.out
    done = project.doit("run", "case:answer", PLAYED, "judge=on")
    assert "7.0" in done.out


def test_a_proof_runs_a_known_answer_once(project: MiniProject) -> None:
    """For arms that change only what an agent reads it would be the same thing again."""
    done = evalkit(project, "check", "--prove")
    assert 0 == done.status, done.out
    assert "answer+with: proven" in done.out
    assert "1 of 1 proven" in done.out
