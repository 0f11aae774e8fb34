"""What a run after the edit of one check imports: what compiles, grades and reports, and nothing that runs an agent."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from bench.engine_projects import edit_check, write_cases
from tests.feature.project import MiniProject

IDLE = {
    "agents and rooms": {"evalkit.execute.agents.base", "evalkit.execute.stages", "evalkit.execute.retry",
                         "evalkit.execute.layers", "evalkit.execute.attempts", "evalkit.execute.lanes",
                         "evalkit.execute.overlay"},
    "models": {"evalkit.execute.models.chat", "evalkit.execute.models.client", "evalkit.execute.models.replayed",
               "evalkit.execute.models.prices", "evalkit.gateway", "httpx", "yaml"},
    "children": {"evalkit.execute.process", "evalkit.execute.pipes", "evalkit.execute.finished"},
    "live checks": {"evalkit.execute.image", "evalkit.execute.live_lane"},
    "transcripts": {"evalkit.execute.transcripts", "evalkit.report.html.conversation"},
    "reports that stay": {"evalkit.report.html.page", "evalkit.report.html.matrix", "evalkit.report.markdown",
                          "evalkit.report.aggregate", "evalkit.report.stats", "jinja2", "rich.console"},
    "what makes classes": {"attr", "attrs"},
    "statements that few files have": {
        "evalkit.syntax.nodes_calls", "evalkit.syntax.nodes_live", "evalkit.syntax.nodes_metrics",
        "evalkit.syntax.lower_calls", "evalkit.syntax.lower_live", "evalkit.syntax.lower_metrics",
        "evalkit.analysis.calls", "evalkit.analysis.live", "evalkit.analysis.metrics"},
    "other parsers": {"lark", "regex", "tarfile", "html", "difflib", "filecmp", "sysconfig", "encodings.utf_8_sig",
                      "importlib.resources.readers", "evalkit.analysis.repeats", "evalkit.syntax.problems",
                      "evalkit.report.html.difference"},
}
"""Modules that such a run has no use for; each costs an edit some tenths of a millisecond, or many."""
TICK = 0.03
"""Seconds after which a change has another time than one before, and a file is not young any more."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules that the run after an edit imported, in a project of plain checks whose verdicts stay."""
    project = MiniProject(tmp_path_factory.mktemp("edit") / "project")
    write_cases(project.root, 3)
    for mark in ("", "e1e", "e2e"):  # the first edit has the page drawn that the first run could not know
        if mark:
            edit_check(project.root, 1, mark)
            time.sleep(TICK)
        done = subprocess.run([sys.executable, "-X", "importtime", "-m", "doit", "run", "all", "agent=nop"],
                              cwd=project.root, env=project.environ, capture_output=True, text=True, check=True)
    assert "grade:latest/nop/c1/trial-1:three" in done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "import time:" in line}


@pytest.mark.parametrize("what", IDLE)
def test_an_edit_imports_no_more_than_it_needs(imported: set[str], what: str) -> None:
    """An import at the top of a module is in all of its users: one that few of them need belongs into a function."""
    assert {"evalkit.analysis.compile", "evalkit.dag.plan", "evalkit.grade.search"} <= imported
    assert set() == imported & IDLE[what]
