"""What is said while tasks run: a line a task on standard error, with its time and why it ran.

Standard output is for the table alone, so that a pipe gets the result and a terminal both. Tasks run in threads: the
main thread tells when each starts and ends, the task's own thread (`at_work`) what it has to say. Lines are whole,
and where they could be taken for another task's, they begin with their unit: `[kanban-board#2] prewarm: zig build`.
A terminal gets a display of all units below the lines (output.py, live.py); trials get logs (logs.py).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from evalkit.dag.board import AtWork, Board
from evalkit.dag.logs import TaskLog
from evalkit.dag.output import Output
from evalkit.dag.reporter import Reporter
from evalkit.grade.evidence import plain

__all__ = ["Progress", "Reporter"]

_ANNOUNCE = 1.0
"""Seconds after which a task that still runs is announced."""
_BEAT = 20.0
"""Seconds between two signs of life of a long task."""
_INDENT = " " * 11


class Progress:
    """Says what happens. Every method may be called from any thread.

    ran: how many tasks have ended. logs: the file of a task's log, None for no log. clean: takes secrets out of what
    tasks say.
    """

    def __init__(self, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.ran = 0
        self.logs: Callable[[str], Path | None] = lambda task: None
        self.clean: Callable[[str], str] = lambda text: text
        self._clock = clock
        self._board = Board(clock)
        self._output = Output(stream or sys.__stderr__ or sys.stderr, self._board.view)
        self._lock = threading.RLock()
        self._thread = threading.local()
        self._last: AtWork | None = None
        self._logs_failed = False

    # ---- the run, told by the main thread ----
    def plainly(self) -> None:
        """Lines alone, also on a terminal."""
        self._output.plain = True

    def units(self, trials: Iterable[str]) -> None:
        """The trials (their ids) that this run brings up to date: the display counts them."""
        self._board.units(trials)

    def unit_of(self, task: str) -> str | None:
        """What people are told of a task's trial: `kanban-board`, `kanban-board#2`; None for what trials share."""
        return self._board.label(task)

    def spent(self, dollars: float, budget: float | None = None) -> None:
        """What the run has cost so far, and what it may cost."""
        self._board.spent(dollars, budget)

    def started(self, task: str, why: str) -> None:
        """A task is at work from now on."""
        work = self._board.start(task, plain(why))
        path = self.logs(task)
        if path is not None:
            work.log = TaskLog(path, task, work.why, self.clean, self._log_failed)
        self._output.begin()

    def finished(self, task: str, outcome: str) -> None:
        """A task is over. The outcome of a `result:` task is its unit's verdict."""
        work = self._board.end(task, outcome)
        if work is None:
            return
        seconds = self._clock() - work.began
        if work.log is not None:
            work.log.ended(seconds, outcome)
        why = f"  ({work.why})" if work.why and not work.announced else ""
        with self._lock:
            self.ran += 1
            self._last = None
            self._output.write(plain(f"{seconds:8.1f}s  {task}{': ' + outcome if outcome else ''}{why}"))

    def up_to_date(self, task: str) -> None:
        """A task did not run, since it was up to date; said where a person asked for it."""
        with self._lock:
            self._last = None
            self._output.write(plain(f"     up to date  {task}"))

    def settled(self, task: str, verdict: str) -> None:
        """What a task's unit came to without that the task ran: it was up to date, or it cannot run. Says nothing."""
        self._board.settle(task, verdict)

    def close(self) -> None:
        """The run is over, or was interrupted: the display goes, logs of tasks that did not finish end."""
        for work in self._board.at_work():
            self._board.end(work.task, "")
            if work.log is not None:
                work.log.ended(self._clock() - work.began, "did not finish")
        self._output.close()

    # ---- a task, told by its own thread ----
    @contextmanager
    def at_work(self, task: str) -> Iterator[None]:
        """What this thread says within the `with` is the task's."""
        before = getattr(self._thread, "task", None)
        self._thread.task = task
        try:
            yield
        finally:
            self._thread.task = before

    def say(self, text: str) -> None:
        """A remark of this thread's task; the task's own name comes first, once."""
        work = self._mine()
        if work is None:
            self.note(text)
            return
        lines = self._lines(text)
        work.remark = next((line.strip() for line in reversed(lines) if line.strip()), work.remark)
        if work.log is not None:
            work.log.said(self._clock() - work.began, lines)
        self._tell(work, lines)

    def note(self, text: str) -> None:
        """A remark that is of no task."""
        with self._lock:
            self._last = None
            self._output.write("\n".join(_INDENT + line for line in self._lines(text)))

    def tick(self, _: float) -> None:
        """A sign that this thread's task still works; said at times that a person would begin to wonder."""
        work = self._mine()
        if work is None:
            return
        passed = self._clock() - work.began
        if work.log is not None:
            work.log.goes_on(passed)
        if self._output.live:
            return
        if passed >= work.beat + _BEAT:
            work.beat = passed
            self._tell(work, [f"… {passed:.0f} s"])
        elif passed >= _ANNOUNCE and not work.announced:
            self._tell(work, [])

    # ---- lines ----
    def _mine(self) -> AtWork | None:
        """This thread's task; in a thread that works for none, the only one at work."""
        task = getattr(self._thread, "task", None)
        if task is not None:
            return self._board.get(task)
        at_work = self._board.at_work()
        return at_work[0] if len(at_work) == 1 else None

    def _tell(self, work: AtWork, lines: list[str]) -> None:
        """Write remarks of a task in one piece, after its announcement."""
        with self._lock:
            told = []
            if not work.announced:
                work.announced, self._last = True, work
                told.append(plain(f"       ..  {work.task}  ({work.why})"))
            tagged = self._last is not work or self._board.several
            told += [_INDENT + (f"[{self._tag(work)}] " if tagged else "") + line for line in lines]
            self._last = work
            if told:
                self._output.write("\n".join(told))

    def _tag(self, work: AtWork) -> str:
        unit = self.unit_of(work.task)
        return f"{unit} {work.name.item}".rstrip() if unit else work.task

    def _lines(self, text: str) -> list[str]:
        """Lines that neither hold a secret nor can drive a terminal."""
        return [plain(line) for line in self.clean(text).splitlines()] or [""]

    def _log_failed(self, error: OSError) -> None:
        with self._lock:
            if self._logs_failed:
                return
            self._logs_failed = True
        self.note(f"logs cannot be written ({error.strerror or error}): going on without them")
