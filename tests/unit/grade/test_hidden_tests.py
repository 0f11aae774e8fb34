"""Hidden tests: laid into the copy, run, and read from their report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Command, ExistsSpec, HiddenTestsSpec, OutputTest, Pattern, RunSpec
from evalkit.grade.exists import grade_exists
from evalkit.grade.hidden_tests import grade_hidden_tests
from evalkit.grade.run import grade_run
from evalkit.grade.verdict import HiddenTest
from tests.unit.grade.test_run import tree_of


def graded(tmp_path: Path, script: str, *, answer: str = "42", collects: int | None = None) -> Any:
    """Hidden tests whose command is a Python script that has the report's path as its argument."""
    tree = tree_of(tmp_path, {"answer.txt": answer})
    hidden = tree.session.root / "hidden"
    hidden.mkdir()
    (hidden / "check_it.py").write_text(script)
    spec = HiddenTestsSpec("hidden", Command(("python3", "check_it.py", "{report}"), 20), collects=collects)
    return grade_hidden_tests(spec, tree, ())


def jest(*tests: tuple[str, str, str], code: int = 0) -> str:
    """A script that writes a report of Jest's form and exits with a status."""
    report = {"testResults": [{"name": "a.test.ts", "status": "passed", "assertionResults": [
        {"fullName": name, "status": status, "failureMessages": [message] if message else []}
        for name, status, message in tests]}]}
    return f"import sys\nopen(sys.argv[1], 'w').write({json.dumps(report)!r})\nsys.exit({code})\n"


def test_all_pass(tmp_path: Path) -> None:
    """The number of tests that passed is the summary."""
    got = graded(tmp_path, jest(("a", "passed", ""), ("b", "passed", ""), ("c", "pending", "")))
    assert ("pass", "2 hidden tests passed") == (got.status, got.summary)


def test_failures_are_named_with_their_messages(tmp_path: Path) -> None:
    """The evidence is what failed and why, not the command's noise."""
    got = graded(tmp_path, jest(("sees own rows", "failed", "expected 1\nreceived 0"), ("b", "passed", ""), code=1))
    assert ("fail", "1 of 2 hidden tests failed") == (got.status, got.summary)
    assert "failed: sees own rows\n  expected 1\n  received 0" == got.evidence


def test_a_failure_counts_whatever_the_status_of_the_command(tmp_path: Path) -> None:
    """A command that exits with 0 and reports a failed test does not pass."""
    assert "fail" == graded(tmp_path, jest(("a", "failed", "no"))).status


def test_a_test_file_that_cannot_be_loaded_is_a_failure(tmp_path: Path) -> None:
    """It has no tests of its own; its message is the evidence."""
    report = {"testResults": [{"name": "/x/a.test.ts", "status": "failed", "message": "cannot import",
                               "assertionResults": []}]}
    got = graded(tmp_path, f"import sys\nopen(sys.argv[1], 'w').write({json.dumps(report)!r})\nsys.exit(1)\n")
    assert ("fail", "failed: a.test.ts\n  cannot import") == (got.status, got.evidence)


@pytest.mark.parametrize(("script", "status", "summary"), [
    (jest(), "fail", "no hidden test ran"),
    ("pass\n", "error", "the tests passed, but there is no report"),
    ("import sys; open(sys.argv[1], 'w').write('{}')\n", "error",
     "the tests passed, but its report is neither Jest's JSON nor JUnit's XML"),
    ("import sys; open(sys.argv[1], 'w').write('<!DOCTYPE x []><x/>')\n", "error",
     "the tests passed, but its report declares entities, which are not read"),
    ("import sys; sys.exit(3)\n", "fail", "`python3 check_it.py …/report` exited with 3"),
])
def test_what_proves_nothing_does_not_pass(tmp_path: Path, script: str, status: str, summary: str) -> None:
    """No test, no report, no report that can be read; a command that fails on its own is the agent's."""
    got = graded(tmp_path, script)
    assert (status, summary) == (got.status, got.summary.replace(str(tmp_path), "").replace("/work", "")
                                 if "report`" not in got.summary else summary)


def test_junit_reports_are_read(tmp_path: Path) -> None:
    """Failures and errors fail, skipped ones do not count."""
    xml = ('<testsuite><testcase classname="t" name="a"/><testcase name="b"><failure message="no">why</failure>'
           '</testcase><testcase name="c"><skipped/></testcase></testsuite>')
    got = graded(tmp_path, f"import sys\nopen(sys.argv[1], 'w').write({xml!r})\nsys.exit(1)\n")
    assert ("fail", "1 of 3 hidden tests failed", "failed: b\n  no\n  why") == (got.status, got.summary, got.evidence)


def test_the_agent_cannot_answer_for_the_hidden_tests(tmp_path: Path) -> None:
    """A file or a link of the hidden test's name in the tree is replaced by the case's own."""
    tree = tree_of(tmp_path, {"check_it.py": "raise SystemExit(0)", "other": ""}, {"link.py": "other"})
    hidden = tree.session.root / "hidden"
    hidden.mkdir()
    for name in ("check_it.py", "link.py"):
        (hidden / name).write_text("import sys; sys.exit(7)\n")
    for name in ("check_it.py", "link.py"):
        got = grade_hidden_tests(HiddenTestsSpec("hidden", Command(("python3", name), 20)), tree, ())
        assert got.summary.endswith("exited with 7")


def test_tests_of_their_own_folder(tmp_path: Path) -> None:
    """With `{tests}` they are beside the tree, a later one over the earlier, and the tree has nothing of them."""
    tree = tree_of(tmp_path, {"answer.txt": "42", "shared.py": "raise SystemExit(0)"})
    first, second = tree.session.root / "first", tree.session.root / "second"
    for folder in (first, second):
        folder.mkdir()
    (first / "shared.py").write_text("import sys; HERE = sys.argv[1]; REPORT = sys.argv[2]\n")
    (first / "check_it.py").write_text("raise SystemExit(9)\n")
    (second / "check_it.py").write_text(
        "import os; from shared import HERE, REPORT\n"
        "assert sorted(os.listdir(HERE)) == ['answer.txt', 'shared.py'] and HERE == os.getcwd(), os.listdir(HERE)\n"
        + jest(("a", "passed", "")).replace("sys.argv[1]", "REPORT"))
    command = Command(("python3", "{tests}/check_it.py", "{workspace}", "{report}"), 20)
    got = grade_hidden_tests(HiddenTestsSpec("first", command, ("second",), 1), tree, ())
    assert ("pass", (HiddenTest("a", "passed"),)) == (got.status, got.tests), got


@pytest.mark.parametrize(("collects", "status", "summary"), [
    (2, "pass", "2 hidden tests passed"),
    (3, "fail", "2 hidden tests passed, where 3 are to run"),
])
def test_a_run_that_was_cut_short(tmp_path: Path, collects: int, status: str, summary: str) -> None:
    """Where fewer tests ran than there are, those that are missing were not passed."""
    got = graded(tmp_path, jest(("a", "passed", ""), ("b", "passed", ""), ("c", "skipped", "")), collects=collects)
    assert (status, summary) == (got.status, got.summary)


def test_a_missing_runner_is_an_error(tmp_path: Path) -> None:
    """Status 69 says so, whatever the report says: it is no fault of the agent's."""
    got = graded(tmp_path, jest(("a", "failed", "no"), code=69))
    assert ("error", True) == (got.status, got.summary.endswith("says that its runner is missing (status 69)"))


def test_a_file_that_fails_beside_its_tests(tmp_path: Path) -> None:
    """What went wrong before or after the tests of a file is told too."""
    report = {"testResults": [{"name": "/x/a.test.ts", "status": "failed", "message": "no database",
                               "assertionResults": [{"fullName": "a", "status": "pending"}]}]}
    got = graded(tmp_path, f"import sys\nopen(sys.argv[1], 'w').write({json.dumps(report)!r})\nsys.exit(1)\n")
    assert ("fail", "failed: a.test.ts\n  no database") == (got.status, got.evidence)


def test_exists_and_absent(tmp_path: Path) -> None:
    """Every glob has to match, or none may."""
    tree = tree_of(tmp_path, {"src/a.py": "", "src/deep/b.py": ""})
    assert ["pass", "fail", "pass", "fail"] == [
        grade_exists(ExistsSpec(globs, expect), tree).status  # type: ignore[arg-type]
        for expect, globs in (("exists", ("src/*.py", "**/b.py")), ("exists", ("src/*.py", "*.md")),
                              ("absent", ("*.md",)), ("absent", ("*.md", "src/**")))]
    told = grade_exists(ExistsSpec(("src/**", "*.md"), "exists"), tree)
    assert ("no file matches *.md", "src/**: src/a.py, src/deep/b.py\n*.md: no file") == (told.summary, told.evidence)


@pytest.mark.parametrize(("script", "exit_status", "tests", "status", "summary"), [
    ("echo one two", 0, (("has", "one"), ("lacks", "three")), "pass", None),
    ("echo one two", 0, (("has", "three"),), "fail", "its output lacks what it should have"),
    ("echo one; echo three >&2", 0, (("lacks", "three"),), "fail", "its output has what it should lack"),
    ("echo usage; exit 2", 2, (("has", "usage"),), "pass", None),
    ("exit 0", 2, (), "fail", "exited with 0, not with 2"),
])
def test_a_command_can_be_held_to_a_status_and_an_output(tmp_path: Path, script: str, exit_status: int,
                                                        tests: tuple[tuple[str, str], ...], status: str,
                                                        summary: str | None) -> None:
    """`exit N`, `has` and `lacks` of `check run`; both output streams are looked at."""
    outputs = tuple(OutputTest(expect, (Pattern(text),)) for expect, text in tests)  # type: ignore[arg-type]
    spec = RunSpec(Command(("sh", "-c", script), 10), exit_status, outputs)
    got = grade_run(spec, tree_of(tmp_path, {"a": ""}), ())
    assert status == got.status, got
    if summary is not None:
        assert got.summary.endswith(summary)
