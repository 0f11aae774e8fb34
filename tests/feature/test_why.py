"""`evalkit why`, `doit list --status`, `doit info` and `why=1`: they agree, and what they say is what runs."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from evalkit.gateway import ScriptedGateway
from tests.feature.asked import Asked
from tests.feature.conftest import judged_project
from tests.feature.project import MiniProject

CASE = "cases/mini/greeting/greeting.eval"
SUITE = "cases/mini/suite.eval"
BOW = 'case bow { use note; prompt "p.md"; check not-empty as full; solution "s" }\n'
TRIAL = "latest/claude/anthropic%2Fclaude-sonnet-5/greeting/trial-1"
ORACLE = "latest/oracle/greeting/trial-1"


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(capsys, monkeypatch)


def reasons(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Of those tasks that would run for sure, without their trial: why."""
    return {short(name): task["reason"] for name, task in found.items() if task["status"] == "runs"}


def short(name: str) -> str:
    kind, _, rest = name.partition(":")
    check = rest.rpartition(":")[2] if kind in ("grade", "judge") else ""
    return f"{kind} {check}".strip()


def all_agree(project: MiniProject, asked: Asked, *choices: str) -> dict[str, str]:
    """Ask everybody, then run: they must have said the same, and what ran is what they said. What ran, and why."""
    said = asked.tasks(project, "greeting", *choices)
    listed = project.doit("list", "--all", "--status", "--quiet", *choices)
    assert 0 == listed.status, listed.err
    statuses = {line.split()[1]: line[0] for line in listed.out.splitlines()}
    assert {name: "U" if task["status"] == "up to date" else "R" for name, task in said.items()} == {
        name: statuses[name] for name in said}
    one_of_each = {task["status"]: name for name, task in said.items()}
    for name in one_of_each.values():
        task, told = said[name], project.doit("info", name, *choices).out
        assert (f"    - {task['reason']} (args=" if task["reason"] else "status     : up-to-date") in told

    done = project.doit("run", "case:greeting", "why=1", *choices)
    assert 0 == done.status, done.err
    ran = {name: why for name, why in done.ran.items() if name != "report"}
    sure = {short(name) for name, task in said.items() if task["status"] == "runs"}
    maybe = {short(name) for name, task in said.items() if task["status"] == "waits"}
    assert sure <= set(ran) <= sure | maybe
    for name, reason in reasons(said).items():
        assert set(reason.split(", ")) <= set(ran[name].split(", ")), name
    up_to_date = {short(line.split()[3]) for line in done.err.splitlines() if line.startswith("     up to date  ")}
    assert {short(name) for name in said} == set(ran) | up_to_date
    assert set() == set(ran) & up_to_date
    return ran


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniProject]:
    """A project with a judge and a counting agent, all of it up to date."""
    with judged_project(tmp_path_factory.mktemp("settled")) as (project, _):
        assert 0 == project.doit("run", "case:greeting").status
        yield project


EDITS = [
    # the file, the old text, the new one, a task that would run and why
    (CASE, "Write a greeting into", "Put a greeting into", "agent", "prompt changed"),
    (CASE, "/hello/i", "/hell+o/i", "grade greets", "check changed"),
    (CASE, "It is friendly.", "It is kind.", "judge tone", "rubric changed"),
    (CASE, "pass at 6", "pass at 7", "result", "check tone changed"),
    (SUITE, "turns 5", "turns 6", "agent", "turn limit 5 → 6"),
    ("cases/mini/skills/writing/SKILL.md", "Be brief.", "Be short.", "workspace", "skills/writing/SKILL.md changed"),
    ("cases/mini/greeting/starter/notes.txt", "Greet", "Do greet", "workspace", "starter/notes.txt changed"),
    ("cases/mini/skeleton/README.txt", "checks it", "proves it", "template", "skeleton/README.txt changed"),
]


@pytest.mark.parametrize(("file", "old", "new", "task", "why"), EDITS, ids=[f"{edit[3]}: {edit[4]}" for edit in EDITS])
def test_everybody_says_the_same_and_it_comes_so(settled: MiniProject, asked: Asked, file: str, old: str, new: str,
                                                 task: str, why: str) -> None:
    """After an edit, and again after it is taken back, when the agent's outcome is in the store."""
    settled.edit(file, old, new)
    assert why == reasons(asked.tasks(settled, "greeting"))[task]
    assert task in all_agree(settled, asked)
    settled.edit(file, new, old)
    assert task in all_agree(settled, asked)


def test_everybody_says_that_nothing_would_run(settled: MiniProject, asked: Asked) -> None:
    """And nothing does."""
    assert {} == all_agree(settled, asked)


def test_a_project_that_never_ran(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """All would run; asking starts nothing, and leaves no state behind."""
    project, gateway = judged
    found = asked.tasks(project, "case:greeting")
    assert {"never run"} == {task["reason"] for task in found.values()}
    assert 9 == len(found)
    assert not project.path(".evalkit/state.db").exists()
    assert not project.path("results").exists()
    assert not project.path(".evalkit/store").exists()
    assert ([], "") == (gateway.main_requests, (project.root.parent / "fake/runs").read_text())
    assert set(found) >= {"template:mini.note", f"agent:{TRIAL}", f"judge:{TRIAL}:tone"}
    all_agree(project, asked)


def test_what_is_gone_and_what_ended_in_an_error(project: MiniProject, asked: Asked) -> None:
    """A deleted grade, a deleted outcome, and a check that could not tell."""
    assert 0 == project.doit("run", "case:greeting").status
    project.path(f"results/{ORACLE}/grades/greets.json").unlink()
    found = asked.tasks(project, "greeting")
    assert {"grade greets": "its outcome is gone"} == reasons(found)
    assert f"because grade:{ORACLE}:greets runs first (it may come out the same)" == found[f"result:{ORACLE}"]["reason"]
    assert "grade greets" in all_agree(project, asked)

    for kept in project.path(".evalkit/store/agent").glob("*/*"):
        kept.rename(project.root.parent / kept.name)
    found = asked.tasks(project, "greeting")
    assert "its outcome is gone" == found[f"agent:{ORACLE}"]["reason"]
    assert f"because agent:{ORACLE} runs first (it may come out the same)" == found[f"grade:{ORACLE}:own"]["reason"]
    assert "agent" in all_agree(project, asked)

    state = sqlite3.connect(project.path(".evalkit/state.db"))
    state.execute("update task set data = replace(data, '\"pass\"', '\"error\"') where id like 'grade:%:own'")
    state.commit()
    state.close()
    assert {"grade own": "it ended in an error last time"} == reasons(asked.tasks(project, "greeting"))


def test_a_new_version_of_the_agent(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """Both are told."""
    project, _ = judged
    assert 0 == project.doit("run", "case:greeting").status
    program = project.root.parent / "fake/claude"
    program.write_text(program.read_text().replace("9.9.9", "9.9.10"))
    said = reasons(asked.tasks(project, "greeting"))["agent"]
    assert said.startswith("agent version 9.9.9 ")
    assert " → 9.9.10 " in said


def test_for_people(project: MiniProject, asked: Asked) -> None:
    """Grouped by trial, up-to-date tasks summed up unless they were asked for."""
    assert 0 == project.doit("run", "case:greeting").status
    assert "9 tasks, all up to date\n" == asked(project, "why", "greeting")
    project.write("cases/mini/greeting/solution/more.txt", "Hi.\n")
    waits = "waits   because agent runs first (it may come out the same)"
    assert f"""\
greeting oracle
  agent             runs    solution/more.txt is new
  grade own         {waits}
  grade greets      {waits}
  grade finished    {waits}
  grade not-empty   {waits}
  judge tone        {waits}
  result            {waits}
  1 more is up to date

1 task would run, 6 wait for what comes of them, 2 are up to date
""" == asked(project, "why", "greeting")
    whole = asked(project, "why", "greeting", "--all")
    assert "what trials share\n  template:mini.note   up to date\n" in whole
    assert "  workspace         up to date\n" in whole


def test_names(project: MiniProject, asked: Asked) -> None:
    """As doit takes them, and cases and suites without their kind; a mistyped one is told as doit tells it."""
    project.write("cases/mini/bow.eval", BOW)
    project.write("cases/mini/p.md", "Bow.\n")
    project.write("cases/mini/s/a.txt", "I bow.\n")
    bow = {"template:mini.note", *(f"{kind}:latest/oracle/bow/trial-1" for kind in ("workspace", "agent", "result")),
           "grade:latest/oracle/bow/trial-1:full"}
    whole = set(asked.tasks(project, "all"))
    assert bow == set(asked.tasks(project, "bow")) == set(asked.tasks(project, "case:b*")) == set(
        asked.tasks(project, "bo*"))
    assert whole > bow
    assert whole == set(asked.tasks(project, "suite:mini")) == set(asked.tasks(project, "mini")) == set(
        asked.tasks(project, "greeting", "bow", "bow"))
    inner = [f"grade:{ORACLE}:own", f"grade:{ORACLE}:greets", f"grade:{ORACLE}:finished", f"grade:{ORACLE}:not-empty"]
    assert {"template:mini.note", f"workspace:{ORACLE}", f"agent:{ORACLE}", *inner} == set(
        asked.tasks(project, "grade:latest/oracle/greeting/*"))
    assert {"report:latest"} == set(asked.tasks(project, "report:latest"))
    assert set(inner[:1]) < set(asked.tasks(project, str(project.path(f"results/{ORACLE}/grades/own.json"))))

    assert "regrading is no task" in asked(project, "why", "regrade:latest", status=2)
    assert whole == set(asked.tasks(project))
    for name in ("case:greetin", "greetin", "suite:mino", "agent:nobody", "grade:x*"):
        told = asked(project, "why", name, status=2)
        doits = project.doit("run", name)
        assert (doits.status, doits.err) == (2, told), name


def test_choices(project: MiniProject, asked: Asked) -> None:
    """As doit takes them; what cannot be is told as doit tells it."""
    assert "agent:latest/nop/greeting/trial-1" in asked.tasks(project, "greeting", "agent=nop")
    for choice in ("agnt=nop", "agent=claude", "agent=wrong:x", "track=ts"):
        told = asked(project, "why", "greeting", choice, status=2)
        doits = project.doit("run", "case:greeting", choice)
        assert (doits.status, doits.err) == (2, told), choice


def test_new_samples_and_a_budget(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """What they mean for the run is said; asking begins no sample."""
    project, _ = judged
    assert 0 == project.doit("run", "case:greeting").status
    told = asked(project, "why", "greeting", "fresh=1", "budget=3")
    assert "  agent             runs    sample is new\n" in told
    assert told.endswith("""\
1 task would run, 6 wait for what comes of them, 2 are up to date
fresh=1: new samples of 1 agent run; the earlier ones stay in the store
1 agent run and 1 judge's answer may cost money (`evalkit plan` says how much)
budget=3: once $3.00 are spent, no agent and no judge starts
""")
    assert {} == reasons(asked.tasks(project, "greeting"))


def test_what_the_store_has_costs_nothing(judged: tuple[MiniProject, ScriptedGateway], asked: Asked) -> None:
    """After an edit that was taken back the tasks run, and find their outcomes."""
    project, _ = judged
    for old, new in (("Write a", "Put a"), ("Put a", "Write a")):
        assert 0 == project.doit("run", "case:greeting").status
        project.edit(CASE, old, new)
    told = asked(project, "why", "greeting")
    assert "agent             runs   prompt changed (the store has its outcome: it costs nothing)\n" in told
    assert "may cost money" not in told
    assert {f"agent:{TRIAL}", f"judge:{TRIAL}:tone"} <= {
        name for name, task in asked.tasks(project, "greeting").items() if task["in_store"] and not task["costs"]}


def test_ignored_tasks(project: MiniProject, asked: Asked) -> None:
    """They and what needs them do not run, whatever changed."""
    assert 0 == project.doit("run", "case:greeting").status
    assert 0 == project.doit("ignore", f"agent:{ORACLE}").status
    project.write("cases/mini/greeting/solution/more.txt", "Hi.\n")
    found = asked.tasks(project, "greeting")
    assert "ignored" == found[f"agent:{ORACLE}"]["status"] == found[f"result:{ORACLE}"]["status"]
    assert "2 are up to date" in asked(project, "why", "greeting")
    assert {"report"} >= set(project.doit("run", "case:greeting").ran)


def test_the_names_of_files_are_not_needed(project: MiniProject, asked: Asked) -> None:
    """Where nothing is known of what a folder held, the folder is told."""
    assert 0 == project.doit("run", "case:greeting").status
    project.write("cases/mini/greeting/solution/answer.txt", "Hello, you.\n")
    shutil.rmtree(project.path(".evalkit/cache/contents"))
    assert "answer cases/mini/greeting/solution changed" == reasons(asked.tasks(project, "greeting"))["agent"]


def test_a_checkout_in_which_nothing_can_be_written(project: MiniProject, asked: Asked) -> None:
    """A file stands where evalkit's own folder should be."""
    project.path(".evalkit").touch()
    assert "9 tasks would run" in asked(project, "why", "greeting")


def test_a_summary_that_a_run_made_is_up_to_date(settled: MiniProject) -> None:
    """The run sums up by itself; nobody has to run the report's task for that."""
    listed = settled.doit("list", "--all", "--status", "--quiet")
    assert ["U"] == [line[0] for line in listed.out.splitlines() if "report:latest" in line]
    assert {} == settled.doit("run", "report:latest").ran
