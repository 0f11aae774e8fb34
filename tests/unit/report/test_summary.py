"""A trial's line, and summary.json."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalkit.execute.outcome import Usage
from evalkit.records import structure, unstructure
from evalkit.report.row import failed_row
from evalkit.report.summary import RunSummary, TrialSummary, line_of, line_of_row, line_text, summary_text
from evalkit.values import evolve
from tests.unit.report.results import a_check, a_judged, a_result, a_trial

EXPECTED = """\
{
  "counts": {
    "contaminated": 0,
    "error": 0,
    "fail": 1,
    "not run": 0,
    "pass": 1
  },
  "run": "latest",
  "schema": 1,
  "tiers": {},
  "trials": [
    %s,
    %s
  ]
}
"""
FAILED = (
    '{"agent":"claude","agent_version":"2.1","case":"kanban-board","checks":{"bad":"fail","quality":"pass"},"cost":1.204,"dry":false,'
    '"ended":"completed","failed_cost":0.0,"finished_at":"2026-01-02T03:04:05+00:00","judge":[7.5],"judge_calls":1,"judge_cost":null,"lane":"local",'
    '"measures":{},"model":"anthropic/claude-sonnet-5","must_fail":[],"note":"","place":"claude/m/kanban-board/trial-1","played":"",'
    '"reason":"failed: bad","retries":0,"scores":{"quality":7.5},"seconds":248.2,"self_check":false,"status":"fail",'
    '"suite":"suite","tier":"","tokens":{"input":1000,"output":200},"trial":1,"turns":31,"unit":"kanban-board"}')
PASSED = (
    '{"agent":"oracle","agent_version":"2.1","case":"other","checks":{"good":"pass"},"cost":1.204,"dry":false,"ended":"completed",'
    '"failed_cost":0.0,"finished_at":"2026-01-02T03:04:05+00:00","judge":[],"judge_calls":0,"judge_cost":0.0,"lane":"local",'
    '"measures":{},"model":null,"must_fail":[],'
    '"note":"self-check: reference answer, no model was called","place":"oracle/other/trial-1","played":"",'
    '"reason":"passed 1 of 1 checks","retries":0,"scores":{},"seconds":248.2,"self_check":true,"status":"pass",'
    '"suite":"suite","tier":"","tokens":{"input":1000,"output":200},"trial":1,"turns":31,"unit":"other"}')
PLACE = "claude/m/kanban-board/trial-1"


def data_of(result: object) -> dict[str, Any]:
    """result.json, as it is read."""
    data: dict[str, Any] = json.loads(json.dumps({"schema": 1, **unstructure(result)}))
    return data


def test_the_whole_file() -> None:
    """A line of text a trial, with counts and the schema's number; stable to the byte."""
    right = a_result(a_check("good"), name="other", agent="oracle", model=None)
    lines = [line_of(data_of(a_result(a_check("bad", "fail"), a_judged("quality", 7.5))), PLACE),
             line_of(data_of(right), "oracle/other/trial-1")]
    text = summary_text("latest", [line.status for line in lines], map(line_text, lines)).decode()
    assert text == EXPECTED % (FAILED, PASSED)
    assert structure(json.loads(text), RunSummary).trials == tuple(lines)


def test_an_empty_run_has_an_empty_summary() -> None:
    """No result is no reason to fail."""
    assert json.loads(summary_text("r", [], [])) == {
        "schema": 1, "run": "r", "counts": {"pass": 0, "fail": 0, "contaminated": 0, "error": 0, "not run": 0},
        "tiers": {}, "trials": []}


def test_what_was_paid_besides() -> None:
    """Attempts that the provider failed, and judging, are told apart from the run; None where it is not known."""
    judge, grade = a_judged("j", 7.0)
    judging = grade.verdict.judging
    assert judging is not None
    dear = evolve(grade, verdict=evolve(grade.verdict, judging=evolve(judging, usage=Usage(cost=0.25), retries=2)))
    result = evolve(a_result((judge, dear)), failed=(Usage(cost=0.5), Usage(cost=0.125)))
    line = line_of(data_of(result), PLACE)
    assert (line.cost, line.failed_cost, line.judge_cost, line.retries) == (1.204, 0.625, 0.25, 4)
    line = line_of(data_of(evolve(result, failed=(Usage(cost=0.5), Usage()))), PLACE)
    assert (line.cost, line.failed_cost, line.judge_cost, line.retries) == (1.204, None, 0.25, 4)


def test_an_older_result_has_a_line() -> None:
    """What results did not tell in earlier days is what it was then: nothing."""
    data = data_of(a_result(a_check("a"), a_judged("j", 5.0)))
    del data["failed"], data["must_fail"], data["checks"][1]["verdict"]["judging"]["retries"]
    line = line_of(data, PLACE)
    assert (line.retries, line.failed_cost, line.must_fail) == (0, 0.0, ())


@pytest.mark.parametrize(("path", "value"), [
    (("unit",), None), (("trial",), "1"), (("trial",), True), (("status",), "passed"), (("ending",), []),
    (("ending", "usage", "cost"), "1"), (("checks",), {}), (("checks", 0), []), (("checks", 0, "verdict", "status"), 5),
    (("checks", 0, "verdict", "score"), "x"), (("failed",), [{}])])
def test_what_is_no_result_has_no_line(path: tuple[str | int, ...], value: object) -> None:
    """A field of another type, or none: KeyError or TypeError."""
    data = data_of(a_result(a_check("a")))
    within: Any = data
    for step in path[:-1]:
        within = within[step]
    within[path[-1]] = value
    with pytest.raises((KeyError, TypeError)):
        line_of(data, PLACE)
    del within[path[-1]]
    if path not in (("failed",), ("checks", 0)):
        with pytest.raises((KeyError, TypeError)):
            line_of(data, PLACE)


def test_a_trial_without_a_result_has_a_line() -> None:
    """It tells why, and what was spent all the same; of an agent that calls no model nothing can be."""
    line = line_of_row(failed_row(a_trial(number=2), "429 for an hour", cost=0.5, retries=4), PLACE)
    assert (line.status, line.reason, line.ended, line.checks, line.cost, line.failed_cost, line.retries) == (
        "error", "429 for an hour", "", {}, None, 0.5, 4)
    unknown = line_of_row(failed_row(a_trial(), "it broke"), PLACE)
    unpaid = line_of_row(failed_row(a_trial(), "budget", status="not run"), PLACE)
    oracle = line_of_row(failed_row(a_trial(agent="oracle", model=None), "no disk"), PLACE)
    assert [line.failed_cost for line in (unknown, unpaid, oracle)] == [None, 0.0, 0.0]


def test_a_line_is_read_as_it_was_kept() -> None:
    """Field by field, whatever the texts in it hold."""
    line = evolve(line_of(data_of(a_result(a_check("a"), a_judged("j", 5.0))), PLACE), reason='a\n"b"\u2028\x07')
    assert line == structure(json.loads(line_text(line)), TrialSummary)
    assert b"\n" not in line_text(line)


def test_pass_rates_of_tiers() -> None:
    """By suite, tier and subject; what is in error counts in none, what has no tier is left out."""
    def line(agent: str, tier: str, status: Any, model: str | None = None) -> bytes:
        base = line_of(data_of(a_result(a_check("good"))), PLACE)
        return line_text(evolve(base, agent=agent, model=model, tier=tier, status=status, suite="viewer"))

    lines = [line("oracle", "flat", "pass"), line("palette", "flat", "fail"), line("palette", "flat", "pass"),
             line("tools", "read", "error", "a/m"), line("oracle", "", "pass")]
    told = json.loads(summary_text("r", ["pass"] * 5, lines))["tiers"]
    assert {"viewer": {"flat": {"oracle": {"passed": 1, "graded": 1}, "palette": {"passed": 1, "graded": 2}},
                       "read": {"tools a/m": {"passed": 0, "graded": 0}}}} == told
