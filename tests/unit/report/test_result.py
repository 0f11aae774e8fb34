"""What a trial comes to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.analysis.model import Judge
from evalkit.grade.audit_record import Audit, Finding
from evalkit.grade.verdict import KeptStatus
from evalkit.records import read_record, write_record
from evalkit.report.result import SELF_CHECK, TrialResult, build_result
from evalkit.values import evolve
from tests.unit.report.results import Graded, a_check, a_judged, a_record, a_result, a_trial, an_ending

PASS, FAIL = a_check("good"), a_check("bad", "fail")
ERROR, SKIPPED = a_check("broken", "error"), a_check("elsewhere", "skipped")
OPTIONAL = a_check("hint", "fail", advisory=True)


@pytest.mark.parametrize(("graded", "status", "reason"), [
    ([PASS], "pass", "passed 1 of 1 checks"),
    ([PASS, SKIPPED, OPTIONAL], "pass", "passed 1 of 3 checks, 2 skipped or advisory"),
    ([PASS, FAIL, a_check("worse", "fail")], "fail", "failed: bad, worse"),
    ([PASS, ERROR], "error", "could not be graded: broken"),
    ([FAIL, ERROR], "error", "could not be graded: broken; failed: bad"),
    ([PASS, a_check("hint", "error", advisory=True)], "pass", "passed 1 of 2 checks, 1 skipped or advisory"),
    ([], "error", "nothing was graded: every check was skipped or is advisory"),
    ([SKIPPED, OPTIONAL], "error", "nothing was graded: every check was skipped or is advisory"),
    ([OPTIONAL], "error", "nothing was graded: every check was skipped or is advisory: `evalkit explain W010`"),
    ([a_judged("j", 7.0, threshold=6)], "pass", "passed 1 of 1 checks"),
    ([a_judged("j", 5.9, threshold=6)], "fail", "failed: j"),
    ([a_judged("j", None, status="error")], "error", "could not be graded: j"),
])
def test_rules(graded: list[Graded], status: str, reason: str) -> None:
    """Skipped and advisory checks decide nothing; an error is no fail; what grades nothing does not pass."""
    result = a_result(*graded)
    assert (result.status, result.reason) == (status, reason)


@pytest.mark.parametrize("graded", [[PASS], [FAIL], [ERROR], []])
def test_a_timeout_is_a_fail(graded: list[Graded]) -> None:
    """Whatever the checks say of the tree that it left."""
    result = a_result(*graded, ending=an_ending("timeout", "its 20 minutes were over"))
    assert (result.status, result.reason) == ("fail", "timeout: its 20 minutes were over")


@pytest.mark.parametrize(("graded", "status"), [(PASS, "pass"), (FAIL, "fail")])
def test_a_turn_limit_is_no_fail_by_itself(graded: Graded, status: str) -> None:
    """A capped agent is judged by its tree."""
    assert a_result(graded, ending=an_ending("capped", "80 turns")).status == status


@pytest.mark.parametrize(("score", "threshold", "status", "summary"), [
    (6.0, 6, "pass", "6.0 of 10 (wanted 6)"), (5.99, 6, "fail", "6.0 of 10 (wanted 6)"),
    (2.0, None, "pass", "2.0 of 10"), (0.0, 0, "pass", "0.0 of 10 (wanted 0)"),
])
@pytest.mark.parametrize("kept", ["scored", "pass"])
def test_the_threshold_is_applied_here(kept: KeptStatus, score: float, threshold: int | None, status: str,
                                       summary: str) -> None:
    """A grade holds a score alone, so that another threshold costs no call. (An earlier evalkit called that a pass.)"""
    check = a_result(a_judged("j", score, threshold=threshold, status=kept)).checks[0]
    assert (check.verdict.status, check.verdict.summary, check.verdict.score) == (status, summary, score)


def test_an_advisory_judge_decides_nothing() -> None:
    """Its score is in the result all the same, with the tokens that it took."""
    result = a_result(PASS, a_judged("j", 1.0, threshold=6, advisory=True))
    assert (result.status, result.scores) == ("pass", [1.0])
    judging = result.checks[1].verdict.judging
    assert judging is not None
    assert judging.usage.input_tokens == 9


def test_only_the_oracle_is_a_self_check() -> None:
    """It is said in the result itself, so that no reader takes it for an agent's."""
    assert (a_result(PASS, agent="oracle", model=None).self_check, a_result(PASS).self_check) == (True, False)
    assert (a_result(PASS, agent="oracle", model=None).note, a_result(PASS).note) == (SELF_CHECK, "")


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    """All of it, judge's tokens and hostile evidence included."""
    evidence = "a\x1b[31m\u202e\x00[red]\nb"
    result = a_result(a_check("c", "fail", evidence=evidence), a_judged("j", 4.25), ending=an_ending(notes=("n",)),
                      left_out=("socket: neither a file nor a folder",))
    write_record(tmp_path / "result.json", result)
    assert result == read_record(tmp_path / "result.json", TrialResult)
    raw = (tmp_path / "result.json").read_bytes()
    assert not any(byte < 32 and byte != 10 for byte in raw), "JSON escapes what would drive a terminal"


@pytest.mark.parametrize(("score", "status"), [(3.0, "pass"), (4.0, "pass"), (4.1, "fail")])
def test_a_lower_score_can_be_the_better_one(score: float, status: str) -> None:
    """`direction lower`: it passes up to the threshold."""
    judge, grade = a_judged("severity", score, threshold=4)
    assert isinstance(judge, Judge)
    result = a_result(a_check("a"), (evolve(judge, direction="lower"), grade))
    assert (status, f"{score:.1f} of 10 (wanted at most 4)") == (
        result.checks[1].verdict.status, result.checks[1].verdict.summary)


SEEN = Finding("the solution", "path", "read", "Bash", "t1", 12, "cases/a/solution/a.ts", "cat x")


@pytest.mark.parametrize(("graded", "found", "status"), [
    (PASS, (SEEN,), "contaminated"), (FAIL, (SEEN, SEEN), "contaminated"), (ERROR, (SEEN,), "error"),
    (PASS, (), "pass"),
])
def test_what_an_agent_saw_is_neither_a_pass_nor_a_fail(graded: Graded, found: tuple[Finding, ...], status: str,
                                                        tmp_path: Path) -> None:
    """The trial is contaminated, and why is said with what it would be. A try changes nothing, nor does an error."""
    audit = Audit("k", bool(found), found, tries=(evolve(SEEN, outcome="denied"),))
    result = build_result(a_trial(graded), a_record(), [graded[1]], "1", audit)
    assert status == result.status
    if status == "contaminated":
        assert result.reason.startswith("contaminated: it read the solution: cases/a/solution/a.ts (by Bash, line 12")
        assert result.reason.endswith(f"; graded, it would be a {graded[1].verdict.status}")
    write_record(tmp_path / "result.json", result)
    assert result == read_record(tmp_path / "result.json", TrialResult)


def test_results_of_earlier_versions_have_no_audit(tmp_path: Path) -> None:
    """They can be read, and say nothing of it."""
    write_record(tmp_path / "result.json", a_result(PASS))
    data = json.loads((tmp_path / "result.json").read_text())
    del data["audit"]
    (tmp_path / "result.json").write_text(json.dumps(data))
    assert None is read_record(tmp_path / "result.json", TrialResult).audit
