"""Tasks of a person's own in dodo.py, inner tasks by their names, and how all of them end a run."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.execute.marks import alive
from tests.feature.project import MiniProject

ORACLE = "latest/oracle/greeting/trial-1"
SUITE = "cases/mini/suite.eval"
UNABLE = 'case unable { use note; prompt "p.md"; check not-empty as full }\n'
OWN = '''\
from pathlib import Path

def task_says():
    def say():
        print("python says")
    return {"actions": [say, "echo shell says"], "verbosity": 2}

def task_quiet():
    return {"actions": ["echo not shown"]}

def task_fails():
    return {"actions": ["echo why; echo it fails >&2; exit 3"], "verbosity": 0}

def task_after():
    return {"actions": ["touch after"], "task_dep": ["fails"]}

def task_path():
    return {"actions": [lambda: {"path": Path("x")}]}

def task_meta():
    return {"actions": ["touch meta"], "meta": {"pool": "mine"}}

def task_cleans_up():
    return {"actions": ["touch made"], "teardown": ["rm made; touch cleaned"]}

def task_parts():
    for name in "ab":
        yield {"name": name, "actions": [f"touch part-{name}"], "targets": [f"part-{name}"]}

def task_once():
    return {"actions": ["echo >> once"], "file_dep": ["cases/mini/p.md"], "targets": ["once"]}
'''
CIRCLE = '''\
def task_a():
    return {"actions": ["true"], "task_dep": ["b", "c"]}

def task_b():
    return {"actions": ["true"], "task_dep": ["c"]}

def task_c():
    return {"actions": ["true"], "task_dep": ["b"]}
'''


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> MiniProject:
    """A project with tasks of its own, and a case that nobody can run without a key."""
    project = MiniProject.make(tmp_path_factory.mktemp("own"))
    project.write("dodo.py", OWN)
    project.write("cases/mini/unable.eval", UNABLE)
    project.write("cases/mini/p.md", "Bow.\n")
    project.edit(SUITE, 'about "Small', 'toolchain words { env A = "b" }\n  about "Small')
    project.warm = True
    return project


def there(project: MiniProject, *names: str) -> list[bool]:
    return [project.path(name).exists() for name in names]


# ---- tasks of the person's own ----
def test_they_run_beside_cases(own: MiniProject) -> None:
    """What they print is where they print it; a task without a say is silent."""
    done = own.doit("run", "says", "case:greeting", "quiet")
    assert 0 == done.status, done.err
    assert "python says\nshell says\n" in done.out
    assert "1 passed" in done.out
    assert "not shown" not in done.out + done.err
    assert {"says", "quiet"} <= set(done.ran)


def test_one_that_fails(own: MiniProject) -> None:
    """Is told with what it printed, spoils what needs it and nothing else, and the run ends with status 3."""
    done = own.doit("run", "fails", "after", "case:greeting")
    assert 3 == done.status
    assert "error: fails: Command failed: 'echo why; echo it fails >&2; exit 3' returned 3\nwhy\nit fails\n" in done.err
    assert "1 passed" in done.out
    assert [False] == there(own, "after")
    alone = own.doit("run", "fails")
    assert (3, "") == (alone.status, alone.out)
    assert "everything was up to date" not in alone.err


def test_values_that_are_no_json(own: MiniProject) -> None:
    """That is their task's failure, not the run's."""
    done = own.doit("run", "path", "case:greeting")
    assert 3 == done.status
    assert "error: path: what it came to cannot be kept: Object of type PosixPath is not JSON serializable" in done.err
    assert "1 passed" in done.out


def test_what_doit_knows_of_tasks(own: MiniProject) -> None:
    """Teardowns, `meta` of whatever meaning, subtasks, targets, file_dep: as doit's documentation has it."""
    assert 0 == own.doit("run", "meta", "cleans_up", "parts").status
    assert [True, False, True, True, True] == there(own, "meta", "made", "cleaned", "part-a", "part-b")
    own.path("part-a").unlink()
    assert {"parts"} == set(own.doit("run", "part-a").ran)
    assert [True] == there(own, "part-a")
    for ran in ({"once"}, set()):
        assert ran == set(own.doit("run", "once").ran)
    assert own.doit("run", "once").err == "everything was up to date: nothing ran\n"
    own.write("cases/mini/p.md", "Bow twice.\n")
    assert {"once", "parts"} == set(own.doit("run", "once", "parts:*").ran)


def test_those_that_need_cases(own: MiniProject) -> None:
    """By name or wildcard, before they ran and after; a case that nobody can run is no matter unless it is needed."""
    own.write("dodo.py", OWN + '''
def task_needs():
    return {"actions": ["touch needed"], "task_dep": ["case:greeting", "toolchain:words"]}

def task_needs_results():
    return {"actions": ["touch results-needed"], "task_dep": ["result:latest/oracle/gr*"]}
''')
    try:
        assert 0 == own.doit("run", "quiet").status
        assert 0 == own.doit("run", "needs", "needs_results").status
        assert [True, True] == there(own, "needed", "results-needed")
        for args in (("list", "--all"), ("list", "needs"), ("forget", "needs"), ("run", "case:greeting")):
            done = own.doit(*args)
            assert 0 == done.status, (args, done.err)
        assert "task_dep   : \n - case:greeting\n - toolchain:words\n" in own.doit("info", "needs").out
        own.write("dodo.py", OWN + 'def task_needs():\n    return {"actions": ["true"], "task_dep": ["case:nosuch"]}\n')
        done = own.doit("run", "needs")
        assert (2, "error: needs. Task dependency 'case:nosuch' does not exist.\n") == (done.status, done.err)
    finally:
        own.write("dodo.py", OWN)


def test_tasks_that_wait_for_each_other(own: MiniProject) -> None:
    """A mistake in dodo.py, whether doit sees the circle or not."""
    own.write("dodo.py", CIRCLE)
    try:
        for name, told in (("a", "in a circle"), ("b", "Cyclic/recursive dependencies")):
            done = own.doit("run", name)
            assert 2 == done.status
            assert told in done.err
    finally:
        own.write("dodo.py", OWN)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_their_commands_end_with_the_run(own: MiniProject, number: signal.Signals) -> None:
    """Also where nobody but the run is told to end, and whatever the command does not listen to."""
    own.write("dodo.py", """\
def task_slow():
    return {"actions": ["trap '' TERM; touch begun; sleep 60 & echo $! > child; wait; sleep 60"]}
""")
    try:
        with own.start("run", "slow") as run:
            while not own.path("child").exists() or not own.read("child"):
                assert run.poll() is None, run.communicate()
                time.sleep(0.01)
            run.send_signal(number)
            _, err = run.communicate(timeout=30)
        assert (130, "interrupted: what finished is kept, the next run takes up from there") == (
            run.returncode, err.strip())
        assert not alive(int(own.read("child")))
    finally:
        own.path("child").unlink(missing_ok=True)
        own.write("dodo.py", OWN)


# ---- inner tasks ----
def none(_: MiniProject) -> None:
    """Nothing changes."""


def tree(name: str) -> Callable[[MiniProject], None]:
    def remove(project: MiniProject) -> None:
        for path in project.root.parent.glob(name):
            for file in sorted(path.rglob("*"), reverse=True):
                file.unlink() if file.is_file() or file.is_symlink() else file.rmdir()
            path.rmdir()

    return remove


@pytest.mark.parametrize(("change", "name", "ran"), [
    (none, "toolchain:words", set()),
    (tree("cache/toolchains"), "toolchain:words", {"toolchain"}),
    (none, "template:mini.note", set()),
    (none, "template:*", set()),
    (none, f"workspace:{ORACLE}", set()),
    (tree("project/results/latest/oracle/greeting/trial-1/grades"), f"grade:{ORACLE}:greets", {"grade greets"}),
    (none, f"grade:{ORACLE}:*", {"grade own", "grade finished", "grade not-empty"}),
    (none, f"judge:{ORACLE}:tone", set()),
    (none, "agent:*/greeting/*", set()),
    (none, f"result:{ORACLE}", set()),
    (none, "report:latest", set()),
])
def test_inner_tasks_by_name(own: MiniProject, change: Callable[[MiniProject], None], name: str, ran: set[str]) -> None:
    """They and what they need run; a case that nobody can run now is no matter of theirs."""
    if name == "toolchain:words" and change is none:
        assert 0 == own.doit("run", "case:greeting").status
    change(own)
    done = own.doit("run", name)
    assert (0, ran) == (done.status, set(done.ran)), done.err
    assert ("everything was up to date: nothing ran" in done.err) == (not ran)
    assert ("1 passed" in done.out) == name.startswith("result:")


def test_a_target_by_its_path(own: MiniProject) -> None:
    """As doit takes it."""
    place = own.path(f"results/{ORACLE}/grades/own.json")
    place.unlink()
    assert {"grade own"} == set(own.doit("run", str(place)).ran)


@pytest.mark.parametrize("name", ["case:unable", "agent:latest/oracle/unable/trial-1", "grade:latest/oracle/unable/*"])
def test_inner_tasks_of_a_case_that_nobody_can_run(own: MiniProject, name: str) -> None:
    """The reason is told, not that there is no such task."""
    done = own.doit("run", name, "quiet")
    assert 2 == done.status
    assert "case `unable` has no reference answer" in done.err


def test_an_inner_task_that_there_is_not(own: MiniProject) -> None:
    """Is told before anything runs."""
    for name in ("toolchain:nosuch", "agent:nobody", "grade:x*"):
        done = own.doit("run", name)
        assert (2, "") == (done.status, done.out)
        assert f"`{name}`" in done.err
        assert set() == set(done.ran)


def test_a_store_that_cannot_be_read(own: MiniProject, tmp_path: Path) -> None:
    """The task that meets it is told as one that failed, and the others go on: here a store whose shelf is a loop."""
    own.doit("run", "case:greeting")
    shelves = own.path(".evalkit/store/agent")
    shelves.rename(tmp_path / "agent")
    shelves.symlink_to("agent")
    try:
        done = own.doit("run", f"agent:{ORACLE}", "quiet")
        assert 3 == done.status
        assert "quiet" in done.ran
    finally:
        shelves.unlink()
        (tmp_path / "agent").rename(shelves)
