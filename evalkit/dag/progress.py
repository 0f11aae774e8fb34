"""What is said while tasks run: a line a task on standard error, with its time and why it ran.

Standard output is for the table alone, so that a pipe gets the result and a terminal both.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

__all__ = ["Progress", "Reporter"]

_ANNOUNCE = 1.0
"""Seconds after which a task that still runs is announced."""
_BEAT = 20.0
"""Seconds between two signs of life of a long task."""


class Progress:
    """Says what happens. A line is whole when it is written, so that lines of a pipe never mix."""

    def __init__(self, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.__stderr__ or sys.stderr
        self._clock = clock
        self._task = ""
        self._why = ""
        self._began = 0.0
        self._said_until = 0.0
        self.ran = 0

    def say(self, text: str) -> None:
        """A remark of the task at work; the task's own name comes first, once."""
        self._announce()
        for line in text.splitlines() or [""]:
            self._write(f"           {line}")

    def tick(self, _: float) -> None:
        """A sign that the task still works; said at times that a person would begin to wonder."""
        passed = self._clock() - self._began
        if passed >= _ANNOUNCE:
            self._announce()
        if passed >= self._said_until + _BEAT:
            self._said_until = passed
            self._write(f"           … {passed:.0f} s")

    def started(self, task: str, why: str) -> None:
        self._task, self._why, self._began, self._said_until = task, why, self._clock(), 0.0

    def finished(self, task: str, outcome: str) -> None:
        self.ran += 1
        seconds = self._clock() - self._began
        why = f"  ({self._why})" if self._why else ""
        self._task = ""
        self._write(f"{seconds:8.1f}s  {task}{': ' + outcome if outcome else ''}{why}")

    def _announce(self) -> None:
        if self._task:
            self._write(f"       ..  {self._task}  ({self._why})")
            self._task, self._why = "", ""

    def _write(self, line: str) -> None:
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads any more, or can: work goes on
            pass


class Reporter:
    """doit's reporter: tells `Progress` of tasks; up-to-date tasks are silent."""

    desc = "evalkit's: a line a task, with its time and why it ran"

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.executed: list[str] = []
        self.errors: list[str] = []

    def initialize(self, tasks: Any, selected_tasks: Any) -> None:
        """doit's call before anything runs."""

    def get_status(self, task: Any) -> None:
        """doit's call before a task's status is computed."""

    def execute_task(self, task: Any) -> None:
        if task.actions:
            why = str(task.uptodate[0][0]) if task.uptodate else ""
            if why == "up to date":
                gone = any(not Path(target).exists() for target in task.targets)
                why = "its outcome is gone" if gone else "asked for"
            self.progress.started(task.name, why)

    def add_success(self, task: Any) -> None:
        if task.actions:
            self.executed.append(task.name)
            values = task.values or {}
            said = " ".join(str(values[name]) for name in ("status", "verdict") if values.get(name))
            self.progress.finished(task.name, said)

    def add_failure(self, task: Any, fail: Any) -> None:
        if task.executed:
            self.progress.finished(task.name, "could not do its work")
        if fail.report and fail.get_name() != "UnmetDependency":  # one of the person's own tasks, or doit's own word
            printed = "".join(action.out or "" for action in task.actions) + "".join(
                action.err or "" for action in task.actions)
            self.errors.append("\n".join(part for part in (f"{task.name}: {fail.get_msg()}".strip(), printed.strip())
                                         if part))

    def skip_uptodate(self, task: Any) -> None:
        """doit's call for an up-to-date task."""

    def skip_ignore(self, task: Any) -> None:
        self.progress.say(f"{task.name}: ignored, as `doit ignore` said")

    def cleanup_error(self, exception: Any) -> None:
        self.errors.append(exception.get_msg())

    def runtime_error(self, msg: str) -> None:
        self.errors.append(msg)

    def teardown_task(self, task: Any) -> None:
        """doit's call before a task's teardown; no task here has one."""

    def complete_run(self) -> None:
        """doit's call at the end."""
