"""Limits: how they are told, control groups, and the watch where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.execute.lanes.limits import Cgroup, Limits, Watch, below, sweep_groups

MB = 1024 * 1024


@pytest.mark.parametrize(("what", "said"), [
    ("memory", "memory limit of 6 GB"), ("file", "file limit of 2 GB"), ("processes", "limit of 1024 processes"),
    ("shared", "shared limit of 1 GB"),
])
def test_a_limit_is_told_with_its_size(what: str, said: str) -> None:
    """As verdicts have it."""
    assert said == Limits().told(what)


def groups(root: Path, *, controllers: str, name: str = "/user.slice/mine") -> tuple[Path, Path]:
    """A file system of control groups, and what tells a process its own."""
    here = root / name.lstrip("/")
    here.mkdir(parents=True)
    for folder in (here, here.parent):
        (folder / "cgroup.subtree_control").write_text(controllers)
    own = root / "own"
    own.write_text(f"1:name=systemd:/x\n0::{name}\n")
    return root, own


def test_a_group_is_made_where_both_controllers_are(tmp_path: Path) -> None:
    """With its limits, and the process is put into it."""
    group = Cgroup.make(Limits(memory=5, processes=6), *groups(tmp_path, controllers="cpu memory pids"))
    assert group is not None
    assert ("5", "6") == tuple((group.folder / name).read_text() for name in ("memory.max", "pids.max"))
    group.enter(42)
    assert "42" == (group.folder / "cgroup.procs").read_text()


@pytest.mark.parametrize("controllers", ["", "memory", "cpu pids"])
def test_without_both_controllers_there_is_none(controllers: str, tmp_path: Path) -> None:
    """Then the processes are looked at instead."""
    assert Cgroup.make(Limits(), *groups(tmp_path, controllers=controllers)) is None
    assert Cgroup.make(Limits(), tmp_path / "nothing", tmp_path / "nothing") is None


def test_groups_of_killed_processes_are_swept(tmp_path: Path) -> None:
    """Those of processes that are alive stay, and so does what is not evalkit's."""
    root, own = groups(tmp_path, controllers="memory pids")
    here = root / "user.slice/mine"
    names = (f"evalkit-{os.getpid()}-a", "evalkit-4194303-b", "evalkit-x", "other-4194303-c")
    for name in names:
        (here.parent / name).mkdir()
    sweep_groups(root, own)
    assert [names[0], *names[2:]] == [name for name in names if (here.parent / name).exists()]


@pytest.mark.parametrize(("memory", "pids", "said"), [
    ("oom 0\noom_kill 0\n", "max 0\n", ""),
    ("oom 1\noom_kill 1\n", "max 0\n", "memory limit of 6 GB"),
    ("oom 0\noom_kill 0\n", "max 3\n", "limit of 1024 processes"),
])
def test_a_group_tells_what_struck(memory: str, pids: str, said: str, tmp_path: Path) -> None:
    """By the kernel's own counts."""
    (tmp_path / "memory.events").write_text(memory)
    (tmp_path / "pids.events").write_text(pids)
    assert said == Cgroup(tmp_path, Limits()).over()


def test_descendants_are_found() -> None:
    """Children of children too."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        try:
            while len(below(process.pid)) < 2:
                assert process.poll() is None
            assert process.pid == below(process.pid)[0]
            assert os.getpid() not in below(process.pid)
        finally:
            process.communicate()


def test_files_are_counted_as_they_lie_on_the_disk(tmp_path: Path) -> None:
    """A hole takes no room; what is behind links is not counted."""
    (tmp_path / "in").mkdir()
    with (tmp_path / "in/hole").open("wb") as file:
        file.truncate(100 * MB)
    (tmp_path / "in/link").symlink_to("/usr")
    watch = Watch(Limits(disk=MB), (tmp_path / "in",), counts=False)
    watch._next_walk = 0
    assert "" == watch.over()
    (tmp_path / "in/full").write_bytes(bytes(2 * MB))
    watch._next_walk = 0
    assert "disk limit of 1 MB" == watch.over()
