"""`evalkit check --prove`: known answers, and what they prove."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.feature.project import MiniProject

CASE = "cases/mini/greeting/greeting.eval"


def prove(project: MiniProject, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EVALKIT_CACHE": str(project.root.parent / "cache"),
           "EVALKIT_WORK": str(project.root.parent / "work")}
    return subprocess.run([sys.executable, "-m", "evalkit.cli", "check", "--prove", *args], cwd=project.root, env=env,
                          capture_output=True, text=True, check=False, timeout=120)


def test_a_sound_case_is_proven(project: MiniProject) -> None:
    """The right answer passes, nothing fails, the wrong one is caught; what nothing tests is remarked."""
    done = prove(project, "greeting")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert done.stdout.endswith("""\
greeting: proven
             oracle  nop  wrong:rude
  own        ✓       ✗    -
  greets     ✓       ✗    ✗ must fail
  finished   ✓       ✗    -
  not-empty  ✓       ✓    -
  remark: no known answer fails `not-empty`: nothing shows that it rejects anything

1 of 1 proven
"""), done.stdout
    assert "" == prove(project).stderr, "the second proof does nothing, and says so by silence"


def test_a_full_proof_crosses_all(project: MiniProject) -> None:
    """Wrong answers are graded by every check; what the shorter proof graded is not graded again."""
    prove(project, "greeting")
    done = prove(project, "--prove=full", "greeting")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "  own        ✓       ✗    ✓\n  greets     ✓       ✗    ✗ must fail\n" in done.stdout
    assert "not-empty  ✓       ✓    ✓\n" in done.stdout
    ran = [line for line in done.stderr.splitlines() if "grade:" in line]
    assert 3 == len(ran), done.stderr
    assert all("wrong" in line and ":greets" not in line for line in ran)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("fails greets", "fails own", "not so: wrong answer `rude` passes `own`, which must fail it"),
    ('"sh check.sh"', '"test -f nothing"', "not so: the reference answer does not pass: failed: own"),
])
def test_a_case_that_is_not_sound(project: MiniProject, old: str, new: str, said: str) -> None:
    """What is not as it should be is said, with status 1."""
    project.edit(CASE, old, new)
    done = prove(project)
    assert 1 == done.returncode, done.stderr
    assert "greeting: not proven" in done.stdout
    assert said in done.stdout
    assert "0 of 1 proven" in done.stdout


HIDDEN = """case greeting {
  use note
  prompt \"\"\"
    Do.
    \"\"\"
  check hidden-tests "hidden" run "sh hidden.sh {report}" as hidden
  solution "solution"
  wrong "wrong/rude" fails hidden WRONG
}
"""
REPORTS = """grep -q hello greeting.txt && a=passed || a=failed
test -f greeting.txt && b=passed || b=failed
echo "{\\"testResults\\": [{\\"assertionResults\\": [{\\"fullName\\": \\"greets\\", \\"status\\": \\"$a\\"},
  {\\"fullName\\": \\"is there\\", \\"status\\": \\"$b\\"}]}]}" > "$1"
test $a$b = passedpassed
"""


@pytest.mark.parametrize(("named", "said"), [
    ('"greets"', "greeting: proven"),
    ('"is there"', "not so: wrong answer `rude` does not fail the test `is there` of `hidden`\n"
                   "  not so: wrong answer `rude` fails the test `greets` of `hidden` too\n"),
    ('"greets", "is there"', "not so: wrong answer `rude` does not fail the test `is there` of `hidden`\n"),
])
def test_a_wrong_answer_fails_the_tests_that_it_names(project: MiniProject, named: str, said: str) -> None:
    """These, and no others."""
    folder = "cases/mini/greeting"
    project.write(f"{folder}/hidden/hidden.sh", REPORTS)
    project.write(f"{folder}/solution/greeting.txt", "hello\n")
    project.write(f"{folder}/wrong/rude/greeting.txt", "go away\n")
    project.write(CASE, HIDDEN.replace("WRONG", named))
    done = prove(project)
    assert said in done.stdout, done.stdout + done.stderr


def test_arms_with_and_without_a_skill_are_one_proof(project: MiniProject) -> None:
    """What an agent reads says nothing about a known answer: it is played on the first arm alone."""
    skill = "---\nname: greeting\ndescription: How to greet.\n---\nSay hello.\n"
    project.write("cases/mini/skills/greeting/SKILL.md", skill)
    project.edit("cases/mini/suite.eval", "  limits {", """\
  arm with-skill { skills greeting from "skills" }
  arm baseline { about "Nothing to read." }
  limits {""")
    done = prove(project, "greeting")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "greeting+with-skill: proven" in done.stdout
    assert "1 of 1 proven" in done.stdout


TRACKED = '''case greeting {
  use note
  prompt """
    Do.
    """
  check exists "answer.txt" as there
  check grep "answer.txt" has "Hello" as greets for track one
  check grep "answer.txt" has "Hello" as welcomes for track two
  track one { solution "solution"; wrong "wrong/rude" fails greets }
  track two { solution "solution"; wrong "wrong/rude" fails welcomes }
}
'''


def test_a_check_of_another_track_is_no_remark(project: MiniProject) -> None:
    """It is graded where it belongs: that it is not graded here makes no proof weaker."""
    project.write(CASE, TRACKED)
    done = prove(project)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "2 of 2 proven" in done.stdout
    assert "remark" not in done.stdout


def test_a_case_that_rejects_nothing(project: MiniProject) -> None:
    """Doing nothing must not pass."""
    project.write(CASE, 'case greeting {\n  use note\n  prompt """\n    Do.\n    """\n  check run "true" as fine\n}\n')
    done = prove(project)
    assert 1 == done.returncode
    assert "not so: doing nothing passes: no check needs the work to be done" in done.stdout
    assert "remark: there is no reference answer" in done.stdout


def test_what_could_not_be_graded_proves_nothing(project: MiniProject) -> None:
    """A check whose own tool is missing has caught no wrong answer: that is broken, not proven."""
    project.edit(CASE, '"sh check.sh"', '"no-such-tool-of-evalkit"')
    project.edit(CASE, "fails greets", "fails own")
    done = prove(project)
    assert 3 == done.returncode, done.stdout
    assert "greeting: could not be proven here" in done.stdout
    assert "broken: wrong:rude: could not be graded: own" in done.stdout


def test_errors_come_first(project: MiniProject) -> None:
    """A case with errors is not run."""
    project.edit(CASE, "check not-empty as", "check not-empti as")
    done = prove(project)
    assert 1 == done.returncode
    assert "nothing is proven while there are errors" in done.stderr
    assert not project.path("results").exists()
