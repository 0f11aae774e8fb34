"""Runs tasks: alone in the project, ending children on a signal, going on after a failure."""

from __future__ import annotations

import fcntl
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from doit.control import TaskControl
from doit.dependency import Dependency
from doit.runner import Runner
from doit.task import Stream, Task

from evalkit.dag.progress import Progress, Reporter
from evalkit.dag.state import StateDB
from evalkit.execute.session import Session

__all__ = ["alone", "open_state", "run_tasks"]

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def open_state(session: Session) -> Dependency:
    """What doit knows of earlier runs of the project."""
    return Dependency(StateDB, str(session.places.state / "state.db"))


def run_tasks(tasks: Sequence[Task], selected: Sequence[str], state: Any, progress: Progress, *, always: bool = False,
              single: bool = False, stream: Stream | None = None) -> Reporter:
    """Run what is not up to date of the selected tasks and of what they need; closes the state.

    single: the selected tasks alone. A failure ends nothing but what needs it: one case that cannot be run says nothing
    of the others.
    """
    control = TaskControl(tasks)
    control.process(list(selected))
    if single:
        for name in control.selected_tasks:
            control.tasks[name].task_dep = []
    reporter = Reporter(progress)
    _Runner(state, reporter, True, always, stream or Stream(0)).run_all(control.task_dispatcher())
    return reporter


class _Runner(Runner):  # type: ignore[misc]
    """doit's runner, but a failure forgets nothing.

    doit deletes what it knows of a task that failed, and of every task behind it: a mistyped pin would have all checks
    graded again once it is corrected. What is known is the inputs of the last success; they are as true as before.
    """

    def _handle_task_error(self, node: Any, base_fail: Any) -> None:
        forget, self.dep_manager.remove_success = self.dep_manager.remove_success, lambda task: None
        try:
            super()._handle_task_error(node, base_fail)
        finally:
            self.dep_manager.remove_success = forget


@contextmanager
def alone(session: Session) -> Iterator[None]:
    """One run at a time in a project; what killed runs left is cleared away first.

    A second run waits, and says so. The lock ends with its process. A request to end (also that of a terminal that is
    closed) is treated as Ctrl-C: else the children, which have sessions of their own, would go on alone.
    """
    state = session.places.state
    state.mkdir(parents=True, exist_ok=True)
    with (state / "run.lock").open("a") as lock, _ending_as_interrupt():
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another run is at work in this project: waiting for it to end", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        session.places.sweep()
        session.store.sweep()
        yield


@contextmanager
def _ending_as_interrupt() -> Iterator[None]:
    def interrupt(signum: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
