"""Exit statuses: what a script can tell of a run."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.feature.units import units

FAILING = ('has "[unit-01]"', 'has "[unit-10]"')


@pytest.mark.parametrize(("status", "manners", "failing", "args"), [
    (0, {}, False, []),
    (1, {}, True, []),
    (2, {}, False, ["budget=much"]),
    (3, {"fails": 1}, False, ["retries=0"]),
    (4, {}, False, ["budget=0.10", "agents=1"]),
    # several at once: the one that says least of the agents
    (4, {}, True, ["budget=0.10", "agents=1"]),
    (3, {"fails": 2, "cost": 9}, True, ["budget=0.10", "agents=1", "retries=0"]),
])
def test_the_status_of_a_run(
    tmp_path: Path, status: int, manners: dict[str, Any], failing: bool, args: list[str]
) -> None:
    """0 all passed, 1 a case failed, 2 a mistake, 3 the harness or a provider failed, 4 the budget was reached."""
    with units(tmp_path, 3, judged=False, **manners) as made:
        if failing:
            made.project.edit("cases/mini/unit-01.eval", *FAILING)
            assert made.project.doit("run", "case:unit-01", "retries=0").status in (1, 3)
        done = made.project.doit("run", "suite:mini", *args)
        assert status == done.status, done.err + done.out


def test_the_status_of_an_interrupted_run(tmp_path: Path) -> None:
    """130."""
    with units(tmp_path, 3, judged=False, seconds=60) as made:
        run = made.project.start("run", "suite:mini")
        deadline = time.monotonic() + 60
        while not made.agent.starts and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=30)
        assert 130 == run.returncode, err
