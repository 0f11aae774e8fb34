"""Reports of test runners, as each of them writes them, and reports that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Command, HiddenTestsSpec
from evalkit.grade.hidden_reports import MOST_TESTS, read_tests
from evalkit.grade.hidden_tests import grade_hidden_tests
from evalkit.grade.verdict import HiddenTest
from tests.unit.grade.test_run import tree_of

PYTEST = """<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="2" tests="5" time="0.1">
<properties><property name="a" value="b" /></properties>
<testcase classname="tests.test_rows" name="test_own[a-1]" time="0.001"><system-out>hello</system-out></testcase>
<testcase classname="tests.test_rows" name="test_other" time="0.001">
<failure message="AssertionError: assert 1 == 2">def test_other():
&gt;       assert 1 == 2
E       assert 1 == 2</failure></testcase>
<testcase classname="tests.test_rows" name="test_later">
<skipped type="pytest.skip" message="later">x</skipped></testcase>
<testcase classname="tests.test_rows" name="test_known"><skipped type="pytest.xfail" message="" /></testcase>
<testcase classname="" name="tests.test_broken" time="0.0">
<error message="collection failure">ImportError</error></testcase>
</testsuite></testsuites>"""
GO = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1" skipped="1">
  <testsuite name="example.org/shop" tests="3" failures="1" skipped="1" id="0" hostname="h" time="0.5">
    <properties><property name="go.version" value="go1.24"></property></properties>
    <testcase name="TestAdd" classname="example.org/shop" time="0.000"></testcase>
    <testcase name="TestAdd/twice" classname="example.org/shop" time="0.000">
      <failure message="Failed"><![CDATA[    add_test.go:12: got <!DOCTYPE html><p>]]></failure>
    </testcase>
    <testcase name="TestLong" classname="example.org/shop"><skipped message="short"></skipped></testcase>
    <system-out><![CDATA[<!DOCTYPE html><html>]]></system-out>
  </testsuite>
  <testsuite name="example.org/broken" tests="1" errors="1" id="1">
    <testcase name="[build failed]" classname="example.org/broken">
      <error message="Build error">x.go:1:1: no</error></testcase>
  </testsuite>
</testsuites>"""
NEXTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0" uuid="u"
    timestamp="2026-03-01T00:00:00+00:00" time="1">
    <testsuite name="shop" tests="3" disabled="0" errors="0" failures="1">
        <testcase name="tests::adds" classname="shop" timestamp="2026-03-01T00:00:00+00:00" time="0.01"></testcase>
        <testcase name="tests::flaky" classname="shop" time="0.01">
            <flakyFailure time="0.01" message="once" type="test failure">no</flakyFailure>
        </testcase>
        <testcase name="tests::sums" classname="shop" time="0.02">
            <failure message="thread 'tests::sums' panicked at src/lib.rs:9:9" type="test failure">left: 1
right: 2</failure>
            <rerunFailure time="0.02" message="again" type="test failure">no</rerunFailure>
            <system-out>running 1 test</system-out>
        </testcase>
    </testsuite>
</testsuites>"""
CTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="Linux-c++" tests="4" failures="1" disabled="1" skipped="1" hostname="" time="0">
	<testcase name="adds" classname="adds" time="0.003" status="run"><properties/><system-out>ok</system-out></testcase>
	<testcase name="sums" classname="sums" time="0.003" status="fail"><failure/><system-out>no</system-out></testcase>
	<testcase name="later" classname="later" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=4"/></testcase>
	<testcase name="never" classname="never" time="0" status="disabled"><skipped message="Disabled"/></testcase>
</testsuite>"""


def told(data: str | bytes) -> list[tuple[str, str]]:
    return [(test.name, test.status) for test in read_tests(data.encode() if isinstance(data, str) else data)]


@pytest.mark.parametrize(("report", "tests"), [
    (PYTEST, [("tests.test_rows test_own[a-1]", "passed"), ("tests.test_rows test_other", "failed"),
              ("tests.test_rows test_later", "skipped"), ("tests.test_rows test_known", "skipped"),
              ("tests.test_broken", "failed")]),
    (GO, [("example.org/shop TestAdd", "passed"), ("example.org/shop TestAdd/twice", "failed"),
          ("example.org/shop TestLong", "skipped"), ("example.org/broken [build failed]", "failed")]),
    (NEXTEST, [("shop tests::adds", "passed"), ("shop tests::flaky", "passed"), ("shop tests::sums", "failed")]),
    (CTEST, [("adds adds", "passed"), ("sums sums", "failed"), ("later later", "skipped"), ("never never", "skipped")]),
    ('<testsuites xmlns="urn:x"><testsuite><testcase name="a"><failure/></testcase></testsuite></testsuites>',
     [("a", "failed")]),
    ('<testsuite name="s"><error message="cannot be loaded"/></testsuite>', [("s", "failed")]),
    ('<testsuite><testcase name="a" status="fail"/><testcase name="b" status="notrun"/></testsuite>',
     [("a", "failed"), ("b", "skipped")]),
    ("<testsuites/>", []),
], ids=["pytest", "go-junit-report", "nextest", "ctest", "namespace", "suite", "statuses", "empty"])
def test_each_runner_s_junit(report: str, tests: list[tuple[str, str]]) -> None:
    """Passed, failed and skipped, by each runner's own way to say so."""
    assert tests == told(report)


def test_messages_are_whole() -> None:
    """The message, and the text below it."""
    failed = {test.name.rpartition(" ")[2]: test.message for report in (PYTEST, NEXTEST)
              for test in read_tests(report.encode()) if test.status == "failed"}
    assert failed["test_other"].splitlines()[0] == "AssertionError: assert 1 == 2"
    assert failed["test_other"].endswith("E       assert 1 == 2")
    assert "thread 'tests::sums' panicked at src/lib.rs:9:9\nleft: 1\nright: 2" == failed["tests::sums"]


@pytest.mark.parametrize("data", [
    b'<testsuite><testcase name="a"><failure>\xff\xfe\x00\x1b[31m</failure></testcase></testsuite>',
    b'<testsuite><testcase name="a"><failure>&#0;&#x1b;&#27;&#xD800;</failure></testcase></testsuite>',
    b'\xef\xbb\xbf<testsuite><testcase name="a"><failure/></testcase></testsuite>',
    '<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="a"><failure/></testcase></testsuite>'
    .encode("utf-16"),
    b'<?xml version="1.0" encoding="ISO-8859-1"?><testsuite><testcase name="a"><failure>\xe9</failure></testcase>'
    b"</testsuite>",
    b'<?xml version="1.0" encoding="no-such"?><testsuite><testcase name="a"><failure/></testcase></testsuite>',
    b'\xef\xbb\xbf{"testResults": [{"assertionResults": [{"fullName": "a", "status": "failed", "failureMessages": '
    b'["\xff"]}]}]}',
], ids=["bytes", "references", "mark", "utf-16", "latin-1", "unknown encoding", "json"])
def test_what_is_no_text_makes_no_report_unreadable(data: bytes) -> None:
    """What an agent's code printed may stand in it: the failure counts all the same."""
    assert [("a", "failed")] == told(data)


@pytest.mark.parametrize(("data", "said"), [
    (b"", "its report is neither Jest's JSON nor JUnit's XML"),
    (b"null", "its report is neither Jest's JSON nor JUnit's XML"),
    (b'{"testResults": [1]}', "its report is neither Jest's JSON nor JUnit's XML"),
    (b'{"testResults": {"a": 1}}', "its report is neither Jest's JSON nor JUnit's XML"),
    (b"ok 1 - a\n", "its report is neither Jest's JSON nor JUnit's XML"),
    (b"<testsuite><testcase name='a'/>", "its report is not well-formed XML"),
    (b"<html><body/></html>", "its report is XML, and none of JUnit's"),
    (b"<a>" * 200 + b"</a>" * 200, "its report has elements 100 deep"),
    (b"<?xml version='1.0'?><!-- x --><!DOCTYPE a [<!ENTITY b 'c'>]><a/>",
     "its report declares entities, which are not read"),
    ('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a/>'.encode("utf-16"),
     "its report declares entities, which are not read"),
    (b"<testsuite>" + b"<testcase/>" * (MOST_TESTS + 1) + b"</testsuite>", "its report has more than 20000 tests"),
])
def test_what_is_no_report(data: bytes, said: str) -> None:
    """It is told in words."""
    with pytest.raises(ValueError, match=r"^its report") as raised:
        read_tests(data)
    assert said == str(raised.value)


def graded(tmp_path: Path, script: str, *, collects: int | None = None, files: dict[str, str] | None = None) -> Any:
    tree = tree_of(tmp_path, {"answer.txt": "42", **(files or {})})
    hidden = tree.session.root / "hidden"
    hidden.mkdir()
    (hidden / "check_it.py").write_text(script)
    command = Command(("python3", "{tests}/check_it.py", "{report}"), 60)
    return grade_hidden_tests(HiddenTestsSpec("hidden", command, (), collects), tree, ())


JUNIT = '<testsuite><testcase name="a"/></testsuite>'


def test_half_a_surrogate_pair_makes_no_report_unreadable() -> None:
    """JSON has it as an escape; what is kept can be written."""
    report = {"testResults": [{"name": "x\udc00", "status": "failed", "message": "", "assertionResults": [
        {"fullName": "right", "status": "passed"},
        {"fullName": "wrong", "status": "failed", "failureMessages": ["it threw \ud800"]}]}]}
    right, wrong = read_tests(json.dumps(report).encode())
    assert ("right", "passed") == (right.name, right.status)
    assert ("wrong", "failed", "it threw ?") == (wrong.name, wrong.status, wrong.message)


def test_a_report_of_another_run_is_none(tmp_path: Path) -> None:
    """What lies in the agent's tree, under whatever name a report might have, is never taken for the run's."""
    left = dict.fromkeys(("report", "report.xml", "report.json", ".vitest/report", "junit.xml", "tests/report"), JUNIT)
    got = graded(tmp_path, "pass\n", files=left)
    assert ("error", "the tests passed, but there is no report") == (got.status, got.summary)


@pytest.mark.parametrize(("script", "said"), [
    ("pass\n", "there is no report"),
    ("import sys; open(sys.argv[1], 'w')\n", "its report is neither Jest's JSON nor JUnit's XML"),
    ("import sys; open(sys.argv[1], 'w').write('<testsuite><testcase')\n", "its report is not well-formed XML"),
    ("import sys; open(sys.argv[1], 'wb').truncate(16_000_001)\n", "the report is larger than 16 MB"),
])
def test_a_run_that_the_agents_code_ended_is_a_fail(tmp_path: Path, script: str, said: str) -> None:
    """Where the case says how many tests there are: its own answer has shown that the command writes its report."""
    got = graded(tmp_path, script, collects=11)
    assert ("fail", f"the run ended early: {said}, where 11 tests are to run") == (got.status, got.summary)


def test_a_large_report_is_read(tmp_path: Path) -> None:
    """What a test printed is passed over; long names and messages are cut."""
    script = ("import sys\nopen(sys.argv[1], 'w').write('<testsuite><testcase name=\"' + 'n' * 9999 + '\"><failure>'"
              " + 'x' * 5_000_000 + '</failure><system-out>' + 'o' * 9_000_000"
              " + '</system-out></testcase></testsuite>')")
    got = graded(tmp_path, script)
    assert ("fail", "1 of 1 hidden tests failed") == (got.status, got.summary)
    assert (HiddenTest("n" * 500, "failed", "x" * 1000),) == got.tests
