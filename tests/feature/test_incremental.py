"""What runs again after an edit: exactly what reads what was edited."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.conftest import judged_project
from tests.feature.project import MiniProject

CASE = "cases/mini/greeting/greeting.eval"
SUITE = "cases/mini/suite.eval"
GRADES = {"grade own", "grade greets", "grade finished", "grade not-empty"}
AFTER_AGENT = GRADES | {"judge tone", "result", "report"}

EDITS: list[tuple[str, str, str, str, set[str]]] = [
    # what is edited, the file, the old text, the new one, the tasks that run
    ("a comment", CASE, "case greeting {", "# a comment\ncase greeting {", set()),
    ("about", CASE, "Writes a greeting.", "Writes some greeting.", set()),
    ("the suite's about", SUITE, "Small things", "Little things", set()),
    ("the order", CASE, "  use note\n  starter \"starter\"\n", "  starter \"starter\"\n  use note\n", set()),
    ("a judge's criterion", CASE, "It is friendly.", "It is very friendly.", {"judge tone", "result", "report"}),
    ("a judge's threshold", CASE, "pass at 6", "pass at 7", {"result", "report"}),
    ("a grep's pattern", CASE, "/hello/i", "/hell+o/i", {"grade greets", "result", "report"}),
    ("a check's description", CASE, "it says hello", "it greets", {"result", "report"}),
    ("a check's command", CASE, "sh check.sh", "sh ./check.sh", {"grade own", "result", "report"}),
    ("a defined check", SUITE, "test -s {file}", "test -r {file}", {"grade not-empty", "result", "report"}),
    ("the prompt", CASE, "Write a greeting into", "Put a greeting into", {"agent"} | AFTER_AGENT),
    # The agent runs again and leaves the same tree: nothing that reads the tree has to.
    ("a limit", SUITE, "turns 5", "turns 6", {"agent", "result", "report"}),
    ("the allow list", SUITE, "Bash(ls *)", "Bash(cat *)", {"agent", "result", "report"}),
    ("a skill", "cases/mini/skills/writing/SKILL.md", "Be brief.", "Be short.",
     {"workspace", "agent", "grade own", "grade not-empty", "result", "report"}),
    ("the starter", "cases/mini/greeting/starter/notes.txt", "Greet", "Do greet",
     {"workspace", "agent", "grade own", "grade not-empty", "result", "report"}),
    ("the scaffold", "cases/mini/skeleton/README.txt", "checks it", "proves it",
     {"template", "workspace", "agent", "grade own", "grade not-empty", "result", "report"}),
]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniProject]:
    """A project that has run twice: the second time nothing ran."""
    with judged_project(tmp_path_factory.mktemp("settled")) as (project, _):
        first = project.doit("run", "case:greeting")
        assert 0 == first.status, first.err
        again = project.doit("run", "case:greeting")
        assert {} == again.ran
        assert first.out == again.out
        yield project


@pytest.mark.parametrize(("what", "file", "old", "new", "expected"), EDITS, ids=[edit[0] for edit in EDITS])
def test_an_edit_runs_exactly_what_reads_it(
    settled: MiniProject, what: str, file: str, old: str, new: str, expected: set[str]
) -> None:
    """One edit at a time: the tasks that run are those of the table; going back runs them again and pays nothing."""
    settled.edit(file, old, new)
    edited = settled.doit("run", "case:greeting")
    assert 0 == edited.status, edited.err
    assert expected == set(edited.ran)

    runs = (settled.root.parent / "fake/runs").read_text()
    settled.edit(file, new, old)
    back = settled.doit("run", "case:greeting")
    assert 0 == back.status, back.err
    assert expected == set(back.ran)
    assert runs == (settled.root.parent / "fake/runs").read_text(), "an agent run that was kept was paid for again"


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
