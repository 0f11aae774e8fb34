"""Live checks and their image on the command line, with an mmdebstrap that makes an empty root file system.

Real ones: tests/e2e/test_live.py.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.feature.project import MiniProject
from tests.sandbox import bwrap

LIVE = """
  live { launch "out/app"; snapshot "drive snapshot" }
  define check not-empty"""
CASE = "cases/mini/greeting/greeting.eval"
MMDEBSTRAP = """#!/bin/sh
echo "I: running apt-get update..." >&2
for word; do case $word in *.tar) to=$word;; esac; done
mkdir -p "$TMPDIR/r/usr/bin" && tar -cf "$to" -C "$TMPDIR/r" .
"""


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    """The small project in the sandbox lane, with a live check."""
    bwrap()
    made = MiniProject.make(tmp_path)
    made.env["EVALKIT_LANE"] = "sandbox"
    made.edit("cases/mini/suite.eval", "\n  define check not-empty", LIVE)
    made.edit(CASE, "  check not-empty as", '  check snapshot has "x" as live "the app shows it"\n  check not-empty as')
    return made


def with_mmdebstrap(project: MiniProject) -> None:
    program = project.root.parent / "bin/mmdebstrap"
    program.parent.mkdir()
    program.write_text(MMDEBSTRAP)
    program.chmod(0o755)
    project.env["PATH"] = f"{program.parent}:{os.environ['PATH']}"


def live(project: MiniProject) -> dict[str, Any]:
    found = json.loads(project.read("results/latest/oracle/greeting/trial-1/grades/live.json"))
    verdict: dict[str, Any] = found["verdict"]
    return verdict


def test_without_an_image_it_is_skipped(project: MiniProject) -> None:
    """With what to type; the case passes, and is settled."""
    done = project.doit("run", "case:greeting")
    assert 0 == done.status, done.err + done.out
    assert "skipped" == live(project)["status"]
    assert "doit run image:linux" in live(project)["summary"]
    assert "s live" in done.out
    assert {} == project.doit("run", "case:greeting").ran


def test_a_wrong_answer_that_a_live_check_rejects(project: MiniProject) -> None:
    """Where that check is skipped, the others show that it is wrong, and the table says so; alone it shows nothing."""
    project.edit(CASE, "fails greets", "fails greets, live")
    done = project.doit("run", "case:greeting", "agent=wrong:rude")
    assert "a known wrong answer: greets, live must fail, and that is so (skipped: live)" in done.out
    project.edit(CASE, "fails greets, live", "fails live")
    done = project.doit("run", "case:greeting", "agent=wrong:rude")
    assert "a known wrong answer: live must fail, but: live (skipped)" in done.out


def test_why_else_it_is_skipped(project: MiniProject) -> None:
    """The reason is the one that holds."""
    assert 0 == project.doit("run", "case:greeting", "skip_live=1").status
    assert "skip_live=1" == live(project)["summary"]
    assert 0 == project.doit("run", "case:greeting", "lane=local").status
    assert "lane=sandbox" in live(project)["summary"]


def test_the_image_is_made_once_and_asks_for_another_look(project: MiniProject) -> None:
    """What could not be shown before is looked at then, also of a case that was settled."""
    project.doit("run", "case:greeting")
    with_mmdebstrap(project)
    done = project.doit("run", "image:linux")
    assert 0 == done.status, done.err
    assert "making the image `linux`" in done.err
    again = project.doit("run", "image:linux")
    assert "nothing ran" in again.err + again.out
    done = project.doit("run", "case:greeting")
    assert "image is new" in done.ran["grade live"], done.ran
    assert "error" == live(project)["status"], "there is no Python in this image"


def test_a_missing_mmdebstrap_is_told(project: MiniProject, tmp_path: Path) -> None:
    """The line to type; nothing of a case is run."""
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("sh", "env"):
        (folder / name).symlink_to(f"/bin/{name}")
    project.env |= {"PATH": str(folder), "EVALKIT_LANE": "local"}
    done = project.doit("run", "image:linux")
    assert 3 == done.status
    assert "apt-get install mmdebstrap" in done.err
    assert not project.path("results").exists()
