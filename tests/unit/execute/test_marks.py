"""Processes are known by their marks, also while they become other programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.execute import marks

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="marks are found on Linux alone")


@linux
def test_a_process_that_becomes_a_program_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a moment it has no environment to be seen: nothing else is found then, and it must not get away."""
    mark = marks.new_mark()
    process = subprocess.Popen(["sleep", "300"], env={marks.MARK: mark}, start_new_session=True)
    looks = []

    def found() -> Iterator[tuple[int, list[str]]]:
        looks.append(1)
        yield process.pid, [] if len(looks) < 3 else [mark] if process.poll() is None else ["another's"]

    monkeypatch.setattr(marks, "_found", found)
    try:
        assert 1 == marks.end_marked(mark.__eq__)
        assert -9 == process.wait(20)
    finally:
        process.kill()


@linux
def test_only_the_young_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has no environment for good may have one only just after its start; a zombie never."""
    process = subprocess.Popen(["sleep", "300"], env={}, start_new_session=True)
    place = Path("/proc", str(process.pid))
    try:
        assert b"" == (place / "environ").read_bytes()
        monkeypatch.setattr(marks, "_YOUNG", 1e9)
        assert marks._becoming(process.pid)
        monkeypatch.setattr(marks, "_YOUNG", 0.0)
        assert not marks._becoming(process.pid)
        monkeypatch.setattr(marks, "_YOUNG", 1e9)
        process.kill()
        while " Z " not in (place / "stat").read_text():
            pass
        assert not marks._becoming(process.pid)
    finally:
        process.kill()
        process.wait()
    assert not marks._becoming(process.pid)
    assert not marks._becoming(2), "one of the kernel's own"
