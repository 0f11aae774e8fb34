"""Logs of the tasks of a trial."""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from evalkit.dag.logs import log_file
from evalkit.dag.progress import Progress
from tests.unit.dag.screen import Clock

AGENT = "agent:latest/nop/kanban/trial-2"
CHECK = "grade:latest/nop/kanban/trial-2:own-tests"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def progress(tmp_path: Path, clock: Clock, stream: io.StringIO) -> Progress:
    made = Progress(stream, clock)
    made.logs = partial(log_file, tmp_path)
    return made


def text_of(folder: Path, name: str) -> str:
    """A log, with a fixed time of its start."""
    text = (folder / "latest/nop/kanban/trial-2/logs" / name).read_text(encoding="utf-8")
    return re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "START", text)


def logs(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.log"))


@pytest.mark.parametrize(("task", "expected"), [
    ("workspace:latest/nop/kanban/trial-1", "latest/nop/kanban/trial-1/logs/workspace.log"),
    (AGENT, "latest/nop/kanban/trial-2/logs/agent.log"),
    (CHECK, "latest/nop/kanban/trial-2/logs/grade-own-tests.log"),
    ("judge:r/claude/a%2Fb/k@ts+base/trial-1:agent", "r/claude/a%2Fb/k@ts+base/trial-1/logs/judge-agent.log"),
    ("toolchain:zig", None), ("report:latest", None), ("case:kanban", None), ("all", None),
])
def test_a_log_stands_under_its_trial(task: str, expected: str | None, tmp_path: Path) -> None:
    """Named by the task's kind and its check; what trials share has none."""
    assert (tmp_path / expected if expected else None) == log_file(tmp_path, task)


def test_a_log_tells_a_task_from_its_start_to_its_end(progress: Progress, clock: Clock, tmp_path: Path) -> None:
    """When and why it ran, what it said and when, how long it took and what came of it."""
    progress.started(AGENT, "prompt changed")
    clock.now += 0.5
    progress.say("prewarm: zig build\nand more")
    clock.now += 82
    progress.say("\x1b[31mred")
    progress.finished(AGENT, "pass")

    assert f"START  {AGENT}  (prompt changed)\n     0.5s  prewarm: zig build\n           and more\n" \
           "    82.5s  red\n    82.5s  pass\n" == text_of(tmp_path, "agent.log")


def test_a_log_is_rewritten_each_time(progress: Progress, clock: Clock, tmp_path: Path) -> None:
    """It tells of the last time alone; one that would be empty is removed."""
    for remark in ("first", "second", ""):
        progress.started(AGENT, "never run")
        if remark:
            progress.say(remark)
        progress.finished(AGENT, "")
        if remark:
            assert f"START  {AGENT}  (never run)\n     0.0s  {remark}\n     0.0s  done\n" == text_of(
                tmp_path, "agent.log")

    assert [] == logs(tmp_path)


def test_quick_tasks_that_say_nothing_leave_no_log(progress: Progress, clock: Clock, tmp_path: Path) -> None:
    """A second is worth a log, less is not: not even a folder."""
    progress.started(CHECK, "never run")
    clock.now += 0.9
    progress.tick(0.9)
    progress.finished(CHECK, "pass")
    assert [] == list(tmp_path.iterdir())

    progress.started(CHECK, "never run")
    clock.now += 1.1
    progress.finished(CHECK, "fail")
    assert f"START  {CHECK}  (never run)\n     1.1s  fail\n" == text_of(tmp_path, "grade-own-tests.log")


def test_a_log_is_there_while_its_task_runs(progress: Progress, clock: Clock, tmp_path: Path) -> None:
    """A run that is killed leaves what was known; one that is interrupted says so."""
    progress.started(AGENT, "never run")
    clock.now += 1
    progress.tick(1)
    assert f"START  {AGENT}  (never run)\n" == text_of(tmp_path, "agent.log")
    progress.say("at it")
    assert text_of(tmp_path, "agent.log").endswith("     1.0s  at it\n")
    progress.close()
    progress.say("too late")

    assert text_of(tmp_path, "agent.log").endswith("     1.0s  at it\n     1.0s  did not finish\n")


def test_no_key_gets_into_a_log(progress: Progress, tmp_path: Path) -> None:
    """Neither by a remark nor by a task's reason."""
    progress.clean = lambda text: text.replace("sesame", "[KEY redacted]")
    progress.started(AGENT, "file sesame changed")
    progress.say("open sesame")
    progress.finished(AGENT, "sesame")

    assert "sesame" not in text_of(tmp_path, "agent.log")
    assert 3 == text_of(tmp_path, "agent.log").count("[KEY redacted]")


def a_file_for_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "latest").write_text("")


def a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.RawIOBase):
        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "open", lambda *args, **kwargs: Full())


@pytest.mark.parametrize(("break_it", "reason"), [
    (a_file_for_a_folder, "Not a directory"), (a_full_disk, "No space left on device")])
def test_work_goes_on_without_logs(break_it: Callable[[Path, pytest.MonkeyPatch], None], reason: str,
                                   progress: Progress, clock: Clock, stream: io.StringIO, tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they cannot be written; that is said once, whatever many tasks meet it."""
    break_it(tmp_path, monkeypatch)
    for task in (AGENT, CHECK):
        progress.started(task, "never run")
        progress.say("one")
        progress.say("two")
        clock.now += 2
        progress.tick(2)
        progress.finished(task, "pass")

    lines = stream.getvalue().splitlines()
    told = f"           logs cannot be written ({reason}): going on without them"
    assert 1 == lines.count(told)
    assert 2 == sum(line.endswith("one") for line in lines) == sum(line.endswith("two") for line in lines)
    assert 2 == progress.ran
