"""Whether a task is up to date: its named inputs now against those of its last success."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from attrs import define, field

from evalkit.errors import EvalkitError
from evalkit.plan.keys import Inputs, changes

__all__ = ["UpToDate"]


@define
class UpToDate:
    """A callable for doit's `uptodate`; `str()` of it gives the reason, which `doit info` shows.

    now: the inputs as they are. present: whether the outcome of these inputs is still there.
    Inputs are taken when the task is checked, before it runs: an edit during the run is a change the next time.
    """

    now: Callable[[], Inputs]
    present: Callable[[Inputs], bool] = field(default=lambda _: True)
    reason: str = ""

    __signature__: ClassVar = inspect.Signature([
        inspect.Parameter("task", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("values", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    """doit asks for the signature at every check; a ready one saves a third of the check."""

    def __call__(self, task: Any, values: Mapping[str, Any]) -> bool:
        try:
            inputs = self.now()
        except EvalkitError as error:  # an exception here would end doit's whole run
            self.reason = error.message
            return False
        task.value_savers.append(lambda: {"inputs": inputs})
        before = values.get("inputs")
        if before != inputs:
            self.reason = changes(before, inputs)
        elif values.get("status") == "error":
            self.reason = "it ended in an error last time"
        elif not self.present(inputs):
            self.reason = "its outcome is gone"
        else:
            self.reason = ""
        return not self.reason

    def __str__(self) -> str:
        return self.reason or "up to date"
