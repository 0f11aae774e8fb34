"""Expected costs and times, from earlier results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from evalkit.analysis.model import SuiteInfo
from evalkit.dag.announce import duration, expected
from evalkit.dag.expect import Earlier, Figure, Line, Sum, bound, total
from tests.unit.execute.make import case, trial

MODEL = "anthropic/claude-x-1.5"


def line(place: str, cost: float | None = None, **changes: Any) -> Line:
    return Line(place, "greeting", "mini", "claude", MODEL, cost, 10.0)._replace(**changes)


def figure(mean: float, *runs: str) -> Figure:
    return Figure(mean, frozenset(runs))


def other_unit() -> Any:
    return trial(case(name="parting"))


def other_suite() -> Any:
    return trial(case(name="far", suite=SuiteInfo("other", "", "cases/other", "suite.eval:1:1")))


def test_of_the_same_unit_and_subject() -> None:
    """The mean of their lines, and of no others."""
    earlier = Earlier([line("a", 1.0), line("b", 2.0), line("c", 9.0, unit="parting"), line("d", 9.0, agent="api"),
                       line("e", 9.0, model="m")])
    assert figure(1.5, "a", "b") == earlier.cost(trial())
    assert figure(10.0, "a", "b") == earlier.seconds(trial())


def test_of_the_same_subject_on_other_units_of_the_suite() -> None:
    """Where the unit has no line; lines of other suites do not count while there are such."""
    earlier = Earlier([line("a", 1.0), line("b", 3.0), line("c", 9.0, suite="other", unit="far"),
                       line("d", 9.0, agent="api")])
    assert figure(2.0, "a", "b") == earlier.cost(other_unit())


def test_of_the_same_model() -> None:
    """Whoever used it, wherever; else nobody knows."""
    earlier = Earlier([line("a", 1.0), line("b", 3.0, agent="api"), line("c", 9.0, model="m")])
    assert figure(2.0, "a", "b") == earlier.cost(other_suite())
    assert earlier.cost(trial(model="unheard-of")) is None


def test_a_cost_that_was_never_told_is_no_figure() -> None:
    """The time is known all the same."""
    earlier = Earlier([line("a", None, seconds=4.0)])
    assert earlier.cost(trial()) is None
    assert figure(4.0, "a") == earlier.seconds(trial())


def test_an_agent_without_a_model_takes_time() -> None:
    """The reference answer of one unit is no measure of another suite's."""
    earlier = Earlier([line("a", None, agent="oracle", model=None, seconds=7.0)])
    assert figure(7.0, "a") == earlier.seconds(trial(agent="oracle", model=None))
    assert earlier.seconds(trial(other_suite().case, "oracle", None)) is None


def test_judges() -> None:
    """A line's judges have equal parts; of the unit, else of the suite, else of any."""
    earlier = Earlier([line("a", judges=2, judge_cost=0.4), line("b", judges=1, judge_cost=0.4, agent="nop"),
                       line("c", judges=1, judge_cost=1.0, unit="parting"), line("d", judges=1, judge_cost=None),
                       line("e", judges=0, judge_cost=0.0)])
    assert figure((0.2 + 0.4) / 2, "a", "b") == earlier.judge_cost(case())
    found = earlier.judge_cost(case(name="third"))
    assert found is not None
    assert (round(1.6 / 3, 6), {"a", "b", "c"}) == (round(found.mean, 6), set(found.runs))
    assert found == earlier.judge_cost(other_suite().case)
    assert Earlier([]).judge_cost(case()) is None


def test_the_lines_of_all_runs_are_read(tmp_path: Path) -> None:
    """From their summaries; dry runs, trials without a result and damaged files are left out."""
    plain = {"place": "claude/m/greeting/trial-1", "unit": "greeting", "suite": "mini", "agent": "claude",
             "model": MODEL, "cost": 0.5, "seconds": 3, "scores": {"tone": 8.0}, "judge_cost": 0.1,
             "ended": "completed", "dry": False}
    summaries = {"latest": [plain, {**plain, "place": "x", "ended": ""}], "other": [{**plain, "cost": None}],
                 "dry": [{**plain, "dry": True}], "odd": [{}]}
    for run, trials in summaries.items():
        (tmp_path / run).mkdir()
        (tmp_path / run / "summary.json").write_bytes(orjson.dumps({"schema": 1, "trials": trials}))
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged/summary.json").write_text("{")
    place = "claude/m/greeting/trial-1"
    expected_line = Line(f"latest/{place}", "greeting", "mini", "claude", MODEL, 0.5, 3.0, 1, 0.1)
    assert [expected_line, expected_line._replace(place=f"other/{place}", cost=None)] == Earlier.of(tmp_path).lines
    assert [] == Earlier.of(tmp_path / "nowhere").lines


def test_sums() -> None:
    """What is not known is counted, and an earlier result that several rest on is one."""
    assert Sum(3.5, 3, 1, 2) == total([figure(1.0, "a"), figure(1.0, "a"), None, figure(1.5, "a", "b")])
    assert Sum(0, 0, 2, 0) == total([None, None])


def test_the_least_time() -> None:
    """The pool that takes longest: its sum over its places, or its longest trial."""
    places = {"agent": 2, "build": 1}
    tens = [("agent", figure(10.0, "a"))] * 4
    assert 20.0 == bound([*tens, ("build", figure(15.0, "b"))], places)
    assert 45.0 == bound([*tens, ("build", figure(15.0, "b")), ("build", figure(30.0, "b"))], places)
    assert 50.0 == bound([*tens, ("agent", figure(50.0, "c"))], {"agent": 10})
    assert 0.0 == bound([("agent", None)], places)


def test_words() -> None:
    """What a cost rests on is said; times are as people say them."""
    assert "expected cost $1.20 (from 4 earlier runs; no figure for 2)" == expected(Sum(1.2, 3, 2, 4))
    assert "expected cost $0.25 (from 1 earlier run)" == expected(Sum(0.25, 1, 0, 1))
    assert "cost not known: there is no earlier run" == expected(Sum(0, 0, 2, 0))
    assert ["under 1 s", "45 s", "1 min", "90 s", "30 min", "12 min", "3 h 5 min", "2 h"] == [
        duration(seconds) for seconds in (0.4, 45, 60, 90, 1800, 721, 11_100, 7_200)]
