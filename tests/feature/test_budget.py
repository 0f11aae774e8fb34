"""`budget=DOLLARS`: once it is spent nothing more that costs starts; what ran is kept, a later run does the rest."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.feature.units import units

COUNT = 6
REACHED = """\
budget: the budget of $0.60 is reached: $0.75 spent
  run again with a larger one (budget=…): what finished is kept
"""


def test_what_the_budget_does_not_reach_is_not_run(tmp_path: Path) -> None:
    """Three of six agents at a quarter of a dollar each; a larger budget runs the other three, and no check again."""
    with units(tmp_path, COUNT, judged=False) as made:
        done = made.project.doit("run", "suite:mini", "budget=0.60", "agents=1")
        assert 4 == done.status, done.err
        assert 1 == done.err.count(REACHED)
        assert done.out.endswith("\n3 passed, 3 not run (budget)\n")
        assert 3 == done.err.count(": not run (budget)")
        assert "could not do its work" not in done.err
        ran = set(made.agent.starts)
        assert {name: "pass" if name in ran else "not run" for name in made.names} == {
            line[:7]: line[9:16].strip() for line in done.out.splitlines() if line.startswith("unit-")}
        assert Counter(ran) == made.agent.starts
        assert 3 == len(ran)
        assert ran == set(made.keys())
        summary = json.loads(made.project.read("results/latest/summary.json"))
        statuses = {trial["unit"]: (trial["status"], trial["reason"]) for trial in summary["trials"]}
        assert {name: ("pass", "passed 2 of 2 checks") if name in ran else ("not run", "budget")
                for name in made.names} == statuses

        more = made.project.doit("run", "suite:mini", "budget=5")
        assert 0 == more.status, more.err
        assert "this run: $0.75 spent" in more.err
        assert [] == [line for line in more.err.splitlines() for name in ran if name in line]
        assert Counter(made.names) == made.agent.starts
        assert {} == made.project.doit("run", "suite:mini", "budget=0.01").ran


def test_what_runs_when_it_is_reached_may_finish(tmp_path: Path) -> None:
    """Of agents side by side those that had started end well, are graded, and are counted."""
    with units(tmp_path, COUNT * 2, seconds=0.3, judged=False) as made:
        done = made.project.doit("run", "suite:mini", "budget=0.25", "agents=4")
        assert 4 == done.status, done.err
        started = sum(made.agent.starts.values())
        assert 4 <= started < COUNT * 2
        assert f"{started} passed" in done.out
        assert f"${started * 0.25:.2f} spent" in done.err
        assert {event.what for event in made.agent.events} == {"start", "end"}


def test_what_is_kept_costs_nothing(tmp_path: Path) -> None:
    """Without any state, and with next to no budget, all comes from the store."""
    with units(tmp_path, COUNT) as made:
        first = made.project.doit("run", "suite:mini")
        asked = len(made.gateway.requests)
        for path in made.project.path(".evalkit").glob("state.db*"):
            path.unlink()
        shutil.rmtree(made.project.path("results"))
        second = made.project.doit("run", "suite:mini", "budget=0.01")
        assert (0, first.out) == (second.status, second.out)
        assert "spent" not in second.err
        assert asked == len(made.gateway.requests)


def test_a_judge_costs_too(tmp_path: Path) -> None:
    """The agent's run reached the budget: no judge is asked. Later it is, and no agent runs again."""
    with units(tmp_path, 1) as made:
        done = made.project.doit("run", "suite:mini", "budget=0.20")
        assert 4 == done.status, done.err
        assert "not run (budget)" in done.out
        assert (Counter(made.names), Counter()) == made.requests()
        more = made.project.doit("run", "suite:mini", "budget=0.20")
        assert 0 == more.status, more.err + more.out
        assert {"judge tone", "result", "report"} == set(more.ran)
        assert (Counter(made.names), Counter(made.names)) == made.requests()


@pytest.mark.parametrize("budget", ["0", "-1", "much", "$"])
def test_a_budget_is_an_amount(tmp_path: Path, budget: str) -> None:
    """Anything else is a mistake, and nothing runs."""
    with units(tmp_path, 1) as made:
        done = made.project.doit("run", "suite:mini", f"budget={budget}")
        assert 2 == done.status
        assert "budget is an amount in dollars" in done.err
        assert Counter() == made.agent.starts
