"""What runs again, and what was kept (test_edits.py has the table of edits)."""

from __future__ import annotations

from evalkit.gateway import ScriptedGateway
from tests.feature.project import MiniProject

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
