"""The statistics of a unit's trials."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit.report.aggregate import Aggregate, aggregate
from evalkit.report.summary import TrialSummary


def a_line(status: str = "pass", **said: Any) -> TrialSummary:
    """The line of a trial that ended well, unless said otherwise."""
    values: dict[str, Any] = {
        "place": "claude/m/unit/trial-1", "case": "case", "unit": "unit", "suite": "suite", "agent": "claude",
        "model": "m", "trial": 1, "lane": "local", "self_check": False, "note": "", "dry": False, "status": status,
        "reason": "", "checks": {}, "judge": (), "turns": 10, "cost": 0.1, "seconds": 1.5, "ended": "completed",
        "tokens": {"input": 100, "output": 20}, **said}
    return TrialSummary(**values)


def test_all_of_it() -> None:
    """Passes over passes and fails; each check's counts; means of scores; sums of what is known, and what is not.

    A contaminated trial costs what it costs, and counts in nothing else.
    """
    lines = [
        a_line(checks={"a": "pass", "b": "pass", "j": "pass"}, scores={"j": 8.0, "k": 5.0}, judge_cost=0.01),
        a_line("fail", checks={"a": "pass", "b": "fail", "j": "skipped"}, ended="capped", retries=2, failed_cost=0.3),
        a_line("fail", checks={"a": "error", "b": "fail", "j": "pass"}, scores={"j": 5.0}, ended="timeout",
               cost=None, turns=None, tokens={}, judge_cost=None),
        a_line("error", checks={"a": "error", "b": "pass"}, tokens={"input": 1, "cache_read": 7}),
        a_line("error", ended="", turns=None, cost=None, seconds=0.0, tokens={}, failed_cost=None, retries=4),
        a_line("not run", ended="", turns=None, cost=None, seconds=0.0, tokens={}),
        a_line("contaminated", checks={"a": "pass", "b": "pass", "j": "pass"}, scores={"j": 10.0}, cost=0.1),
    ]
    assert aggregate("latest", lines) == Aggregate(
        run="latest", case="case", unit="unit", suite="suite", agent="claude", model="m", self_check=False, dry=False,
        lanes=("local",), trials={"pass": 1, "fail": 2, "contaminated": 1, "error": 2, "not run": 1}, pass_rate=1 / 3,
        checks={"a": {"pass": 2, "fail": 0, "skipped": 0, "error": 2},
                "b": {"pass": 2, "fail": 2, "skipped": 0, "error": 0},
                "j": {"pass": 2, "fail": 0, "skipped": 1, "error": 0}},
        judges={"j": 6.5, "k": 5.0}, judge=6.0, missed={}, capped=1, timeouts=1, turns=40,
        tokens={"input": 301, "output": 60, "cache_read": 7}, cost=0.4, failed_cost=0.3, judge_cost=0.01, seconds=7.5,
        retries=6, unknown={"turns": 1, "tokens": 1, "cost": 1, "failed_cost": 1, "judge_cost": 1})


@pytest.mark.parametrize("status", ["error", "not run", "contaminated"])
def test_nothing_that_counts_has_no_rate(status: str) -> None:
    """No trial that passed or failed: neither 0 nor 1. No score: no mean."""
    found = aggregate("latest", [a_line(status, ended="")])
    assert (found.pass_rate, found.judge, found.judges) == (None, None, {})


def test_a_model_that_was_not_called_is_not_unknown() -> None:
    """Of the oracle, and of a dry run, there is nothing that turns, tokens and cost could be of."""
    none: dict[str, Any] = {"turns": None, "cost": None, "tokens": {}}
    for line in (a_line(model=None, **none), a_line(dry=True, **none)):
        assert set(aggregate("latest", [line]).unknown.values()) == {0}


def test_what_a_wrong_answer_must_fail() -> None:
    """Expected against got: only a pass is a miss; a check that could not tell misses nothing."""
    must = ("a", "b")
    lines = [a_line("fail", checks={"a": "fail", "b": "pass", "c": "pass"}, must_fail=must),
             a_line("fail", checks={"a": "fail", "b": "pass", "c": "pass"}, must_fail=must),
             a_line("error", checks={"a": "error", "b": "skipped", "c": "pass"}, must_fail=must)]
    assert aggregate("prove", lines).missed == {"a": 0, "b": 2}


def test_lanes_are_told() -> None:
    """Trials that ran in different lanes are counted together, and that is said."""
    assert aggregate("latest", [a_line(lane="sandbox"), a_line()]).lanes == ("local", "sandbox")
