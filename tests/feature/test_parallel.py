"""Work side by side: as much at once as may be, in whatever order: the same table, whole lines, the right status."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.feature.project import MiniProject
from tests.feature.units import Units, table, units

COUNT = 6
_TRIAL = r"latest/claude/anthropic%2Fclaude-sonnet-5/unit-\d\d/trial-1"
_LINE = re.compile(
    rf"about to run claude .*|this run: \$[\d.]+ spent|"
    rf" +[\d.]+s  (template:mini\.note|report:latest|(workspace|agent|result|grade|judge):{_TRIAL}(:\w+)?)"
    rf"(: (pass|fail|scored))?(  \([a-z ]+\))?|"
    rf" +\.\.  (workspace|agent|grade|judge):{_TRIAL}(:\w+)?  \([a-z ]+\)|"
    r" {11}\[unit-\d\d\] somebody else is making the same: waiting for it")
"""All that these runs say on standard error."""


def tasks(made: Units) -> Counter[str]:
    """All tasks of a run, each once."""
    trials = {name: f"latest/claude/anthropic%2Fclaude-sonnet-5/{name}/trial-1" for name in made.names}
    names = ["template:mini.note", "report:latest"]
    names += [f"{kind}:{trial}" for kind in ("workspace", "agent", "result") for trial in trials.values()]
    names += [f"grade:{trial}:{check}" for trial in trials.values() for check in ("greets", "there")]
    names += [task for trial in [*trials.values()][::4] for task in (f"grade:{trial}:own", f"judge:{trial}:tone")]
    return Counter(names)


def told(err: str) -> Counter[str]:
    """The tasks whose ends were told. Every line must be a whole one."""
    lines = err.splitlines()
    assert [] == [line for line in lines if not _LINE.fullmatch(line)]
    ends = re.compile(r" +[\d.]+s  ([^ ]+?)(: (pass|fail|scored))?( |$)")
    return Counter(found.group(1) for line in lines if (found := ends.match(line)))


def again(project: MiniProject) -> None:
    """Forget all that ran."""
    for folder in ("results", ".evalkit"):
        shutil.rmtree(project.path(folder), ignore_errors=True)


def run_often(folder: Path, times: int) -> None:
    """Run all from nothing, again and again; every second time Python's own streams are not buffered."""
    with units(folder, COUNT) as made:
        made.project.edit("cases/mini/unit-02.eval", 'has "[unit-02]"', 'has "[unit-20]"')
        first, expected = None, tasks(made)
        for number in range(times):
            made.project.env["PYTHONUNBUFFERED"] = "1" if number % 2 else ""
            done = made.project.doit("run", "suite:mini", "jobs=4", "agents=8")
            assert 1 == done.status, done.err
            assert expected == told(done.err)
            first = first or table(done.out)
            assert first == table(done.out)
            assert done.out.endswith(f"\n{COUNT - 1} passed, 1 failed\n")
            again(made.project)


def test_parallel_runs_end_well_a_hundred_times(tmp_path: Path) -> None:
    """In a pipe: status, table and lines are whole, a hundred times in a row."""
    run_often(tmp_path, 100)


@pytest.mark.parametrize("agents", [1, 3])
def test_agents_wait_for_models_side_by_side(tmp_path: Path, agents: int) -> None:
    """As many as may, and no more."""
    with units(tmp_path, 6, delay=0.4) as made:
        done = made.project.doit("run", "suite:mini", f"agents={agents}")
        assert 0 == done.status, done.err
        assert agents == made.agent.most_at_once()


def test_agents_that_build_keep_to_the_cores(tmp_path: Path) -> None:
    """One whose workspace is warmed up by building counts as a build."""
    with units(tmp_path, 6, delay=0.4) as made:
        made.project.edit("cases/mini/suite.eval", 'caches "cache"', 'caches "cache"\n    prewarm "true"')
        done = made.project.doit("run", "suite:mini", "agents=6", "jobs=2")
        assert 0 == done.status, done.err
        assert 2 == made.agent.most_at_once()


@pytest.mark.parametrize("jobs", [1, 3])
def test_checks_that_run_commands_keep_to_the_cores(tmp_path: Path, jobs: int) -> None:
    """They start side by side where they may; the agents that they grade were all at work at once."""
    with units(tmp_path, 6, delay=0.4, judged=False) as made:
        log = tmp_path / "checks"
        for name in made.names:
            made.project.edit(f"cases/mini/{name}.eval", "  check exists",
                              f"  check run \"sh -c 'echo +1 >> {log}; sleep 0.3; echo -1 >> {log}'\"\n  check exists")
        done = made.project.doit("run", "suite:mini", "agents=6", f"jobs={jobs}")
        assert 0 == done.status, done.err
        assert 6 == made.agent.most_at_once()
        at_work = [0]
        for step in log.read_text().split():
            at_work.append(at_work[-1] + int(step))
        assert (jobs, 0) == (max(at_work), at_work[-1])
