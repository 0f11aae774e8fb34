"""Live checks with the real SDK: in the image, under a display of its own. The image is made if it is not there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import REPOSITORY, RealProject
from tests.feature.project import PYPROJECT
from tests.sandbox import bwrap

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> RealProject:
    """The native suite in a project of its own, in the sandbox lane, with the image in the user's cache."""
    bwrap()
    root = tmp_path_factory.mktemp("shown") / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the native suite."""\n')
    shutil.copytree(REPOSITORY / "cases/native", root / "cases/native")
    project = RealProject(root, {"EVALKIT_LANE": "sandbox"})
    done = project.doit("run", "image:linux", timeout=1800)
    assert 0 == done.status, f"LIVE CHECKS ARE NOT TESTED: {done.err}"
    again = project.doit("run", "image:linux")
    assert "nothing ran" in again.out + again.err
    return project


def grade(project: RealProject, subject: str, agent: str, *choices: str) -> tuple[dict[str, Any], Path, str]:
    """The verdict of the live check alone, the trial's folder, and what was said."""
    trial = f"latest/{subject}/kanban-board/trial-1"
    done = project.doit("run", f"grade:{trial}:live", f"agent={agent}", *choices)
    assert 0 == done.status, done.err + done.out
    folder = project.root / "results" / trial
    verdict: dict[str, Any] = json.loads((folder / "grades/live.json").read_text())["verdict"]
    return verdict, folder, done.err


def test_a_moved_card_is_seen_to_be_the_same_card(native: RealProject) -> None:
    """The reference answer passes, one whose cards are made anew on a move fails, and both are seen. What a build has
    made for all is made once; a second look is not taken.
    """
    verdict, folder, said = grade(native, "oracle", "oracle")
    assert "pass" == verdict["status"], verdict
    assert "button is the same widget still" in verdict["evidence"]
    assert "there is no screenshot" not in verdict["evidence"]
    assert 1 == said.count("prewarm, once for all trials")
    picture = (folder / "screenshots/live.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert (960, 640) == (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24]))
    assert 'name="Buy stamps"' in (folder / "screenshots/live.txt").read_text()

    verdict, folder, said = grade(native, "wrong%3Arecreated-cards", "wrong:recreated-cards")
    assert ("fail", "card is not the widget that it was") == (verdict["status"], verdict["summary"])
    assert "prewarm" not in said
    assert (folder / "screenshots/live.png").is_file()

    _, _, said = grade(native, "oracle", "oracle")
    assert ":live" not in said


def test_skip_live(native: RealProject) -> None:
    """No app is shown, and the reason is told."""
    verdict, _, _ = grade(native, "nop", "nop", "skip_live=1")
    assert ("skipped", "skip_live=1") == (verdict["status"], verdict["summary"])
