"""What runs again, and what was kept (test_edits.py has the table of edits)."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.project import MiniProject
from tests.feature.units import table, units

CASE = "cases/mini/greeting/greeting.eval"
GRADES = {"grade own", "grade greets", "grade finished", "grade not-empty"}


def test_the_oracle_reads_no_prompt_and_a_new_answer_moves_no_template(project: MiniProject) -> None:
    """The reference answer's tasks depend on its files, not on the prompt."""
    first = project.doit("run", "case:greeting", "agent=oracle")
    assert {"template", "workspace", "agent", "result", "report", "judge tone"} | GRADES == set(first.ran)

    project.edit(CASE, "Write a greeting into", "Put a greeting into")
    assert set() == set(project.doit("run", "case:greeting", "agent=oracle").ran)

    project.edit("cases/mini/greeting/solution/answer.txt", "reader", "dear reader")
    changed = project.doit("run", "case:greeting", "agent=oracle").ran
    assert {"agent", "result", "report"} | GRADES == set(changed)
    assert "solution/answer.txt changed" == changed["agent"]


def test_a_reason_is_given_for_every_task_that_runs(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """The line of a task names the input that changed; `doit info` does too."""
    project, _ = judged
    first = project.doit("run", "case:greeting")
    assert {"never run"} == set(first.ran.values())
    project.edit(CASE, "/hello/i", "/hell+o/i")
    listed = project.doit("list", "--all", "--status", "--quiet")
    stale = {line.split()[1].rpartition(":")[2] for line in listed.out.splitlines() if line.startswith("R grade:")}
    assert {"greets"} == stale
    name = next(line.split()[1] for line in listed.out.splitlines() if line.startswith("R grade:"))
    assert "check changed" in project.doit("info", name).out
    assert "check changed" == project.doit("run", "case:greeting").ran["grade greets"]


def test_a_lost_database_pays_for_nothing(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """Agent runs and judges' answers are in the store: a new database finds them again."""
    project, gateway = judged
    first = project.doit("run", "case:greeting")
    for path in project.path(".evalkit").glob("state.db*"):
        path.unlink()
    second = project.doit("run", "case:greeting")
    assert first.out == second.out
    assert 1 == (project.root.parent / "fake/runs").read_text().count("run")
    assert 1 == len(gateway.main_requests)


def test_more_trials_run_only_the_new_ones(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """Raising `trials` from 1 to 3 runs two agents."""
    project, _ = judged
    project.doit("run", "case:greeting")
    third = project.doit("run", "case:greeting", "trials=3")
    assert 0 == third.status, third.err
    assert 3 == (project.root.parent / "fake/runs").read_text().count("run")
    assert "3 passed" in third.out


def test_a_new_run_label_asks_for_new_samples(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """`run=LABEL` is a set of trials of its own; the earlier run's results stay."""
    project, _ = judged
    project.doit("run", "case:greeting")
    project.doit("run", "case:greeting", "run=second")
    assert 2 == (project.root.parent / "fake/runs").read_text().count("run")
    assert project.path("results/latest/summary.json").is_file()
    assert project.path("results/second/summary.json").is_file()


def test_forget_and_clean_never_touch_the_store(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """Forgotten and cleaned tasks run again, from what the store has."""
    project, _ = judged
    project.doit("run", "case:greeting")
    names = [line.split()[0] for line in project.doit("list", "--all").out.splitlines()]
    agent = next(name for name in names if name.startswith("agent:"))
    project.doit("forget", agent)
    assert {"agent"} == set(project.doit("run", "case:greeting").ran)
    project.doit("clean", "-a")
    assert not list(project.path("results").rglob("result.json"))
    again = project.doit("run", "case:greeting")
    assert 0 == again.status, again.err
    assert {"result", "report", "judge tone"} | GRADES == set(again.ran)
    assert 1 == (project.root.parent / "fake/runs").read_text().count("run")


def test_fresh_asks_for_new_samples_and_keeps_the_old_ones(tmp_path: Path) -> None:
    """Each time another agent run, and without it the latest one stays current: a plain run does nothing."""
    with units(tmp_path, 2) as made:
        assert 0 == made.project.doit("run", "suite:mini").status
        first = made.kept()
        for times in (2, 3):
            fresh = made.project.doit("run", "suite:mini", "fresh=1")
            assert 0 == fresh.status, fresh.err
            assert "agent" in fresh.ran
            assert {"unit-01": times, "unit-02": times} == made.agent.starts
            assert {} == made.project.doit("run", "suite:mini").ran
            assert first < made.kept()
            assert 2 * times == len(made.kept())
        assert set(made.keys().values()).isdisjoint(first)

        assert "agent" in made.project.doit("run", "case:unit-01", "fresh=1").ran
        assert {"unit-01": 4, "unit-02": 3} == made.agent.starts
        assert {} == made.project.doit("run", "suite:mini").ran


def test_a_fresh_sample_of_a_run_that_failed_is_asked_for_again(tmp_path: Path) -> None:
    """It never came about: the one before is current still, and a later `fresh=1` makes it."""
    with units(tmp_path, 1) as made:
        assert 0 == made.project.doit("run", "suite:mini").status
        made.agent.behave(fails=9, status=400)
        assert 3 == made.project.doit("run", "suite:mini", "fresh=1").status
        assert 1 == len(made.kept())
        made.agent.behave()
        done = made.project.doit("run", "suite:mini", "fresh=1")
        assert 0 == done.status, done.err
        assert 2 == len(made.kept())
        assert {"unit-01": 3} == made.agent.starts


@pytest.mark.parametrize("name", ["agent.json", "transcript.jsonl", "tree.tar.zst", "entry.json"])
def test_a_damaged_agent_run_is_set_aside_and_made_again(tmp_path: Path, name: str) -> None:
    """As soon as somebody reads it (here an edited check). It is said; one agent runs, that of its unit; a judge whose
    files are equal is not asked again.
    """
    with units(tmp_path, 3) as made:
        assert 0 == made.project.doit("run", "suite:mini").status
        key = made.keys()["unit-01"]
        with (made.store.path("agent", key) / name).open("r+b") as file:
            file.truncate(10)
        assert {} == made.project.doit("run", "suite:mini").ran
        made.project.edit("cases/mini/unit-01.eval", 'exists "answer.txt"', 'exists "answer.*"')
        done = made.project.doit("run", "suite:mini")
        assert 0 == done.status, done.err
        assert f"the agent {key[:12]} in the store is damaged (" in done.err
        assert name in done.err
        assert "will be made again" in done.err
        assert "agent" in done.ran
        assert {"unit-01": 2, "unit-02": 1, "unit-03": 1} == made.agent.starts
        assert {"unit-01": 1} == made.requests()[1]
        assert [f"agent-{key}-1"] == [path.name for path in made.store.damaged()]
        assert {} == made.project.doit("run", "suite:mini").ran


def test_a_damaged_answer_of_a_judge_is_asked_for_again(tmp_path: Path) -> None:
    """When it is needed: as long as the grade that was made of it stands, nobody reads it."""
    with units(tmp_path, 1) as made:
        first = made.project.doit("run", "suite:mini")
        key = made.keys(judge="tone")["unit-01"]
        (made.store.path("judge", key) / "response.json").write_text("{}")
        assert {} == made.project.doit("run", "suite:mini").ran
        made.project.path("results/latest").rename(tmp_path / "earlier")
        done = made.project.doit("run", "suite:mini")
        assert table(first.out) == table(done.out)
        assert f"the judge {key[:12]} in the store is damaged" in done.err
        assert ({"unit-01": 1}, {"unit-01": 2}) == made.requests()
