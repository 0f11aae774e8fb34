"""A sample of the native suite is proven: two apps, a core, and both tracks of a case that has them.

All 30 units are proven by `evalkit check --prove cases/native`, which takes several times as long.
Live checks are left out here; tests/e2e/test_live.py is about them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from tests.e2e.conftest import REPOSITORY, RealProject
from tests.feature.project import PYPROJECT, Done

pytestmark = pytest.mark.slow

SAMPLE = ("kanban-board", "process-monitor", "ts-expenses-filter", "dual-list-delete-fix")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RealProject:
    root = tmp_path_factory.mktemp("proof") / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the native suite."""\n')
    shutil.copytree(REPOSITORY / "cases/native", root / "cases/native")
    return RealProject(root, {"EVALKIT_LANE": "sandbox", "EVALKIT_SKIP_LIVE": "1"})


@pytest.mark.parametrize("case", SAMPLE)
def test_a_case_is_proven(case: str, project: RealProject) -> None:
    """Its right answer passes, nothing fails, and each wrong answer fails the checks that it names."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("EVALKIT_", "NATIVE_SDK_")) or name == "EVALKIT_CACHE"}
    env |= project.env | {"EVALKIT_WORK": str(project.root.parent / "work")}
    done = subprocess.run(["evalkit", "check", "--prove", case], cwd=project.root, env=env, check=False, timeout=1800,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": proven" in done.stdout


def failing(project: RealProject, agent: str) -> tuple[Done, set[str], set[str]]:
    """What came of kanban-board with a known answer, the checks that failed, and those that passed. The prewarm is that
    of the proof.
    """
    done = project.doit("run", "case:kanban-board", f"agent={agent}")
    (result,) = project.root.glob(f"results/latest/{agent.replace(':', '%3A')}/kanban-board/trial-1/result.json")
    statuses = {check["id"]: check["verdict"]["status"] for check in json.loads(result.read_text())["checks"]}
    failed, passed = ({check for check, status in statuses.items() if status == wanted} for wanted in ("fail", "pass"))
    return done, failed, passed


def test_doing_nothing_fails_at_least_two_checks(project: RealProject) -> None:
    """The untouched scaffold compiles and passes its tests; it is no kanban board."""
    done, failed, passed = failing(project, "nop")
    assert 1 == done.status, done.err + done.out
    assert {"loop", "identity"} == failed
    assert "own-tests" in passed


def test_the_wrong_answer_fails_the_check_that_it_names_and_no_other(project: RealProject) -> None:
    """A board that makes its cards anew is complete, tested, and caught."""
    done, failed, passed = failing(project, "wrong:recreated-cards")
    assert 1 == done.status, done.err + done.out
    assert {"identity"} == failed
    assert {"own-tests", "loop", "no-dialog"} <= passed
