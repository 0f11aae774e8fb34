"""`doit run` on a terminal: the live display comes and goes, lines and the table stay."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.feature.project import MiniProject
from tests.unit.dag.screen import pseudo_terminal, seen


def test_a_run_on_a_terminal(project: MiniProject) -> None:
    """While a check takes its time its unit is shown with it; at the end only what a pipe would have got is left."""
    project.edit("cases/mini/greeting/greeting.eval", 'run "sh check.sh"', "run \"sh -c 'sleep 0.8; sh check.sh'\"")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("EVALKIT_", "AI_", "VERCEL_"))}
    env |= {"EVALKIT_CACHE": str(project.root.parent / "cache"), "EVALKIT_WORK": str(project.root.parent / "work"),
            "TERM": "xterm"}
    with pseudo_terminal(200) as terminal, subprocess.Popen(
            [sys.executable, "-m", "doit", "run", "case:greeting", "agent=oracle"], cwd=project.root, env=env,
            stdin=subprocess.DEVNULL, stdout=terminal.stream, stderr=terminal.stream) as run:
        during = terminal.wait_for("0/1 done")
        terminal.wait_for("1 passed (self-check")
        assert 0 == run.wait(60)
        lines = seen(terminal.rest(), 200)

    assert ["greeting", "grading"] == seen(during, 200)[-2].split()[:2]
    first_of_table = lines.index("self-check: reference answer, no model was called")
    assert all("s  " in line for line in lines[:first_of_table])
    assert any("result:latest/oracle/greeting/trial-1: pass" in line for line in lines[:first_of_table])
    assert not any("0/1 done" in line for line in lines)
