"""Two runs at once, on one checkout and on two that share a store: nothing is damaged, no agent is paid for twice."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.feature.project import Done, MiniProject
from tests.feature.units import Units, table, units

COUNT = 8
WAITS = "another run is at work in this project: waiting for it to end"


def ended(runs: list[subprocess.Popen[str]]) -> list[Done]:
    """What came of runs that were started."""
    done = []
    for run in runs:
        out, err = run.communicate(timeout=120)
        assert "Traceback" not in err, err
        done.append(Done(run.returncode, out, err))
    return done


def once(made: Units) -> Counter[str]:
    return Counter(dict.fromkeys(made.names, 1))


def verified(project: MiniProject) -> bool:
    """Whether every entry of the store is whole."""
    return 0 == subprocess.run([sys.executable, "-m", "evalkit.cli", "store", "verify"], cwd=project.root,
                               env=project.environ, capture_output=True, check=False, timeout=60).returncode


def until_started(made: Units, runs: int) -> None:
    """Wait until so many agents were started."""
    deadline = time.monotonic() + 60
    while sum(made.agent.starts.values()) < runs and time.monotonic() < deadline:
        time.sleep(0.02)


def test_a_second_run_on_a_checkout_waits_for_the_first(tmp_path: Path) -> None:
    """It says so, finds all done, and prints the same table; so does one that asks for a part of it."""
    with units(tmp_path, COUNT, delay=0.2) as made:
        commands = [("run", "suite:mini"), ("run", "suite:mini"), ("run", "case:unit-03")]
        both = ended([made.project.start(*command) for command in commands])
        assert [0, 0, 0] == [done.status for done in both], both
        assert 2 == sum(WAITS in done.err for done in both)
        assert table(both[0].out) == table(both[1].out)
        assert "1 passed" in both[2].out
        assert once(made) == made.agent.starts
        assert {} == made.project.doit("run", "suite:mini").ran
        assert verified(made.project)


def test_a_run_that_waits_for_one_that_is_killed(tmp_path: Path) -> None:
    """It goes on where that one was: what had finished is not begun again."""
    with units(tmp_path, COUNT, delay=0.2) as made:
        first = made.project.start("run", "suite:mini", "agents=2")
        until_started(made, 4)
        second = made.project.start("run", "suite:mini")
        assert second.stderr is not None
        assert f"{WAITS}\n" == second.stderr.readline()
        first.kill()
        kept = made.kept()
        killed, done = ended([first, second])
        assert -signal.SIGKILL == killed.status
        assert 0 == done.status, done.err
        assert kept
        assert {1} == {made.agent.starts[unit] for unit, key in made.keys().items() if key in kept}
        assert sum(made.agent.starts.values()) <= COUNT + 2
        assert verified(made.project)


@pytest.mark.parametrize("killed", [False, True])
def test_two_checkouts_that_share_a_store(tmp_path: Path, killed: bool) -> None:
    """Of equal inputs an agent runs once, whoever comes first; what one leaves when it is killed the other one does."""
    with units(tmp_path, COUNT, delay=0.3) as made:
        made.project.env["EVALKIT_STORE"] = str(tmp_path / "store")
        other = MiniProject(tmp_path / "other", made.project.env)
        shutil.copytree(made.project.root, other.root)
        runs = [made.project.start("run", "suite:mini", "agents=4"), other.start("run", "suite:mini", "agents=4")]
        if killed:
            until_started(made, 3)
            runs[0].kill()
        both = ended(runs)
        assert [-signal.SIGKILL if killed else 0, 0] == [done.status for done in both], both
        if killed:
            assert max(made.agent.starts.values()) <= 2
            assert sum(made.agent.starts.values()) <= COUNT + 4
            assert 0 == made.project.doit("run", "suite:mini").status
        else:
            assert once(made) == made.agent.starts
            assert table(both[0].out) == table(both[1].out)
            assert "somebody else is making the same: waiting for it" in both[0].err + both[1].err
        counted = made.agent.starts
        for project in (made.project, other):
            assert {} == project.doit("run", "suite:mini").ran
            assert verified(project)
        assert counted == made.agent.starts
        agents, judges = made.requests()
        assert killed or (once(made), {1}) == (agents, set(judges.values()))
