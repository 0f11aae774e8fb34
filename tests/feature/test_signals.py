"""Ctrl-C and requests to end: status 130, nothing left behind, what finished is kept, the next run goes on there."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from evalkit.gateway import Hang, Reply, ScriptedGateway, Text
from tests.feature.project import Done, MiniProject
from tests.feature.units import Units, is_at_work, units

COUNT = 8
SLEEP = "307.25"
"""Seconds that programs sleep which the agents start: such a process is one of theirs."""
SAID = "\ninterrupted: what finished is kept, the next run takes up from there\n"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def interrupt(run: subprocess.Popen[str], number: signal.Signals) -> None:
    """Ctrl-C goes to all of the foreground group, as a terminal sends it; a request to end to the process alone."""
    if number == signal.SIGINT:
        os.killpg(run.pid, number)
    else:
        run.send_signal(number)


def ended(run: subprocess.Popen[str], timeout: float = 30) -> Done:
    out, err = run.communicate(timeout=timeout)
    assert "Traceback" not in err, err
    return Done(run.returncode, out, err)


def left_behind(run: subprocess.Popen[str]) -> list[str]:
    """What still runs of a run's processes: by the mark that they carry, and by what agents start."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"-{run.pid}-".encode() in (entry / "environ").read_bytes().partition(b"EVALKIT_PROCESS=")[2]
            if marked or SLEEP.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it ended meanwhile
            continue
    return found


def wait_until(seen: Iterable[bool]) -> None:
    """Look again and again, for at most a minute."""
    deadline = time.monotonic() + 60
    for there in seen:
        if there or time.monotonic() > deadline:
            return
        time.sleep(0.02)


def check_interrupted(made: Units, run: subprocess.Popen[str], number: signal.Signals) -> None:
    """Interrupt a run: nothing of it is left."""
    interrupt(run, number)
    done = ended(run)
    assert 130 == done.status, done.err
    assert done.err.endswith(SAID)
    assert "" == done.out
    assert [] == left_behind(run)
    assert not is_at_work(made.agent)
    assert [] == [*made.project.root.parent.glob("work/*/*")]
    assert [] == [*(made.project.root / ".evalkit/store/making").glob("[0-9]*")]


def interrupt_often(folder: Path, moments: list[tuple[signal.Signals, float]]) -> None:
    """Interrupt runs at these moments, in seconds after the first agent started, and let a last one finish.

    Some agents do not end by themselves, so that no run does.
    """
    with units(folder, COUNT) as made:
        made.agent.behave(seconds=0.2, asks=True, child=SLEEP, hang=made.names[-2:])
        for number, seconds in moments:
            before = made.agent.starts
            run = made.project.start("run", "suite:mini", "agents=4")
            wait_until(made.agent.starts != before for _ in iter(int, 1))
            time.sleep(seconds)
            check_interrupted(made, run, number)
            kept, counted = made.kept(), made.agent.starts
        made.agent.behave()
        done = made.project.doit("run", "suite:mini")
        assert 0 == done.status, done.err
        assert f"{COUNT} passed" in done.out
        keys = made.keys()
        assert {unit: counted[unit] for unit in made.names if keys[unit] in kept} == {
            unit: made.agent.starts[unit] for unit in made.names if keys[unit] in kept}
        assert {} == made.project.doit("run", "suite:mini").ran


def test_runs_that_are_interrupted_twenty_times(tmp_path: Path) -> None:
    """At random moments, by each signal: no process is left and nothing is lost. Agents with commands of their own are
    at work, also in sessions of their own; some have finished.
    """
    choose = random.Random(6)
    for number in range(10):
        interrupt_often(tmp_path / str(number), [(SIGNALS[(number + more) % 3], choose.uniform(0, 0.6))
                                                 for more in range(2)])


@pytest.mark.parametrize("number", SIGNALS, ids=[number.name for number in SIGNALS])
def test_what_had_finished_is_recorded(tmp_path: Path, number: signal.Signals) -> None:
    """The tasks of a unit that was done are up to date in the next run, and their results are there."""
    with units(tmp_path, 2, judged=False) as made:
        made.project.edit("cases/mini/unit-02.eval", "  check exists", f'  check run "sleep {SLEEP}"\n  check exists')
        run = made.project.start("run", "suite:mini", "agents=1")
        results = made.project.path("results")
        wait_until(bool([*results.rglob("unit-01/trial-1/result.json")])
                   and f"sleep {SLEEP} " in left_behind(run) for _ in iter(int, 1))
        check_interrupted(made, run, number)
        made.project.edit("cases/mini/unit-02.eval", f"sleep {SLEEP}", "true")
        done = made.project.doit("run", "suite:mini")
        assert 0 == done.status, done.err
        assert "unit-01" not in done.err.replace("report:latest", "")
        assert {"unit-01": 1, "unit-02": 1} == made.agent.starts


def test_a_second_ctrl_c_ends_at_once(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """A judge's request that hangs cannot be ended: the first Ctrl-C waits a moment for it, the second does not."""
    project, _ = judged
    with ScriptedGateway([Hang(60)] * 3, on_exhausted=Reply((Text("Done."),))) as gateway:
        project.env["EVALKIT_GATEWAY"] = gateway.url
        run = project.start("run", "case:greeting")
        wait_until(bool(gateway.main_requests) for _ in iter(int, 1))
        interrupt(run, signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(timeout=1)
        interrupt(run, signal.SIGINT)
        done = ended(run, timeout=3)
    assert 130 == done.status, done.err
    assert done.err.endswith(SAID)
    assert [] == left_behind(run)


def interrupt_twice(folder: Path, pauses: list[float]) -> None:
    """Two Ctrl-C, these seconds apart: the second one comes while the first one's work is done."""
    with units(folder, 3, seconds=60, child=SLEEP, judged=False) as made:
        for pause in pauses:
            before = sum(made.agent.starts.values())
            run = made.project.start("run", "suite:mini")
            wait_until(sum(made.agent.starts.values()) > before for _ in iter(int, 1))
            interrupt(run, signal.SIGINT)
            time.sleep(pause)
            with contextlib.suppress(ProcessLookupError):
                interrupt(run, signal.SIGINT)
            done = ended(run)
            assert 130 == done.status, done.err
            assert done.err.endswith(SAID)
            assert [] == left_behind(run)


def test_two_ctrl_c_in_a_row_twenty_times(tmp_path: Path) -> None:
    """With pauses from nothing to as long as it takes: no traceback, and no process left."""
    interrupt_twice(tmp_path, [number * 0.003 for number in range(20)])


def test_a_run_that_is_interrupted_while_it_waits_for_another(tmp_path: Path) -> None:
    """It ends, and the other one goes on."""
    with units(tmp_path, 2, delay=2, judged=False) as made:
        first = made.project.start("run", "suite:mini")
        wait_until(bool(made.agent.starts) for _ in iter(int, 1))
        second = made.project.start("run", "suite:mini")
        assert second.stderr is not None
        assert "another run is at work in this project: waiting for it to end\n" == second.stderr.readline()
        interrupt(second, signal.SIGINT)
        assert 130 == ended(second).status
        assert 0 == ended(first).status
        assert {"unit-01": 1, "unit-02": 1} == made.agent.starts


def interrupt_often_in_a_row(project: MiniProject, count: int, delays: Iterable[float]) -> None:
    """Several Ctrl-C within 150 ms, these seconds after evalkit's code was loaded."""
    for delay in delays:
        project.write("dodo.py", 'open("loaded", "w").close()\n')
        project.path("loaded").unlink(missing_ok=True)
        run = project.start("run", "all", "agent=nop", "fresh=1")
        wait_until(project.path("loaded").exists() for _ in iter(int, 1))
        time.sleep(delay)
        for _ in range(count):
            with contextlib.suppress(ProcessLookupError):
                interrupt(run, signal.SIGINT)
            time.sleep(0.15 / count)
        done = ended(run)
        assert done.status == 130 or "greeting" in done.out, (delay, done)
        assert done.status == 1 or done.err.endswith(SAID), (delay, done)


@pytest.mark.parametrize("count", [3, 5])
def test_many_ctrl_c_in_a_row(project: MiniProject, count: int) -> None:
    """All through a run, while the first one is seen to, and beyond the end of the process: no traceback, and no death
    by the signal.
    """
    interrupt_often_in_a_row(project, count, [number * 0.04 for number in range(20)])
