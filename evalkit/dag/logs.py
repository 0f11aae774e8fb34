"""Logs: what a task of a trial said while it ran, as a file in the trial's folder under the results.

    2025-06-01 12:00:00 UTC  agent:latest/claude/…/kanban-board/trial-1  (prompt changed)
         0.4s  prewarm: zig build
        83.0s  completed

A log is rewritten each time its task runs. A task that says nothing and takes no time gets none, and loses an old one:
thousands of graders that take 0.1 ms must not leave thousands of files. A log is help for people: where it cannot be
written, the work goes on without it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from evalkit.dag.labels import read_name
from evalkit.values import State, field

__all__ = ["LONG", "TaskLog", "log_file"]

LONG = 1.0
"""Seconds after which a task is worth a log even if it says nothing."""


def log_file(results: Path, task: str) -> Path | None:
    """Where a task's log stands: under its trial, named by its kind and its check. None for a task of many trials."""
    name = read_name(task)
    if not name.trial:
        return None
    return Path(f"{results}/{name.trial}/logs/{name.kind}{'-' if name.item else ''}{name.item}.log")


class TaskLog(State):
    """The log of one task that runs. `said` and `goes_on` come from the task's threads, `ended` from the main one.

    clean: takes secrets out of a text. failed: is told of an error of the disk; the log is given up then.
    """

    path: Path
    task: str
    why: str
    clean: Callable[[str], str]
    failed: Callable[[OSError], None]
    began: datetime = field(factory=lambda: datetime.now(UTC))
    _file: IO[bytes] | None = None
    _over: bool = False
    _lock: threading.Lock = field(factory=threading.Lock)

    def said(self, seconds: float, lines: list[str]) -> None:
        """A remark, so many seconds after the task's start."""
        with self._lock:
            self._write(seconds, lines)

    def goes_on(self, seconds: float) -> None:
        """The task still works: from a second on there is a log, so that also a killed run leaves one."""
        if seconds >= LONG and self._file is None:
            with self._lock:
                self._open()

    def ended(self, seconds: float, outcome: str) -> None:
        """The task is over: the last line, or no log at all."""
        with self._lock:
            if self._file is not None or seconds >= LONG:
                self._write(seconds, [outcome or "done"])
            elif not self._over:
                with contextlib.suppress(OSError):  # mostly there is none
                    self.path.unlink()
            self._close()

    def _write(self, seconds: float, lines: list[str]) -> None:
        self._open()
        blank = " " * 9
        self._put("".join(f"{f'{seconds:8.1f}s' if line is lines[0] else blank}  {line}\n" for line in lines))

    def _open(self) -> None:
        if self._file is not None or self._over:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what was said is there to be read, and a full disk is met here and not when it is closed.
            self._file = self.path.open("wb", buffering=0)
        except OSError as error:
            self._give_up(error)
            return
        why = f"  ({self.why})" if self.why else ""
        self._put(f"{self.began:%Y-%m-%d %H:%M:%S} UTC  {self.task}{why}\n")

    def _put(self, text: str) -> None:
        if self._file is None:
            return
        data = self.clean(text).encode("utf-8", "replace")
        try:
            while data:
                data = data[self._file.write(data):]
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._close()
        self.failed(error)

    def _close(self) -> None:
        self._over = True
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
