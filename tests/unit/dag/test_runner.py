"""doit's runner with pools, on tasks of the tests' own."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from doit.control import TaskControl
from doit.dependency import DatabaseException, Dependency, JSONCodec
from doit.exceptions import InvalidDodoFile, InvalidTask
from doit.task import Task
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.dag import runner
from evalkit.dag.progress import Progress, Reporter
from evalkit.dag.runner import PoolRunner, dispatcher
from evalkit.dag.state import StateDB

LONG = 20.0
"""Seconds after which a test that waits for a thread has failed."""
POOLS = {"agent": 2, "build": 1}


@pytest.fixture(autouse=True)
def children(monkeypatch: pytest.MonkeyPatch) -> None:
    """No interrupted run ends the children of the tests themselves, or lets no other start."""
    monkeypatch.setattr(runner, "end_all", lambda: None)


def task(name: str, action: Callable[[], Any] = lambda: None, *, after: Iterable[str] = (), pool: Any = None,
         **more: Any) -> Task:
    """A task. pool: that of its `meta`, as it stands there."""
    return Task(name, [(action, (), {})], task_dep=list(after), verbosity=0, io={"capture": False},
                meta={"pool": pool} if pool else None, **more)


def within(pool: str) -> Callable[[], str]:
    return lambda: pool


def say(said: list[str], text: str) -> None:
    """An action that leaves a trace."""
    said.append(text)


def run(folder: Path, tasks: Sequence[Task], pools: Mapping[str, int] = POOLS, **options: Any) -> Reporter:
    """Run all tasks, with the state in a folder."""
    progress = Progress(io.StringIO())
    reporter = Reporter(progress)
    control = TaskControl(list(tasks))
    control.process(None)
    state = Dependency(StateDB, str(folder / "state.db"))
    try:
        PoolRunner(state, reporter, pools, **options).run_all(dispatcher(control))
    finally:
        progress.close()
    return reporter


def recorded(folder: Path, *names: str) -> list[str]:
    """Those of the tasks that another process would find in the database now."""
    state = StateDB(str(folder / "state.db"), JSONCodec())
    try:
        return [name for name in names if state.in_(name)]
    finally:
        state.dump()


# ---- pools ----
def test_all_places_of_a_pool_are_used_and_no_more(tmp_path: Path) -> None:
    """Three at once of seven, where there are three places: they meet, and a fourth never joins."""
    barrier, lock, at_work, most = threading.Barrier(3), threading.Lock(), [0], [0]

    def work(*, meets: bool) -> None:
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        if meets:
            barrier.wait(LONG)
        with lock:
            at_work[0] -= 1

    tasks = [task(f"t{n}", partial(work, meets=n < 6), pool=within("agent")) for n in range(7)]
    assert 7 == len(run(tmp_path, tasks, {"agent": 3}).executed)
    assert 3 == most[0]


def test_tasks_that_waited_for_one_start_in_the_order_of_their_definition(tmp_path: Path) -> None:
    """Who is first, and who is left when a budget is reached, is not for a set to decide."""
    began: list[str] = []
    names = [f"t{n}" for n in range(30)]
    tasks = [task("first", pool=within("build"))]
    tasks += [task(name, partial(say, began, name), after=["first"], pool=within("agent")) for name in names]
    run(tmp_path, tasks, {"agent": 1, "build": 1})
    assert names == began


def test_what_gets_ready_comes_first(tmp_path: Path) -> None:
    """One trial goes on to its end before the next one begins, where nothing keeps it waiting."""
    began: list[str] = []
    tasks = [task("first")]
    for n in "123":
        tasks += [task(f"a{n}", partial(say, began, f"a{n}"), after=["first"]),
                  *(task(f"{part}{n}", partial(say, began, f"{part}{n}"), after=[f"a{n}"]) for part in "bc"),
                  task(f"d{n}", partial(say, began, f"d{n}"), after=[f"b{n}", f"c{n}"])]
    run(tmp_path, [*tasks[::-1]], {})
    assert [part + n for n in "321" for part in "abcd"] == began


def test_tasks_of_different_pools_and_inline_ones_work_at_once(tmp_path: Path) -> None:
    """An agent waits for a build, and both for a quick task that the dispatcher comes to last."""
    barrier = threading.Barrier(3)

    def meet() -> None:
        barrier.wait(LONG)

    reporter = run(tmp_path, [task("agent", meet, pool=within("agent")), task("build", meet, pool=within("build")),
                              task("quick", meet)])
    assert ({"agent", "build", "quick"}, []) == (set(reporter.executed), reporter.errors)


def test_quick_tasks_work_in_the_main_thread_the_others_never(tmp_path: Path) -> None:
    """A task is quick without a pool, where its pool says so this time, and whatever a person's own `meta` means."""
    where: dict[str, threading.Thread] = {}

    def noted(name: str, pool: Any) -> Task:
        return task(name, lambda: where.update({name: threading.current_thread()}), pool=pool)

    run(tmp_path, [noted("none", None), noted("quick", lambda: None), noted("own", "agent"),
                   noted("agent", within("agent"))])
    main = threading.main_thread()
    assert {"none": True, "quick": True, "own": True, "agent": False} == {
        name: thread is main for name, thread in where.items()}


def test_a_dependency_waits(tmp_path: Path) -> None:
    """Through threads and quick tasks alike."""
    order: list[str] = []
    chain = [task(name, partial(say, order, name), after=after, pool=pool) for name, after, pool in (
        ("d", ["c"], None), ("c", ["b"], within("build")), ("b", ["a"], None), ("a", [], within("agent")))]
    assert ["a", "b", "c", "d"] == run(tmp_path, chain).executed == order


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_any_graph(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Each task runs once, after all that it needs, unless something that it needs failed; places are kept to."""
    folder = tmp_path_factory.mktemp("graph")
    count = data.draw(st.one_of(st.integers(1, 12), st.just(300)))
    chance = data.draw(st.randoms(use_true_random=False))
    pools = {"agent": chance.randint(1, 4), "build": chance.randint(1, 2)}
    needs = {n: chance.sample(range(n), min(n, chance.randint(0, 3))) for n in range(count)}
    kinds = {n: chance.choice(["agent", "build", ""]) for n in range(count)}
    failing = {n for n in range(count) if chance.random() < 0.05}
    lock, done, begun = threading.Lock(), set[int](), list[int]()
    at_work, wrong = dict.fromkeys(["agent", "build", ""], 0), list[str]()

    def work(n: int) -> bool | None:
        kind = kinds[n]
        with lock:
            begun.append(n)
            at_work[kind] += 1
            wrong.extend(f"{n} before {need}" for need in needs[n] if need not in done)
            if at_work[kind] > pools.get(kind, 1):
                wrong.append(f"{at_work[kind]} of {kind}")
        with lock:
            at_work[kind] -= 1
            done.add(n)
        return False if n in failing else None

    names = list(range(count))
    chance.shuffle(names)
    reporter = run(folder, [task(f"t{n}", partial(work, n), after=[f"t{need}" for need in needs[n]],
                                 pool=kinds[n] and within(kinds[n])) for n in names], pools)
    spoilt: set[int] = set()
    for n in range(count):
        if spoilt.union(failing).intersection(needs[n]):
            spoilt.add(n)
    runs = set(range(count)) - spoilt
    assert [] == wrong
    assert sorted(runs) == sorted(begun)
    assert {f"t{n}" for n in runs - failing} == set(reporter.executed)
    assert sorted(f"t{n}" for n in runs - failing) == sorted(recorded(folder, *(f"t{n}" for n in range(count))))


# ---- failures ----
def test_a_failure_spoils_only_what_needs_it(tmp_path: Path) -> None:
    """In a thread and inline."""
    ran: list[str] = []
    for pool in (None, within("agent")):
        ran.clear()
        reporter = run(tmp_path, [task("bad", lambda: False, pool=pool), task("next", after=["bad"]),
                                  task("last", after=["next"]),
                                  task("other", lambda: ran.append("other"), pool=pool)], always=True)
        assert ["other"] == ran == reporter.executed


def test_a_failure_forgets_nothing(tmp_path: Path) -> None:
    """What is known of the last success of a task and of those behind it stays."""
    fails = False
    tasks = [task("a", lambda: not fails), task("b", after=["a"])]
    run(tmp_path, tasks)
    assert ["a", "b"] == recorded(tmp_path, "a", "b")
    fails = True
    assert [] == run(tmp_path, [task("a", lambda: not fails), task("b", after=["a"])]).executed
    assert ["a", "b"] == recorded(tmp_path, "a", "b")


def test_an_exception_in_a_thread_is_told_and_ends_nothing_else(tmp_path: Path) -> None:
    """Also one that no action catches."""
    def leaves() -> None:
        raise SystemExit(7)

    reporter = run(tmp_path, [task("bad", leaves, pool=within("agent")), task("next", after=["bad"]),
                              task("other", pool=within("agent"))])
    assert ["other"] == reporter.executed
    assert 1 == len(reporter.errors)
    assert "bad could not be run" in reporter.errors[0]
    assert "SystemExit: 7" in reporter.errors[0]


def test_a_task_that_cannot_tell_whether_it_is_up_to_date_has_failed(tmp_path: Path) -> None:
    """One of the person's own may raise whatever it likes."""
    def broken() -> bool:
        raise ZeroDivisionError

    reporter = run(tmp_path, [task("bad", uptodate=[broken]), task("next", after=["bad"]), task("other")])
    assert ["other"] == reporter.executed
    assert "bad: cannot tell whether it is up to date" in reporter.errors[0]


def test_values_that_cannot_be_kept_fail_their_task_alone(tmp_path: Path) -> None:
    """A path is no JSON; what is kept of other tasks is whole."""
    reporter = run(tmp_path, [task("bad", lambda: {"path": tmp_path}), task("next", after=["bad"]),
                              task("other", lambda: {"n": 1}), task("agent", pool=within("agent"))])
    assert {"other", "agent"} == set(reporter.executed)
    assert ["bad: what it came to cannot be kept: Object of type PosixPath is not JSON serializable"] == reporter.errors
    assert ["other", "agent"] == recorded(tmp_path, "bad", "next", "other", "agent")


def test_teardowns_run_when_all_is_over(tmp_path: Path) -> None:
    """Those of tasks that ran, the last one first, as doit does it."""
    said: list[str] = []
    run(tmp_path, [task(name, partial(say, said, name), teardown=[(say, [said, f"no {name}"])]) for name in ("a", "b")])
    assert ["a", "b", "no b", "no a"] == said


def test_tasks_that_wait_for_each_other(tmp_path: Path) -> None:
    """A circle is told, whether doit sees it or not; nobody waits for ever, and what runs may finish."""
    with pytest.raises(InvalidDodoFile, match="Cyclic"):
        run(tmp_path, [task("a", after=["b"]), task("b", after=["a"])])
    reached = threading.Event()
    hidden = [task("slow", lambda: reached.wait(LONG) and None, pool=within("agent")),
              task("quick", reached.set), task("a", after=["b", "c"]), task("b", after=["c"]), task("c", after=["b"])]
    with pytest.raises(InvalidDodoFile, match="in a circle"):
        run(tmp_path, hidden)
    assert ["slow", "quick"] == recorded(tmp_path, "slow", "quick", "a", "b", "c")


# ---- the state ----
def test_each_task_is_recorded_as_it_finishes_by_the_main_thread_alone(tmp_path: Path,
                                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """While others are still at work."""
    writers: set[threading.Thread] = set()
    write = StateDB._write

    def noted(self: StateDB) -> None:
        writers.add(threading.current_thread())
        write(self)

    monkeypatch.setattr(StateDB, "_write", noted)

    def until_recorded(*names: str) -> None:
        tries = 0
        while list(names) != recorded(tmp_path, *names):
            tries += 1
            assert tries < 2_000
            threading.Event().wait(0.01)

    reporter = run(tmp_path, [task("last", lambda: until_recorded("first", "quick"), pool=within("agent")),
                              task("first", pool=within("agent")), task("quick")])
    assert ([], "last") == (reporter.errors, reporter.executed[-1])
    assert {threading.main_thread()} == writers


def test_a_state_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs finishes, nothing else starts, the error is told."""
    broke, finished, ended = threading.Event(), list[str](), list[Reporter]()
    monkeypatch.setattr(runner, "end_all", lambda: finished.append("children were ended"))

    def write(self: StateDB) -> None:
        broke.set()
        raise DatabaseException("no room")

    monkeypatch.setattr(StateDB, "_write", write)

    def paid() -> None:
        assert broke.wait(LONG)
        finished.append("paid")

    with pytest.raises(DatabaseException, match="no room"):
        run(tmp_path, [task("paid", paid, pool=within("agent")), task("first"),
                       task("waits", lambda: finished.append("waits"), pool=within("agent")),
                       task("later", lambda: finished.append("later"), after=["first"])],
            {"agent": 1}, at_end=ended.append)
    assert ["paid"] == finished
    assert [] == ended


def test_a_mistake_of_ours_in_the_main_thread_lets_what_runs_finish(tmp_path: Path) -> None:
    """It may have cost money."""
    asked = threading.Event()

    def mistaken() -> str:
        asked.set()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(tmp_path, [task("paid", lambda: asked.wait(LONG) and None, pool=within("agent")),
                       task("bad", pool=mistaken), task("later")])
    assert ["paid"] == recorded(tmp_path, "paid", "bad", "later")


# ---- the end ----
def test_the_end_comes_once_while_the_state_is_open(tmp_path: Path) -> None:
    """When all has run, also where something failed."""
    ended: list[list[str]] = []
    run(tmp_path, [task("a", pool=within("agent")), task("bad", lambda: False)],
        at_end=lambda reporter: ended.append(reporter.executed[:]))
    assert [["a"]] == ended


def test_an_interrupt_ends_children_and_records_what_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes of a child that was ended is neither recorded nor told; nothing starts, and the end does not come."""
    stopping, ended, started = threading.Event(), list[Reporter](), list[str]()
    monkeypatch.setattr(runner, "end_all", stopping.set)
    begun = threading.Barrier(3)

    def works(*, well: bool) -> bool:
        begun.wait(LONG)
        assert stopping.wait(LONG)
        return well

    def interrupt() -> None:
        begun.wait(LONG)
        raise KeyboardInterrupt

    tasks = [task("done", lambda: works(well=True), pool=within("agent")),
             task("ended", lambda: works(well=False), pool=within("agent")),
             task("waits", lambda: started.append("waits"), pool=within("agent")),
             task("quick", interrupt), task("later", lambda: started.append("later"))]
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, tasks, at_end=ended.append)
    assert ["done"] == recorded(tmp_path, "done", "ended", "waits", "quick", "later")
    assert ([], []) == (ended, started)


def test_an_interrupted_run_does_not_wait_for_a_thread_that_hangs(tmp_path: Path,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment, no more."""
    monkeypatch.setattr(runner, "_LAST_MOMENT", 0.05)
    hangs, begun = threading.Event(), threading.Event()

    def interrupt() -> None:
        assert begun.wait(LONG)
        raise KeyboardInterrupt

    def work() -> None:
        begun.set()
        hangs.wait(LONG)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [task("hangs", work, pool=within("agent")), task("quick", interrupt)])
    assert [] == recorded(tmp_path, "hangs")
    hangs.set()


def test_doit_s_own_word_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An InvalidTask that comes up in the midst of a run."""
    def invalid(*_: object) -> None:
        raise InvalidTask("no such thing")

    monkeypatch.setattr(PoolRunner, "_dispatch", invalid)
    assert ["no such thing"] == run(tmp_path, [task("a")]).errors
