"""Whether a task is up to date: its named inputs now against those of its last success."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from doit.dependency import UptodateCalculator

from evalkit.errors import EvalkitError
from evalkit.plan.keys import Held, Inputs, changes
from evalkit.values import State, field

__all__ = ["GONE", "OTHER", "GroupUpToDate", "UpToDate"]

GONE = "its outcome is gone"
OTHER = "its outcome is of other inputs"
"""What is there was not made by the last run: somebody put older results back."""


class UpToDate(State):
    """A callable for doit's `uptodate`; `str()` of it gives the reason, which `doit info` shows.

    now: the inputs as they are. lacks: why the outcome of these inputs is not there (any more), "" where it is. held:
    what folders held, so that files are named. remembers: whether what was last time counts; else what is there alone.
    inputs: those of the last check, None where they cannot be told yet.
    Inputs are taken when the task is checked, before it runs: an edit during the run is a change the next time.
    """

    now: Callable[[], Inputs]
    lacks: Callable[[Inputs], str] = field(default=lambda _: "")
    held: Held = field(default=lambda _: None)
    remembers: bool = True
    reason: str = ""
    inputs: Inputs | None = None

    __signature__: ClassVar = inspect.Signature([
        inspect.Parameter("task", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("values", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    """doit asks for the signature at every check; a ready one saves a third of the check."""

    def __call__(self, task: Any, values: Mapping[str, Any]) -> bool:
        self.inputs = None
        try:
            inputs = self.inputs = self.now()
        except EvalkitError as error:  # an exception here would end doit's whole run
            self.reason = error.message
            return False
        task.value_savers.append(lambda: {"inputs": inputs})
        before = values.get("inputs") if self.remembers else inputs
        if before != inputs:
            self.reason = changes(before, inputs, self.held)
        elif values.get("status") == "error":
            self.reason = "it ended in an error last time"
        else:
            self.reason = self._lacks(inputs)
        return not self.reason

    def _lacks(self, inputs: Inputs) -> str:
        try:
            return self.lacks(inputs)
        except EvalkitError as error:  # the task meets it again, and tells it
            return error.message

    def __str__(self) -> str:
        return self.reason or "up to date"


class GroupUpToDate(UptodateCalculator):  # type: ignore[misc]
    """A case or a suite is up to date when all is that it is made of."""

    _manager: Any

    def setup(self, dep_manager: Any, tasks_dict: Mapping[str, Any]) -> None:
        """doit's call before the check."""
        super().setup(dep_manager, tasks_dict)
        self._manager = dep_manager

    def __call__(self, task: Any, values: Mapping[str, Any]) -> bool:
        waiting, seen = list(task.task_dep), set()
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self.tasks_dict:
                continue
            seen.add(name)
            part = self.tasks_dict[name]
            if part.actions and self._manager.get_status(part, self.tasks_dict).status != "up-to-date":
                return False
            waiting += part.task_dep
        return True

    def __str__(self) -> str:
        return "not all of its parts are up to date (doit list --all --status)"
