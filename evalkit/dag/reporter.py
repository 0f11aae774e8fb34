"""doit's reporter: what doit tells of tasks, told on to `Progress`. Its methods are called in the main thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.dag.progress import Progress

__all__ = ["Reporter"]


class Reporter:
    """Tells `Progress` of tasks. Several tasks may be at work at once.

    tell_all: also of up-to-date tasks; else these are silent. executed: the tasks that did their work. errors: what
    doit or one of the person's own tasks has to say. ignored: the tasks that are left out because a person said so.
    """

    desc = "evalkit's: a line a task, with its time and why it ran"

    def __init__(self, progress: Progress, *, tell_all: bool = False) -> None:
        self.progress = progress
        self.tell_all = tell_all
        self.executed: list[str] = []
        self.errors: list[str] = []
        self.ignored: list[str] = []

    @property
    def made_results(self) -> bool:
        """Whether any trial got a result."""
        return any(name.startswith("result:") for name in self.executed)

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
            self.progress.finished(task.name, _outcome(task))

    def add_failure(self, task: Any, fail: Any) -> None:
        outcome = getattr(fail, "outcome", "")
        self.progress.settled(task.name, outcome or "error")
        if task.executed:
            self.progress.finished(task.name, outcome or "could not do its work")
        if fail.report and fail.get_name() != "UnmetDependency":  # one of the person's own tasks, or doit's own word
            printed = "".join(action.out or "" for action in task.actions) + "".join(
                action.err or "" for action in task.actions)
            self.errors.append("\n".join(part for part in (f"{task.name}: {fail.get_msg()}".strip(), printed.strip())
                                         if part))

    def skip_uptodate(self, task: Any) -> None:
        """doit's call for an up-to-date task: an up-to-date result settles its unit."""
        if self.tell_all and task.actions:
            self.progress.up_to_date(task.name)
        if task.name.startswith("result:"):
            self.progress.settled(task.name, _outcome(task))

    def skip_ignore(self, task: Any) -> None:
        self.ignored.append(task.name)
        self.progress.note(f"{task.name}: ignored, as `doit ignore` said")

    def cleanup_error(self, exception: Any) -> None:
        self.errors.append(exception.get_msg())

    def runtime_error(self, msg: str) -> None:
        self.errors.append(msg)

    def teardown_task(self, task: Any) -> None:
        """doit's call before a task's teardown; no task here has one."""

    def complete_run(self) -> None:
        """doit's call at the end."""


def _outcome(task: Any) -> str:
    values = task.values or {}
    return " ".join(str(values[name]) for name in ("status", "verdict") if values.get(name))
