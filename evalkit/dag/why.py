"""What would run, and why: told before anything runs, by the same checks as those of a run.

Of most tasks the inputs are known before anything runs, so that their own check (uptodate.py) decides. Three kinds read
what earlier tasks of the trial leave behind: grades and judges the final tree, results the grades too. Where such an
earlier task is going to run, nobody can tell whether it will come out the same. Then the task waits, unless something
else makes it run for sure: it never ran, it ended in an error, its outcome is gone, or another of its inputs differs.

`evalkit why` and `evalkit plan` ask an `Outlook`; `doit list --status` and `doit info` ask the same one, through the
`Foreseen` that stands in for each task's own check. So they all say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from attrs import frozen
from doit.dependency import UptodateCalculator
from doit.task import Task

from evalkit.dag.uptodate import GONE, UpToDate
from evalkit.plan.keys import changes

__all__ = ["Foreseen", "Outlook", "Status", "Why", "foresee"]

Status: TypeAlias = Literal["up to date", "runs", "waits", "ignored"]

_READS = {"grade": ("agent",), "judge": ("agent",), "result": ("agent", "grade", "judge")}
"""Kinds of tasks, and the kinds of earlier tasks whose outcomes are their inputs."""
_FROM_GRADES = "verdict of "
"""How the inputs of a result begin that its grades make."""


@frozen
class Why:
    """A task, and what would become of it. waits: it runs if an earlier task does not come out as before."""

    task: str
    status: Status
    reason: str = ""

    @property
    def kind(self) -> str:
        return self.task.partition(":")[0]

    @property
    def stale(self) -> bool:
        """Whether the task may run."""
        return self.status in ("runs", "waits")


class Outlook:
    """What would become of these tasks; each is asked once. state: what doit knows of earlier runs."""

    def __init__(self, tasks: Mapping[str, Task], state: Any = None) -> None:
        self.state = state
        self._tasks = tasks
        self.checks: dict[str, UpToDate] = {name: task.uptodate[0][0] for name, task in tasks.items() if task.actions}
        self._known: dict[str, Why] = {}

    def needed(self, names: Iterable[str]) -> list[str]:
        """The tasks that do something of these and of all that they need, each after those that it needs."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        waiting = [(name, False) for name in reversed(list(names))]
        while waiting:
            name, done = waiting.pop()
            if done:
                found[name] = None
            elif name not in seen and name in self._tasks:
                seen.add(name)
                if name in self.checks:
                    waiting.append((name, True))
                waiting += [(part, False) for part in reversed(self._tasks[name].task_dep)]
        return list(found)

    def of(self, name: str) -> Why:
        """What would become of a task that does something, and because of what."""
        why = self._known.get(name)
        if why is None:
            why = self._known[name] = self._ignored(name) or self._checked(name)
        return why

    def _ignored(self, name: str) -> Why | None:
        if self.state.status_is_ignore(self._tasks[name]):
            return Why(name, "ignored", "`doit ignore` said so")
        for part in self._tasks[name].task_dep:
            if part in self.checks and self.of(part).status == "ignored":
                return Why(name, "ignored", f"it needs {part}, which is ignored")
        return None

    def _checked(self, name: str) -> Why:
        task, check, values = self._tasks[name], self.checks[name], self.state.get_values(name)
        check(task, values)
        reason = check.reason
        if not reason and any(not Path(target).exists() for target in task.targets):
            reason = GONE
        earlier = self._earlier(task)
        if not earlier or (check.inputs is not None and task.name.partition(":")[0] != "result"):
            return Why(name, "runs" if reason else "up to date", reason)
        sure = _for_sure(task, check, values)
        if sure:
            return Why(name, "runs", sure)
        others = f" and {len(earlier) - 1} more run" if len(earlier) > 1 and not _is_agent(earlier[0]) else " runs"
        return Why(name, "waits", f"because {earlier[0]}{others} first (it may come out the same)")

    def _earlier(self, task: Task) -> list[str]:
        """The earlier tasks that may run, and whose outcomes this one reads."""
        kinds = _READS.get(task.name.partition(":")[0], ())
        return [part for part in task.task_dep
                if part.partition(":")[0] in kinds and part in self.checks and self.of(part).stale]


def _for_sure(task: Task, check: UpToDate, values: Mapping[str, Any]) -> str:
    """Why a task will run, whatever the earlier ones come to; "" where that is not known."""
    before = values.get("inputs")
    if before is None:
        return "never run"
    if values.get("status") == "error":
        return "it ended in an error last time"
    if any(not Path(target).exists() for target in task.targets):
        return GONE
    if check.inputs is None:
        return ""
    return changes(_own(before), _own(check.inputs), check.held)


def _own(inputs: Mapping[str, str]) -> dict[str, str]:
    """The inputs that no grade makes."""
    return {name: value for name, value in inputs.items() if not name.startswith(_FROM_GRADES)}


def _is_agent(task: str) -> bool:
    return task.startswith("agent:")


class Foreseen(UptodateCalculator):  # type: ignore[misc]
    """A task's check where nothing runs: doit's `list --status` and `info` ask the outlook."""

    def __init__(self, outlook: Outlook, name: str) -> None:
        super().__init__()
        self._outlook = outlook
        self._name = name

    def setup(self, dep_manager: Any, tasks_dict: Mapping[str, Any]) -> None:
        """doit's call before the check."""
        super().setup(dep_manager, tasks_dict)
        self._outlook.state = dep_manager

    def __call__(self, task: Any, values: Mapping[str, Any]) -> bool:
        return not self._outlook.of(self._name).reason

    def __str__(self) -> str:
        return self._outlook.of(self._name).reason or "up to date"


def foresee(tasks: Mapping[str, Task]) -> None:
    """Have doit's commands that run nothing ask one outlook about these tasks."""
    outlook = Outlook(tasks)
    for name in outlook.checks:
        tasks[name].uptodate = [(Foreseen(outlook, name), [], {})]
