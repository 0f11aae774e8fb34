"""The check `calls`: what passes, what fails, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.analysis.model import Check
from evalkit.grade.calls import grade_calls
from evalkit.grade.calls_told import WIDTH
from evalkit.grade.grader import grade_check, grader_version
from evalkit.grade.recording import Recording, recording_at, why_none
from evalkit.grade.verdict import Verdict
from evalkit.plan.trials import Subject
from tests.unit.grade.calls import Made, calls_of, recorded
from tests.unit.grade.trees import a_case, final_tree


def graded(folder: Path, statements: str, *made: Made) -> Verdict:
    verdict = grade_calls(calls_of(folder, statements), recording_at(recorded(folder / "t.jsonl", *made), ""))
    assert all(len(line) <= WIDTH for line in verdict.evidence.splitlines())
    return verdict


@pytest.mark.parametrize(("argument", "value", "met"), [
    ('a: "x"', "x", True), ('a: "x"', "X", False), ("a: 1", 1.0, True), ("a: 1", True, False), ("a: 1", "1", False),
    ("a: true", True, True), ("a: null", None, True), ("a: [1, [true]]", [1, [True]], True),
    ("a: [1, 2]", [2, 1], False),
    ("a > 1", 1.5, True), ("a > 1", 1, False), ("a >= 1", 1, True), ("a < 1", 0, True), ("a <= 1", 2, False),
    ("a == 2", 2.0, True), ("a > 1", "2", False), ("a > 0", True, False),
    ("a in 1..2", 2, True), ("a in 1..2", 2.1, False),
    ("a approx 12.5 within 0.1", 12.6, True), ("a approx 12.5 within 0.1", 12.61, False),
    ("a approx [0, [12.5]] within 0.1", [0.1, [12.4]], True), ("a approx [0, 1] within 0.1", [0], False),
    ("a approx 1 within 2", "1", False), ("a approx [0] within 1", 0, False),
    ('a one of "x", 2, null', None, True), ('a one of "x", 2', "y", False),
    ('a includes "deck"', ["pier", "deck"], True), ('a includes "deck", "pier"', ["deck"], False),
    ('a includes "deck", "ste"', "deck and steps", True), ('a includes 1', "1", False), ("a includes 1", [True], False),
    ("a ~ /^crack/i", "Crack at P2", True), ("a ~ /^crack/", "a crack", False), ("a ~ /1/", 1, False),
    ("a number", 1.5, True), ("a number", False, False), ("a string", "", True), ("a boolean", False, True),
    ("a array", [], True), ("a object", {}, True), ("a object", [], False),
    ("a any", None, True), ("a any", 0, True), ("b any", 0, False), ("b absent", 0, True), ("a absent", None, False),
    ("a.x.1 > 1", {"x": [0, 2]}, True), ("a.x.2 any", {"x": [0, 2]}, False), ('a.x: "y"', {"x": "y"}, True),
    ("a > 1, a < 3", 2, True), ("a > 1, a < 3", 4, False),
])
def test_a_test_of_an_argument(tmp_path: Path, argument: str, value: object, met: bool) -> None:
    """Each form, with values that pass it and values that do not."""
    verdict = graded(tmp_path, f"expect go({argument})", ("go", {"a": value, "other": 1}))
    assert ("pass" if met else "fail") == verdict.status


def test_the_order_and_what_stands_between(tmp_path: Path) -> None:
    """Looking first costs nothing; an order does; each `expect` is looked for by itself."""
    made: list[Made] = [("getState", {}), ("b", {}), ("queryX", {}), ("a", {}), ("c", {})]
    for statements, status in [("expect a then c", "pass"), ("expect a then b", "fail"), ("expect a; expect b", "pass"),
                               ("expect b then b", "fail"), ("expect either { a then b } or { b then a }", "pass"),
                               ("expect in any order { c; a; b }", "pass"),
                               ("expect in any order { c; a } then b", "fail"),
                               ("never d", "pass"), ("expect a; never d, b", "fail"), ("never queryX", "fail")]:
        assert (statements, status) == (statements, graded(tmp_path, statements, *made).status)


def test_exact_arguments(tmp_path: Path) -> None:
    assert "pass" == graded(tmp_path, "expect go(a: 1, b.x > 0) exact", ("go", {"a": 1, "b": {"x": 1, "y": 2}})).status
    verdict = graded(tmp_path, "expect go(a: 1) exact", ("go", {"a": 1, "b": 2}))
    assert ("fail", "    no  exact, but: also b") == (verdict.status, verdict.evidence.splitlines()[4])


def test_a_call_counts_also_where_the_application_rejected_it(tmp_path: Path) -> None:
    """`succeeds` asks for more; a result that is missing is none."""
    rejected: Made = ("go", {}, "mode must be one of a, b\nmore", "error")
    assert "pass" == graded(tmp_path, "expect go", rejected).status
    assert "fail" == graded(tmp_path, "never go", rejected).status
    assert "pass" == graded(tmp_path, "never go succeeds", rejected).status
    assert "fail" == graded(tmp_path, "expect go succeeds", ("go", {}, "", "missing")).status
    assert "pass" == graded(tmp_path, "expect go succeeds", rejected, ("go", {})).status
    assert "    no  succeeds, but: rejected: mode must be one of a, b" in graded(
        tmp_path, "expect go succeeds", rejected).evidence


ASKED = json.dumps({"confirmation": {"token": "t-1", "message": "Delete f-2?"}})


@pytest.mark.parametrize(("made", "said"), [
    ([("drop", {"id": "f"}, ASKED), ("drop", {"id": "f", "confirm": "t-1"})], ""),
    ([("drop", {"id": "f"}, ASKED)], "asked back, not confirmed"),
    ([("drop", {"id": "f", "confirm": "t-1"})], 'it was never given "t-1"'),
    ([("drop", {"id": "f", "confirm": "t-1"}), ("drop", {"id": "f"}, ASKED)],
     'it was never given "t-1"'),
    ([("publish", {}, ASKED), ("drop", {"id": "f", "confirm": "t-1"})],
     'it was never given "t-1"'),
    ([("drop", {"id": "f"}, ASKED), ("drop", {"id": "f", "confirm": "t-2"})],
     'it was never given "t-2"'),
    ([("drop", {"id": "f"}, ASKED), ("drop", {"id": "f", "confirm": "t-1"}, "expired", "error")], "rejected: expired"),
    ([("drop", {"id": "f"})], "no `confirm` was given"),
    ([("drop", {"id": "f"}, ASKED), ("drop", {"id": "f", "confirm": "t-1"}, ASKED)], "asked back again"),
])
def test_a_confirmation_is_walked(tmp_path: Path, made: list[Made], said: str) -> None:
    """With the token that an earlier call of the same command was answered with, and nothing else."""
    verdict = graded(tmp_path, 'expect drop(id: "f") exact confirmed', *made)
    assert ("fail" if said else "pass") == verdict.status
    assert said in verdict.evidence


def test_only(tmp_path: Path) -> None:
    """Reads may stand beside it, and what wrote nothing."""
    add: Made = ("add", {"k": 1})
    beside: list[tuple[list[Made], str]] = [
        ([("queryX", {}), ("getState", {})], "pass"), ([("add", {"k": 2})], "fail"), ([("add", {"k": 1})], "fail"),
        ([("drop", {}, ASKED)], "pass"), ([("drop", {}, "no", "error")], "pass"),
        ([("drop", {}, "", "missing")], "fail")]
    for others, status in beside:
        assert (others, status) == (others, graded(tmp_path, "expect only add(k: 1)", add, *others).status)
    verdict = graded(tmp_path, "expect only add", ("queryX", {}), add, ("publish", {"id": "f"}))
    assert "`publish` wrote too, call 3 (line 7), and only the expected calls may" == verdict.summary
    assert '  call 3 (line 7) wrote too: publish(id: "f")' == verdict.evidence.splitlines()[1]


def test_only_takes_the_calls_that_wrote(tmp_path: Path) -> None:
    """A read that fits as well leaves the writing call over, unless the match is looked for exactly."""
    made: list[Made] = [("a", {"n": 1}), ("a", {"n": 2})]
    assert "fail" == graded(tmp_path, "expect only a", *made).status
    assert "pass" == graded(tmp_path, "expect only either { a } or { a then a }", *made).status


EVIDENCE = """\
expect 2 of 2: call 2 of 2: no call of `setPointSize` fits
  expected: setPointSize(px > 1, unit: "px")
  nearest:  call 2 (line 5)
    no  px > 1, but: 0.5
    ok  unit: "px"
expect 1 of 2: met
  getState: call 1 (line 3)
the calls (3):
  1. getState()
  2. setPointSize(px: 0.5, unit: "px")
  3. setPointSize(px: 0.5) - rejected"""


def test_what_came_nearest(tmp_path: Path) -> None:
    """The expectation that failed, and the call that meets most of it, argument by argument."""
    verdict = graded(tmp_path, 'expect getState\nexpect getState then setPointSize(px > 1, unit: "px")',
                     ("getState", {}), ("setPointSize", {"px": 0.5, "unit": "px"}),
                     ("setPointSize", {"px": 0.5}, "no unit", "error"))
    assert ("fail", "expect 2 of 2: call 2 of 2: no call of `setPointSize` fits") == (verdict.status, verdict.summary)
    assert EVIDENCE == verdict.evidence


@pytest.mark.parametrize(("statements", "made", "lines"), [
    ("expect setMode", [("setModes", {})], ["`setMode` was not called", "  expected: setMode",
                                            "  nearest:  `setModes` was called"]),
    ("expect a", [("bbb", {}), ("bbb", {}), ("ccc", {})], ["`a` was not called", "  expected: a",
                                                           "  called were: bbb x2, ccc"]),
    ("expect a", [], ["`a` was not called", "  expected: a", "  nothing was called"]),
    ("expect a then b(k: 1)", [("b", {"k": 1}), ("a", {})], [
        "call 2 of 2: `b` was not called after call 2 (line 5)", "  expected: b(k: 1)",
        "  call 1 (line 3) fits, but comes too early"]),
    ("expect either { a then b } or { c }", [("a", {})], [
        "none of 2 alternatives was met", "  alternative 1: call 2 of 2: `b` was not called", "    expected: b",
        "    called were: a", "  alternative 2: `c` was not called"]),
    ("expect in any order { a(k any); a(k: 1); b }", [("a", {"k": 1}), ("b", {})], [
        "1 of 3 calls in any order not met", "  a(k any): other expectations need call 1 (line 3)"]),
    ("never a(k: 1)", [("a", {"k": 2}), ("a", {"k": 1})], ["never a(k: 1): call 2 (line 5): a(k: 1)"]),
])
def test_what_is_said(tmp_path: Path, statements: str, made: list[Made], lines: list[str]) -> None:
    """One case of each thing that can be amiss."""
    verdict = graded(tmp_path, statements, *made)
    assert ("fail", lines) == (verdict.status, verdict.evidence.splitlines()[:len(lines)])


def test_long_values_are_cut_in_the_middle(tmp_path: Path) -> None:
    """No line is longer than a terminal is wide."""
    verdict = graded(tmp_path, 'expect go(text: "short")', ("go", {"text": "long " * 100 + "end"}))
    assert ['    no  text: "short", but: "long long long long l … ong long long end"'] == [
        line for line in verdict.evidence.splitlines() if "but: " in line]


def test_a_damaged_transcript_is_an_error(tmp_path: Path) -> None:
    """Not a pass, though all that was expected is there; what is forbidden and there is a fail all the same."""
    path = recorded(tmp_path / "t.jsonl", ("a", {}), ("b", {}))
    path.write_bytes(path.read_bytes().replace(b'"name":"b"', b'"name":"b'))
    verdict = grade_calls(calls_of(tmp_path, "expect a"), recording_at(path, ""))
    assert "error" == verdict.status
    assert verdict.summary.startswith("the transcript does not tell all: line 5")
    assert "fail" == grade_calls(calls_of(tmp_path, "never a"), recording_at(path, "")).status


def test_without_a_transcript(tmp_path: Path) -> None:
    """`nop` calls nothing, which is a fail; with a known answer it is skipped; with any other it is an error."""
    spec = calls_of(tmp_path, "expect a")
    assert "fail" == grade_calls(spec, Recording(None, why=why_none(Subject("nop"), dry=False))).status
    assert "skipped" == grade_calls(spec, Recording(None, why=why_none(Subject("nop"), dry=True))).status
    assert "skipped" == grade_calls(spec, Recording(None, why=why_none(Subject("oracle"), dry=False))).status
    check = Check("calls", "calls", spec, (), False, "", "x.eval:1:1")
    (tmp_path / "tree").mkdir()
    tree = final_tree(tmp_path / "tree", {})
    for recording in (Recording(None), None):
        grade = grade_check(a_case(), check, tree, {}, "local", recording)
        assert ("error", "the agent left no transcript") == (grade.verdict.status, grade.verdict.summary)


def test_its_version_is_an_input(tmp_path: Path) -> None:
    assert "calls 1" == grader_version(calls_of(tmp_path, "expect a"))
