"""Cases that are settled in one look, and everything that makes a run look again at exactly the right ones.

Two things are told of each run: the tasks that ran, from its own lines, and the cases whose tasks were looked at, from
the records of what has settled: whoever finds a case up to date, task by task, writes its record anew.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attrs import field, frozen

from tests.feature.conftest import judged_project
from tests.feature.project import KEY, Done, MiniProject

SUITE = "cases/mini/suite.eval"
CASE = "cases/mini/greeting/greeting.eval"
LATEST = "results/latest/oracle"
GREETING = f"{LATEST}/greeting/trial-1"
FILES = {
    "cases/mini/bow.eval": 'case bow { use note; prompt "p.md"; check not-empty as full; solution "bow" }\n',
    "cases/mini/p.md": "Bow.\n",
    "cases/mini/bow/bow.txt": "I bow.\n",
    "cases/more/suite.eval": 'suite more { model env MORE_MODEL else "a/model" }\n',
    "cases/more/wave.eval": 'case wave { scaffold copy "empty"; prompt "p.md"; check exists "w.txt" as there; '
                            'solution "wave" }\n',
    "cases/more/p.md": "Wave.\n",
    "cases/more/empty/r.txt": "Wave.\n",
    "cases/more/wave/w.txt": "I wave.\n",
    "cases/mini/greeting/hidden/hidden.sh":
        "echo '<testsuite><testcase classname=\"a\" name=\"b\"/></testsuite>' > \"$1\"\n",
}
IN_COPIES = {"grade own", "grade not-empty", "grade hidden"}
GRADES = {"grade greets", "grade finished", *IN_COPIES}
RESULT = {"result", "report"}
BOW = {"workspace", "agent", "grade full"}
ALL = {"greeting", "bow", "wave"}
TICK = 0.03
"""Seconds after which a change has another time than one before, and a file is not young any more."""


def settled_project(project: MiniProject) -> MiniProject:
    """Three cases in two suites, settled with their reference answers."""
    for name, text in FILES.items():
        project.write(name, text)
    project.edit(SUITE, 'about "Small', 'toolchain words { env A = "b" }\n  about "Small')
    project.edit(CASE, "  judge", '  check hidden-tests "hidden" run "sh hidden.sh {report}" as hidden\n  judge')
    project.warm = True
    settle(project)
    return project


def settle(project: MiniProject, *args: str) -> None:
    """Run until nothing is looked at."""
    for _ in range(3):
        time.sleep(TICK)
        if (set(), set()) == run(project, *(args or ("all",)))[1:]:
            return
    raise AssertionError("it does not settle")


def records(project: MiniProject) -> dict[tuple[str, str], int]:
    """When the record of a name in a context was written."""
    with closing(sqlite3.connect(project.path(".evalkit/state.db"))) as state:
        tables = state.execute("select name from sqlite_master where name = 'settled'").fetchall()
        return {(name, context): at for name, context, at in (
            state.execute("select name, context, at from settled").fetchall() if tables else ())}


def run(project: MiniProject, *args: str, status: int | None = 0) -> tuple[Done, set[str], set[str]]:
    """What came of a run, the tasks that ran, and the cases that were looked at."""
    before = records(project) if project.path(".evalkit/state.db").exists() else {}
    done = project.doit("run", *args)
    assert status is None or done.status == status, done.err
    looked = {name.removeprefix("case:") for (name, context), at in records(project).items()
              if name.startswith("case:") and at != before.get((name, context))}
    return done, set(done.ran), looked


def rows(done: Done) -> list[str]:
    """The names of the table's first column."""
    return re.findall(r"^(\w+) +(?:pass|fail|error)\b", done.out, re.MULTILINE)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> MiniProject:
    return settled_project(MiniProject.make(tmp_path_factory.mktemp("settled")))


# ---- nothing to do ----
def test_nothing_is_looked_at(settled: MiniProject, tmp_path: Path) -> None:
    """No case is loaded, and nothing is imported that only tasks need; the table is the same."""
    for name, asked in (("all", ["bow", "greeting", "wave"]), ("suite:mini", ["bow", "greeting"]),
                        ("case:bow", ["bow"]), ("case:b*", ["bow"])):
        done, ran, looked = run(settled, name)
        assert (set(), set(), asked) == (ran, looked, rows(done)), name
        assert "everything was up to date: nothing ran\n" == done.err
    ran_cold = subprocess.run([sys.executable, "-X", "importtime", "-m", "doit", "run", "all"], cwd=settled.root,
                              env=settled.environ, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in ran_cold.stderr.splitlines()}
    assert run(settled, "all")[0].out == ran_cold.stdout
    assert "evalkit.dag.settled" in imported
    assert not imported & {"evalkit.dag.plan", "evalkit.dag.tasks", "evalkit.dag.engine", "evalkit.report.result",
                           "evalkit.analysis.resolve", "lark", "rich.console", "httpx", "zstandard"}


def test_selections_one_after_the_other_sum_up_nothing_anew(settled: MiniProject) -> None:
    """Each knows that the summary is as the other left it."""
    for name in ("case:bow", "case:wave", "all", "case:bow", "suite:mini"):
        assert (set(), set()) == run(settled, name)[1:], name


def test_names_more_than_once_and_in_another_order(settled: MiniProject) -> None:
    """Each trial has one line, in the order of the selection."""
    done, ran, looked = run(settled, "case:wave", "case:bow", "suite:mini", "case:wave", "case:*w")
    assert (["wave", "bow", "greeting"], set(), set()) == (rows(done), ran, looked)


# ---- what moves ----
@frozen
class Move:
    """A change, and what the next run of all does because of it."""

    what: str
    make: Callable[[MiniProject], object]
    ran: set[str] = field(factory=set)
    looked: set[str] = field(factory=lambda: {"greeting"})


def delete(name: str) -> Callable[[MiniProject], object]:
    return lambda project: project.path(name).unlink()


def write(name: str, text: str) -> Callable[[MiniProject], object]:
    return lambda project: project.write(name, text)


def tree(name: str) -> Callable[[MiniProject], object]:
    """Remove a folder."""
    return lambda project: shutil.rmtree(project.path(name))


MOVES = [
    Move("a result is deleted", delete(f"{GREETING}/result.json"), RESULT),
    Move("a result is damaged", write(f"{GREETING}/result.json", "{"), RESULT),
    Move("a result is written anew with the same in it",
         lambda project: project.write(f"{GREETING}/result.json", project.read(f"{GREETING}/result.json"))),
    Move("a grade is damaged", write(f"{GREETING}/grades/greets.json", "{"), {"grade greets"}),
    Move("a grade is deleted", delete(f"{GREETING}/grades/own.json"), {"grade own"}),
    Move("the final tree is cut off", write(f"{GREETING}/workspace.tar.zst", "cut"), RESULT),
    Move("the final tree is deleted", delete(f"{GREETING}/workspace.tar.zst"), RESULT),
    Move("agent runs are deleted", tree(".evalkit/store/agent"), {"agent"}, ALL),
    Move("the summary is deleted", delete("results/latest/summary.json"), {"report"}, set()),
    Move("the summary is damaged", write("results/latest/summary.json", "{"), {"report"}, set()),
    Move("an aggregate is deleted", delete(f"{LATEST}/greeting/aggregate.json"), {"report"}),
    Move("the toolchain is deleted", tree("../cache/toolchains"), {"toolchain"}, {"greeting", "bow"}),
    Move("a starter file is edited", write("cases/mini/greeting/starter/notes.txt", "Greet them.\n"),
         {"workspace", "agent", *IN_COPIES, *RESULT}),
    Move("a starter file is added", write("cases/mini/greeting/starter/more.txt", "Greet all.\n"),
         {"workspace", "agent", *IN_COPIES, *RESULT}),
    Move("a starter file is removed", delete("cases/mini/greeting/starter/more.txt"),
         {"workspace", "agent", *IN_COPIES, *RESULT}),
    Move("an answer's file is edited", write("cases/mini/greeting/solution/answer.txt", "Hello, you.\n"),
         {"agent", *GRADES, *RESULT}),
    Move("an answer's file is added", write("cases/mini/greeting/solution/more.md", "Hello, all.\n"),
         {"agent", *IN_COPIES, *RESULT}),
    Move("an answer's file is removed", delete("cases/mini/greeting/solution/more.md"),
         {"agent", *IN_COPIES, *RESULT}),
    Move("a hidden file is added", write("cases/mini/greeting/hidden/more.txt", "more\n"), {"grade hidden", *RESULT}),
    Move("a hidden file is edited", write("cases/mini/greeting/hidden/more.txt", "MORE\n"), {"grade hidden", *RESULT}),
    Move("a hidden file is removed", delete("cases/mini/greeting/hidden/more.txt"), {"grade hidden", *RESULT}),
    Move("a file that two cases share is edited", write("cases/mini/skeleton/README.txt", "Write.\n"),
         {"template", *BOW, *IN_COPIES, *RESULT}, {"greeting", "bow"}),
    Move("a file that no case reads is added", write("cases/mini/greeting/notes.txt", "Hm.\n"), looked=set()),
    Move("a comment is added", lambda project: project.edit(CASE, "  use note", "  # Hm.\n  use note"), looked=set()),
    Move("a check is edited", lambda project: project.edit(CASE, "/hello/i", "/hell/i"), {"grade greets", *RESULT}),
    Move("what only another agent reads is edited",
         lambda project: project.edit(CASE, "Write a greeting into", "Put a greeting into")),
    Move("forget a case", lambda project: project.doit("forget", "case:wave"), set(), ALL),
    Move("forget a task", lambda project: project.doit("forget", "agent:latest/oracle/wave/trial-1"), {"agent"}, ALL),
    Move("clean a case", lambda project: project.doit("clean", "case:wave"),
         {"grade there", *RESULT}, {"wave"}),
    Move("look at all that runs", lambda project: project.doit("list", "--all", "--status"), looked=set()),
]


@pytest.mark.parametrize("move", MOVES, ids=[move.what for move in MOVES])
def test_a_move(settled: MiniProject, move: Move) -> None:
    """The right tasks run, the right cases are looked at, and once that is done nothing is."""
    time.sleep(TICK)
    move.make(settled)
    time.sleep(TICK)
    done, ran, looked = run(settled, "all")
    assert (move.ran, move.looked) == (ran, looked)
    assert ["bow", "greeting", "wave"] == rows(done)
    settle(settled)


# ---- other contexts ----
JUDGED = {"judge tone", *RESULT}
CONTEXTS = [
    # what is said in another run, the tasks that run there, and those that run when all is as before
    ({"EVALKIT_JUDGE": "off"}, JUDGED, JUDGED),
    ({"AI_GATEWAY_API_KEY": KEY}, JUDGED, JUDGED),
    ({"MORE_MODEL": "another/model"}, set(), set()),
    ({"EVALKIT_CACHE": "elsewhere"}, {"toolchain"}, set()),
    ({"EVALKIT_STORE": "elsewhere"}, {"template", "workspace", "agent"}, set()),
    ({"EVALKIT_JOBS": "1", "EVALKIT_BUDGET": "5", "SOMETHING": "else"}, None, set()),
]


@pytest.mark.parametrize(("env", "there", "back"), CONTEXTS, ids=["+".join(env) for env, _, _ in CONTEXTS])
def test_another_context(settled: MiniProject, env: dict[str, str], there: set[str] | None, back: set[str]) -> None:
    """In each all is looked at once; going back looks at what became another meanwhile. None: it is the same one."""
    settle(settled, "all", "agent=oracle")
    settled.env = {name: str(settled.root.parent / value) if value == "elsewhere" else value
                   for name, value in env.items()}
    time.sleep(TICK)
    try:
        done, ran, looked = run(settled, "all", "agent=oracle")
        assert (there or set(), set() if there is None else ALL) == (ran, looked)
        assert (set(), set()) == run(settled, "all", "agent=oracle")[1:]
    finally:
        settled.env = {}
    assert (back, {"greeting"} if back else set()) == run(settled, "all", "agent=oracle")[1:]
    settle(settled)
    assert ["bow", "greeting", "wave"] == rows(done)


def test_another_agent_and_another_run(settled: MiniProject) -> None:
    """Each has results of its own: one leaves the other's alone; of one run label both share the summary."""
    for choice in ("agent=nop", "run=second"):
        done, _, looked = run(settled, "all", choice, status=None)
        assert ALL == looked, done.err
        time.sleep(TICK)
        first, again = (run(settled, "all", choice, status=done.status) for _ in range(2))
        assert (first[0].out, set(), set()) == (done.out, *again[1:])
    assert 0 == settled.doit("run", "all").status
    settle(settled)


# ---- with other cases that are not settled ----
def test_some_are_settled_and_some_are_not(settled: MiniProject) -> None:
    """The table has all, in the order of the selection; the exit status is of all, whichever was settled."""
    names = ["case:wave", "case:greeting", "case:bow"]
    assert 1 == run(settled, *names, "agent=nop", status=None)[0].status
    assert 1 == run(settled, *names, "agent=nop", status=None)[0].status
    settled.write("cases/more/empty/r.txt", "Wave!\n")
    time.sleep(TICK)
    done, ran, looked = run(settled, *names, "agent=nop", status=1)
    assert ({"template", "workspace", "agent", *RESULT}, {"wave"}) == (ran - {"grade there"}, looked)
    assert ["wave", "greeting", "bow"] == rows(done)
    settled.write(f"{LATEST}/wave/trial-1/result.json", "{")
    settled.edit("cases/more/wave.eval", "w.txt", "no.txt")
    done, _, looked = run(settled, *names, status=1)
    assert (["wave", "greeting", "bow"], {"wave"}) == (rows(done), looked)
    settled.edit("cases/more/wave.eval", "no.txt", "w.txt")
    settle(settled)


def test_a_case_that_cannot_be_run_ends_with_the_table_of_the_others(settled: MiniProject) -> None:
    """Its error outweighs what was settled, and is told each time: it does not settle."""
    settled.edit("cases/more/wave.eval", 'scaffold copy "empty"', 'scaffold run "false"')
    try:
        for _ in range(3):
            done, _, looked = run(settled, "all", status=2)
            assert (["bow", "greeting", "wave"], set()) == (rows(done), looked - {"bow", "greeting"})
            assert "scaffold" in done.err
            time.sleep(TICK)
        assert set() == looked
    finally:
        settled.edit("cases/more/wave.eval", 'scaffold run "false"', 'scaffold copy "empty"')
        settle(settled)


def test_a_result_that_cannot_be_read_is_told_until_it_is_mended(settled: MiniProject) -> None:
    """The summary of a run with an error is not settled, though the case is."""
    settled.write(f"{LATEST}/wave/trial-1/result.json", "{")
    settled.path("results/latest/summary.json").write_text("{")
    for _ in range(3):
        done, ran, _ = run(settled, "case:bow", status=3)
        assert f"{LATEST}/wave/trial-1/result.json" in done.err
        time.sleep(TICK)
    assert set() == ran
    settle(settled)


def test_a_summary_that_could_not_be_made_is_made_by_the_next_run(settled: MiniProject) -> None:
    """Whichever case that one names: the summary that is there does not count as settled any more."""
    aggregate, before = settled.path(f"{LATEST}/bow/aggregate.json"), settled.path("results/latest/summary.json")
    text = before.read_bytes()
    settled.edit("cases/mini/bow.eval", "not-empty as full", 'not-empty as full; check absent "*.txt" as none')
    aggregate.unlink()
    aggregate.mkdir()
    (aggregate / "in-the-way").touch()
    try:
        done, ran, _ = run(settled, "case:bow", status=None)
        assert (3, text) == (done.status, before.read_bytes())
        assert {"grade none", "result"} <= ran
        assert 3 == run(settled, "case:wave", status=None)[0].status
        shutil.rmtree(aggregate)
        assert {"report"} == run(settled, "case:wave")[1]
    finally:
        shutil.rmtree(aggregate, ignore_errors=True)
        settled.edit("cases/mini/bow.eval", '; check absent "*.txt" as none', "")
        settle(settled)


@pytest.mark.parametrize(("name", "made"), [("grades/full.json", {"grade full"}),
                                            ("result.json", {"result", "report"}), ("workspace.tar.zst", {"result"})])
def test_results_that_were_put_back(settled: MiniProject, name: str, made: set[str]) -> None:
    """A file of an earlier run, from a backup or a cache, is whole, and yet not what the task would make now."""
    place, case = settled.path(f"{LATEST}/bow/trial-1/{name}"), "cases/mini/bow.eval"
    old = place.read_bytes()
    if name == "workspace.tar.zst":  # no edit of a check changes it; as large, and another one
        old = old[:-1] + bytes([old[-1] ^ 1])
    settled.edit(case, "check not-empty as full", 'check grep "*.txt" has "Nobody says this." as full')
    try:
        assert "1 failed" in run(settled, "case:bow", status=1)[0].out
        time.sleep(TICK)
        place.write_bytes(old)
        done, ran, _ = run(settled, "case:bow", status=1)
        assert "1 failed" in done.out
        assert made <= ran
        assert not ran - made - {"report"}
        assert name == "workspace.tar.zst" or "its outcome is of other inputs" in done.err
        assert name != "workspace.tar.zst" or place.read_bytes() != old
    finally:
        settled.edit(case, 'check grep "*.txt" has "Nobody says this." as full', "check not-empty as full")
        settle(settled)


def test_a_case_that_went_with_its_results(settled: MiniProject) -> None:
    """The reports tell of it no more, though nothing is left to run."""
    case, text = settled.path("cases/mini/bow.eval"), settled.path("cases/mini/bow.eval").read_text()

    def told() -> set[str]:
        lines = json.loads(settled.path("results/latest/summary.json").read_bytes())["trials"]
        return {line["case"] for line in lines if line["agent"] == "oracle"}

    case.unlink()
    try:
        assert set() == run(settled, "all")[1]  # its result is still there
        assert told() == ALL
        settled.write("cases/mini/curtsy.eval", text.replace("case bow", "case curtsy"))
        shutil.rmtree(settled.path(f"{LATEST}/bow"))
        assert "report" in run(settled, "all")[1]
        assert {"greeting", "curtsy", "wave"} == told()
        settled.path("cases/mini/curtsy.eval").unlink()
        shutil.rmtree(settled.path(f"{LATEST}/curtsy"))
        assert {"report"} == run(settled, "all")[1]
        assert {"greeting", "wave"} == told()
        assert (set(), set()) == run(settled, "all")[1:]
    finally:
        settled.write("cases/mini/bow.eval", text)
        settled.path("cases/mini/curtsy.eval").unlink(missing_ok=True)
        settle(settled)


def test_what_sums_up_nothing_settles_no_summary(settled: MiniProject) -> None:
    """A run of inner tasks does not look at it."""
    settled.path("results/latest/summary.json").unlink()
    assert set() == run(settled, "grade:latest/oracle/bow/trial-1:full")[1]
    assert {"report"} == run(settled, "case:bow")[1]
    settle(settled)


# ---- doit's own ways ----
def test_options_that_look_at_every_task(settled: MiniProject) -> None:
    """They ask for the tasks themselves."""
    told = run(settled, "all", "why=1")[0].err
    assert 20 == told.count("up to date  ")
    assert {"workspace", "agent", "template", "grade there", *RESULT} == run(settled, "-a", "case:wave")[1]
    settle(settled)
    assert set() == run(settled, "-s", "case:wave")[1]
    assert {"grade there"} == run(settled, "-s", "-a", "grade:latest/oracle/wave/trial-1:there")[1]
    settle(settled)
    assert set() == run(settled, "all", "fresh=1")[1]  # the reference answer does not get fresher
    settle(settled)


def test_ignored_tasks_are_told_each_time(settled: MiniProject) -> None:
    """Nothing settles while something is left out; forgetting it takes that back."""
    settled.doit("ignore", "agent:latest/oracle/wave/trial-1")
    for _ in range(2):
        done = run(settled, "all")[0]
        assert "agent:latest/oracle/wave/trial-1: ignored" in done.err
        assert "everything was up to date" not in done.err
    settled.doit("forget", "agent:latest/oracle/wave/trial-1")
    assert {"agent"} == run(settled, "all")[1]
    settle(settled)


def test_a_task_of_dodo_py_that_needs_a_case(settled: MiniProject) -> None:
    """The case is there for it whatever has settled, and all others stay settled."""
    settled.write("dodo.py", 'def task_own():\n    return {"actions": ["true"], "task_dep": ["case:bow"]}\n')
    time.sleep(TICK)
    try:
        for _ in range(2):
            done, ran, looked = run(settled, "own", "all")
            assert (["bow", "greeting", "wave"], {"own"}, set()) == (rows(done), ran, looked - {"bow"})
        settled.write("cases/mini/bow/bow.txt", "I do bow.\n")
        done, ran, _ = run(settled, "own")
        assert {"agent", "grade full", "result", "own"} == ran
        assert "agent:latest/oracle/bow/trial-1" in done.err
    finally:
        settled.write("dodo.py", "")
        settle(settled)


@pytest.mark.parametrize("rows_kept", [b"", b"null", b"[3]", b'[{"unit": "bow"}]', b'[{"colour": "red"}]'])
def test_records_of_another_kind(settled: MiniProject, rows_kept: bytes) -> None:
    """Those of another evalkit, or damaged ones: the tasks are looked at, nothing runs."""
    with closing(sqlite3.connect(settled.path(".evalkit/state.db"))) as state:
        for name, context, data in state.execute("select * from (select name, context, data from settled)").fetchall():
            start = data.rindex(b',[{"unit"') if b',[{"unit"' in data else len(data) - len(b",[]]")
            state.execute("update settled set data = ? where name = ? and context = ?",
                          (data[:start] + b"," + rows_kept + b"]", name, context))
        state.commit()
    assert (set(), ALL) == run(settled, "all")[1:]
    settle(settled)


# ---- units, arms, samples ----
def test_tracks_and_arms(tmp_path: Path) -> None:
    """A unit settles as its case does; what a choice leaves out is neither looked at nor shown."""
    project = MiniProject.make(tmp_path)
    shutil.rmtree(project.path("cases/mini/greeting"))
    project.edit(SUITE, "  define check", "  arm plain { }\n  arm capped { limits { turns 4 } }\n\n  define check")
    project.write("cases/mini/bow.eval", 'case bow {\n  use note\n  prompt "p.md"\n  solution "bow"\n'
                  '  check not-empty as full\n  track ts { }\n  track js { }\n}\n')
    project.write("cases/mini/p.md", "Bow.\n")
    project.write("cases/mini/bow/bow.txt", "I bow.\n")
    project.warm = True
    shown = {}
    for args in (("all",), ("case:bow",), ("case:bow@ts+capped",), ("case:bow@*",), ("all", "track=js"),
                 ("all", "arm=all"), ("all", "arm=capped", "track=ts"), ("case:bow", "case:bow@js+plain")):
        settle(project, *args)
        shown[" ".join(args)] = re.findall(r"^bow@(\S+) ", project.doit("run", *args).out, re.MULTILINE)
    plain, whole = ["ts+plain", "js+plain"], ["ts+plain", "ts+capped", "js+plain", "js+capped"]
    assert {
        "all": plain, "case:bow": plain, "case:bow@ts+capped": ["ts+capped"], "case:bow@*": whole,
        "all track=js": ["js+plain"], "all arm=all": whole, "all arm=capped track=ts": ["ts+capped"],
        "case:bow case:bow@js+plain": plain,
    } == shown


def test_a_new_sample_is_what_settles(tmp_path: Path) -> None:
    """And where nobody knows of it any more, the first one is current again, whatever had settled."""
    with judged_project(tmp_path) as (project, gateway):
        project.warm = True
        count = project.root.parent / "fake/runs"
        settle(project)
        asked = len(gateway.main_requests)
        assert {"agent"} <= run(project, "all", "fresh=1")[1]
        settle(project)
        assert 2 == count.read_text().count("run")
        assert (set(), set()) == run(project, "all")[1:]
        assert {"agent"} <= run(project, "all", "fresh=1")[1]
        settle(project)
        shutil.rmtree(project.path(".evalkit/samples"))
        assert {"agent"} <= run(project, "all")[1]
        settle(project)
        assert (3, asked) == (count.read_text().count("run"), len(gateway.main_requests))
