"""The real parts: this repository's own case, the real SDK, the real Claude Code.

Toolchains come from the person's cache (the tests would install them again each time otherwise); results, store and
work folders are the test's own: the cases are copied into a project of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from tests.feature.project import KEY, PYPROJECT, Done, MiniProject

REPOSITORY = Path(__file__).resolve().parents[2]
NO_NETWORK = ("Temporary failure in name resolution", "Network is unreachable", "EAI_AGAIN", "ENOTFOUND", "ENETUNREACH")
"""How installers say that there is no way to a registry; any other failure of theirs fails the test."""


@define
class RealProject:
    """A copy of the repository's cases in a project of its own."""

    root: Path
    env: dict[str, str] = field(factory=dict)

    def doit(self, *args: str, timeout: float = 900) -> Done:
        passed = {name: value for name, value in os.environ.items()
                  if not name.startswith(("EVALKIT_", "ANTHROPIC_", "CLAUDE_", "AI_GATEWAY_", "VERCEL_", "NATIVE_SDK_"))
                  or name == "EVALKIT_CACHE"}
        env = {**passed, "EVALKIT_WORK": str(self.root.parent / "work"), **self.env}
        done = subprocess.run([sys.executable, "-m", "doit", *args], cwd=self.root, env=env, capture_output=True,
                              text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)
        assert "Traceback" not in done.stderr, done.stderr
        if done.returncode == 3 and any(sign in done.stderr for sign in NO_NETWORK):
            pytest.skip(f"THE REAL PARTS WERE NOT TESTED: the package registry cannot be reached\n{done.stderr}")
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> RealProject:
    """The native suite in a project of its own."""
    root = tmp_path_factory.mktemp("real") / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the native suite."""\n')
    shutil.copytree(REPOSITORY / "cases", root / "cases")
    return RealProject(root)


@pytest.fixture
def small(tmp_path: Path, real: RealProject) -> MiniProject:
    """The small project with the real Claude Code: seconds instead of a minute."""
    project = MiniProject.make(tmp_path)
    if "EVALKIT_CACHE" not in real.env:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
        project.env["EVALKIT_CACHE"] = os.environ.get("EVALKIT_CACHE") or str(home / "evalkit")
    project.env["AI_GATEWAY_API_KEY"] = KEY
    return project


def workspace_of(request: dict[str, Any]) -> str:
    """The agent's working directory, from what Claude Code tells the model of it."""
    text = json.dumps(request)
    marker = "working directory: "
    at = text.lower().index(marker) + len(marker)
    return text[at:].split("\\n", 1)[0].strip()
