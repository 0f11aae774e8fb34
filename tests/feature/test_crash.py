"""A run that is killed at any moment loses what was in flight, and nothing else.

A run of many units is killed (SIGKILL) again and again, and goes on each time. Half of the moments are random times;
the others are random steps, of all steps at which the process changes something on the disk: renames a file, makes or
removes one, opens one to write it, or hands a statement to its database (`_KILLER` counts them and kills right before
one). After each kill is noted what the store has. In the end:

* no task ran again whose end was told, for then it is recorded;
* whose agent run was in the store when the kill came, or noted as finished, was never started again, and what was in
  flight once per kill; of judges' answers, what was in the store;
* every record and every entry of the store is whole, and nothing half-written lies about;
* the table and all results are those of a run that nobody disturbed.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field, frozen

from tests.feature.project import Done, MiniProject, on_path
from tests.feature.units import Units, is_at_work, table, units

COUNT = 40
_FINISHED = re.compile(r" +[\d.]+s  ([^ ]+?)(: (pass|fail))?  \(")
DELAY = 0.15
"""Seconds that the provider takes to answer an agent."""

_KILLER = '''\
import itertools, os, signal, sqlite3, sys

steps = itertools.count(1)
last = int(os.environ.get("KILL_AT_STEP", 0))
CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.link", "subprocess.Popen"}

def step(_=None):
    if next(steps) == last:
        os.kill(os.getpid(), signal.SIGKILL)

def hook(event, args):
    if event in CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)):
        step()

def connect(*args, **options):
    connection = plain_connect(*args, **options)
    connection.set_trace_callback(step)
    return connection

plain_connect, sqlite3.connect = sqlite3.connect, connect
sys.addaudithook(hook)
if "COUNT_STEPS_IN" in os.environ:
    import atexit
    atexit.register(lambda: open(os.environ["COUNT_STEPS_IN"], "w").write(str(next(steps))))
'''

_AT_PACKING = '''\
import os, signal, sys

def hook(event, args):
    """Opening the archive of an agent's tree."""
    if (event == "open" and str(args[0]).endswith("tree.tar.zst") and "-agent-" in str(args[0])
            and args[2] & os.O_WRONLY):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
'''


@frozen
class Undisturbed:
    """What a run came to that nobody disturbed.

    steps, seconds: how many it took. keys, judge_keys: of agent runs and judges' answers, by unit.
    """

    steps: int
    seconds: float
    keys: dict[str, str]
    judge_keys: dict[str, str]
    table: list[str]
    outcome: dict[str, Any]


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the module that kills; Python imports it by itself where it is on its path."""
    folder = tmp_path_factory.mktemp("killer")
    (folder / "sitecustomize.py").write_text(_KILLER)
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, killer: Path) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    with units(folder, COUNT, delay=DELAY) as made:
        made.project.env |= {"PYTHONPATH": on_path(killer), "COUNT_STEPS_IN": str(folder / "steps")}
        began = time.monotonic()
        done = made.project.doit("run", "suite:mini")
        seconds = time.monotonic() - began
        assert 0 == done.status, done.err
        assert dict.fromkeys(made.names, 1) == made.agent.starts
        steps = int((folder / "steps").read_text())
        assert steps > 20 * COUNT
        return Undisturbed(steps, seconds, made.keys(), made.keys(judge="tone"), table(done.out), made.outcome())


@define
class Killed:
    """A project whose runs are killed.

    lost: how often each unit's agent was in flight when a kill came. answered: how often a judge had been asked about
    each unit when its answer was first found in the store. finished: the tasks whose ends were told.
    """

    made: Units
    whole: Undisturbed
    killer: Path
    choose: random.Random
    lost: Counter[str] = field(factory=Counter)
    answered: dict[str, int] = field(factory=dict)
    finished: set[str] = field(factory=set)

    def kill(self, *, at_step: bool) -> bool:
        """Run, and kill it. False where it came to its end before."""
        before = self.made.agent.starts
        env = {"PYTHONPATH": on_path(self.killer)}
        left = 1 - len(self.made.kept()) / COUNT
        if at_step:
            env["KILL_AT_STEP"] = str(self.choose.randint(1, max(30, round(self.whole.steps * left))))
        with self.made.project.start("run", "suite:mini", **env) as run:
            if not at_step:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    run.wait(self.choose.uniform(0.2, self.whole.seconds * max(left, 0.2)))
                run.kill()
            _, err = run.communicate()
        assert "Traceback" not in err, err
        self._note_finished(err)
        while is_at_work(self.made.agent):  # what it left running ends by itself: only then all is counted
            time.sleep(0.02)
        self._note(before)
        return run.returncode < 0

    def _note_finished(self, err: str) -> None:
        """A task that finished was recorded before that was told: it does not run again."""
        ran = {found.group(1) for line in err.splitlines() if (found := _FINISHED.match(line))} - {"report:latest"}
        assert set() == ran & self.finished
        self.finished |= ran

    def _note(self, before: Counter[str]) -> None:
        """Note whose agents were in flight, and that no others were started than those whose runs were not kept."""
        kept = self.made.kept() | self.made.finished()
        for unit, times in (self.made.agent.starts - before).items():
            assert 1 == times, f"the agent of {unit} was started {times} times by one run"
            if self.whole.keys[unit] not in kept:
                self.lost[unit] += 1
        answers, (_, judges) = self.made.kept("judge"), self.made.requests()
        for unit, key in self.whole.judge_keys.items():
            if key in answers:
                self.answered.setdefault(unit, judges[unit])

    def check(self, done: Done) -> None:
        """That all came out as if nobody had disturbed it."""
        made, whole = self.made, self.whole
        self._note_finished(done.err)
        assert 0 == done.status, done.err + done.out
        assert Counter(made.names) + self.lost == made.agent.starts
        agents, judges = made.requests()
        assert Counter(made.names) <= agents <= made.agent.starts  # an agent may end before it asks: nobody listens
        assert set(whole.judge_keys) == set(judges)
        assert self.answered == {unit: judges[unit] for unit in self.answered}
        assert set(whole.keys.values()) == made.kept()
        assert whole.table == table(done.out)
        outcome = made.outcome()
        assert list(whole.outcome) == list(outcome)
        for name, contents in whole.outcome.items():
            assert contents == outcome[name], name
        verified = evalkit(made.project, "store", "verify")
        assert 0 == verified.status, verified.out + verified.err
        state = made.project.root / ".evalkit"
        # (An empty folder that nobody came to claim is left alone for a minute.)
        assert [] == [path.name for path in (state / "store/making").iterdir() if not path.name.startswith("new-")]
        assert [] == [*(state / "store").glob("damaged/*"), *(state / "store").glob("finished/*")]
        assert {} == made.project.doit("run", "suite:mini").ran


def evalkit(project: MiniProject, *args: str) -> Done:
    ran = subprocess.run([sys.executable, "-m", "evalkit.cli", *args], cwd=project.root, capture_output=True, text=True,
                         check=False, timeout=60)
    return Done(ran.returncode, ran.stdout, ran.stderr)


def crash(folder: Path, whole: Undisturbed, killer: Path, *, kills: int, seed: int) -> int:
    """Kill a run `kills` times, or until it gets to its end, and let it finish; how many kills that were."""
    with units(folder, COUNT, delay=DELAY) as made:
        killed = Killed(made, whole, killer, random.Random(seed))
        hits = sum(killed.kill(at_step=number % 2 == 0) for number in range(kills))
        killed.check(made.project.doit("run", "suite:mini"))
    return hits


def test_a_kill_while_trees_are_packed(tmp_path: Path) -> None:
    """Right after the first agent's note is written: what was noted is kept, and started once."""
    (tmp_path / "killer").mkdir()
    (tmp_path / "killer/sitecustomize.py").write_text(_AT_PACKING)
    with units(tmp_path / "units", 4, judged=False) as made:
        with made.project.start("run", "suite:mini", PYTHONPATH=on_path(tmp_path / "killer")) as run:
            run.communicate()
        assert -9 == run.returncode
        finished = made.finished()
        assert finished
        while is_at_work(made.agent):
            time.sleep(0.01)
        before = made.agent.starts
        done = made.project.doit("run", "suite:mini")
        assert 0 == done.status, done.err
        assert "the agent had finished when an earlier run was killed: its work is kept" in done.err
        again = made.agent.starts - before
        assert set() == finished & {key for unit, key in made.keys().items() if unit in again}
        assert set() == made.finished()


def test_runs_that_are_killed_thirty_times(tmp_path: Path, undisturbed: Undisturbed, killer: Path) -> None:
    """Thirty kills, from one to five of a project, and each project comes to its end."""
    hits, seed = 0, 0
    while hits < 30:
        seed += 1
        hits += crash(tmp_path / str(seed), undisturbed, killer, kills=1 + seed % 5, seed=seed)


def test_a_run_that_is_killed_at_one_step_after_the_other(tmp_path: Path, killer: Path) -> None:
    """Of one unit with a judge, from nothing: right before each sixth step that changes anything on the disk.

    (All steps passed when this was written.)
    """
    with units(tmp_path, 1) as made:
        project = made.project
        path, count = on_path(killer), str(tmp_path / "steps")
        with project.start("run", "suite:mini", PYTHONPATH=path, COUNT_STEPS_IN=count) as run:
            first, _ = run.communicate()
        key, expected, outcome = made.keys()["unit-01"], table(first), made.outcome()
        steps = int((tmp_path / "steps").read_text())
        assert steps > 50
        for step in range(1, steps, 6):
            for folder in ("results", ".evalkit"):
                shutil.rmtree(project.path(folder))
            before = made.agent.starts["unit-01"]
            with project.start("run", "suite:mini", PYTHONPATH=path, KILL_AT_STEP=str(step)) as run:
                run.communicate()
            while is_at_work(made.agent):
                time.sleep(0.01)
            started, kept = made.agent.starts["unit-01"] - before, key in made.kept() | made.finished()
            done = project.doit("run", "suite:mini")
            assert 0 == done.status, (step, done.err)
            assert started + (not kept) == made.agent.starts["unit-01"] - before, step
            assert (expected, outcome) == (table(done.out), made.outcome()), step
            assert {} == project.doit("run", "suite:mini").ran, step
            assert 0 == evalkit(project, "store", "verify").status, step
