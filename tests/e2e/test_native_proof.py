"""A sample of the native suite is proven: two apps, a core, and both tracks of a case that has them.

All 30 units are proven by `evalkit check --prove cases/native`, which takes several times as long.
Live checks are left out here; tests/e2e/test_live.py is about them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import REPOSITORY
from tests.feature.project import PYPROJECT

pytestmark = pytest.mark.slow

SAMPLE = ("kanban-board", "disk-status-spans", "ts-expenses-filter", "dual-list-delete-fix")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("proof") / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the native suite."""\n')
    shutil.copytree(REPOSITORY / "cases/native", root / "cases/native")
    return root


@pytest.mark.parametrize("case", SAMPLE)
def test_a_case_is_proven(case: str, project: Path) -> None:
    """Its right answer passes, nothing fails, and each wrong answer fails the checks that it names."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("EVALKIT_", "NATIVE_SDK_")) or name == "EVALKIT_CACHE"}
    env |= {"EVALKIT_LANE": "sandbox", "EVALKIT_SKIP_LIVE": "1", "EVALKIT_WORK": str(project.parent / "work")}
    done = subprocess.run(["evalkit", "check", "--prove", case], cwd=project, env=env, check=False, timeout=1800,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": proven" in done.stdout
