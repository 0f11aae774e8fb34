"""`evalkit plan`: what would run, and its price."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.asked import Asked
from tests.feature.project import MiniProject

CASE = "cases/mini/greeting/greeting.eval"
BYE = 'case bye { use note; prompt "bye.md"; check not-empty as full }\n'
PLAN = """\
             up to date   runs   waits
templates             0      1       0
workspaces            0      1       0
agents                0      1       0
grades                0      4       0
judges                0      1       0
results               0      1       0

nothing of this calls a model that has to be paid for
"""


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(capsys, monkeypatch)


def planned(asked: Asked, project: MiniProject, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asked(project, "plan", "--json", *words))
    return found


def test_what_costs_nothing(project: MiniProject, asked: Asked) -> None:
    """Tasks are counted by kind; nothing runs and nothing is left behind."""
    assert PLAN == asked(project, "plan", "greeting")
    assert not project.path("results").exists()
    assert not project.path(".evalkit/store").exists()
    assert 0 == project.doit("run", "case:greeting").status
    assert asked(project, "plan", "all").endswith("\nall is up to date: nothing would run\n")


def test_what_nobody_knows(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """Without earlier results there is no figure, and that is said; no model is called for it."""
    project, gateway = judged
    told = asked(project, "plan", "greeting", "trials=3")
    assert " with anthropic/claude-sonnet-5: 3 trials of greeting, cost not known   (there is no earlier run)\n" in told
    assert "judges: 3 answers, cost not known   (there is no earlier run)\nexpected cost: not known\n" in told
    assert "expected time" not in told
    assert {"expected": None, "known": 0, "unknown": 6, "earlier_runs": 0} == planned(
        asked, project, "greeting", "trials=3")["cost"]
    assert ([], "") == (gateway.main_requests, (project.root.parent / "fake/runs").read_text())


def test_prices_are_those_of_earlier_results(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """Of the same unit, else of another one of the suite; the announcement says the same of the agents."""
    project, _ = judged
    assert 0 == project.doit("run", "case:greeting").status
    project.write("cases/mini/bye.eval", BYE)
    project.write("cases/mini/bye.md", "Say goodbye.\n")
    found = planned(asked, project, "all", "trials=3")
    assert {"up to date": 1, "runs": 5, "waits": 0, "ignored": 0} == found["kinds"]["agents"]
    agents = found["agents"]
    assert [("claude", "anthropic/claude-sonnet-5", 5, ["bye", "greeting"])] == [
        (one["agent"], one["model"], one["trials"], one["units"]) for one in agents]
    assert {"expected": 1.25, "known": 5, "unknown": 0, "earlier_runs": 1} == agents[0]["cost"]
    assert (2, 1) == (found["judges"]["known"], found["judges"]["earlier_runs"])
    assert 0.0 < found["judges"]["expected"] < 0.1
    assert round(1.25 + found["judges"]["expected"], 6) == found["cost"]["expected"]
    assert 0.0 < found["seconds_at_least"] < 30

    done = project.doit("run", "all", "trials=3")
    assert "5 trials of 2 cases" in done.err
    assert "expected cost $1.25 (from 1 earlier run)\n" in done.err


def test_a_model_that_was_never_used_has_no_price(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """What is known is told, and for how many nothing is."""
    project, _ = judged
    assert 0 == project.doit("run", "case:greeting").status
    told = asked(project, "plan", "greeting", "model=anthropic/claude-sonnet-5,other/model", "trials=2", "judge=off")
    assert " with other/model: 2 trials of greeting, cost not known   (there is no earlier run)\n" in told
    assert "expected cost: $0.25 and what 2 without a figure cost\n" in told


def test_the_budget(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """Whether it is enough."""
    project, _ = judged
    assert 0 == project.doit("run", "case:greeting").status

    def told(*choices: str) -> str:
        page = asked(project, "plan", "greeting", "judge=off", *choices)
        return next(line for line in page.splitlines() if line.startswith("expected cost: "))

    assert "expected cost: $0.50" == told("trials=3")
    assert "expected cost: $0.50, within the budget of $5.00" == told("trials=3", "budget=5")
    assert "expected cost: $0.50, more than the budget of $0.40: what is left then does not run" == told(
        "trials=3", "budget=0.4")
    assert "expected cost: not known (budget $5.00; once that is spent, nothing more starts)" == told(
        "model=other/model", "budget=5")


def test_what_the_store_has_costs_nothing(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """An edit that was taken back: the tasks run, and nothing is paid for."""
    project, _ = judged
    for old, new in (("Write a", "Put a"), ("Put a", "Write a")):
        assert 0 == project.doit("run", "case:greeting").status
        project.edit(CASE, old, new)
    assert asked(project, "plan", "greeting").endswith("""
1 agent run and 1 judge's answer will be taken from the store: they cost nothing
nothing of this calls a model that has to be paid for
""")
    assert {"agent": 1, "judge": 1} == planned(asked, project, "greeting")["in_store"]
    assert "about to run" not in project.doit("run", "case:greeting").err


def test_new_samples_and_dry_runs(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """What the judge will be asked is not known before the agent has run: its answer is counted as one to be paid."""
    project, _ = judged
    assert 0 == project.doit("run", "case:greeting").status
    found = planned(asked, project, "greeting", "fresh=1")
    assert ({"up to date": 0, "runs": 0, "waits": 1, "ignored": 0}, 1) == (found["kinds"]["judges"],
                                                                         found["judges"]["known"])
    assert ["fresh=1: new samples of 1 agent run; the earlier ones stay in the store"] == found["notes"]
    assert ([], 0) == (planned(asked, project, "greeting", "dry=1")["agents"],
                       planned(asked, project, "greeting", "dry=1")["cost"]["known"])


def test_mistakes(project: MiniProject, asked: Asked) -> None:
    """They are those of `doit run`."""
    for words in (("greetin",), ("greeting", "trials=x"), ("nobody/x",)):
        told = asked(project, "plan", *words, status=2)
        assert project.doit("run", *words).err.replace("case:greetin", "greetin") == told.replace(
            "case:greetin", "greetin")
