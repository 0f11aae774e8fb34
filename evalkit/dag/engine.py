"""Runs tasks: what is not up to date of a selection and of what it needs, in pools; going on after a failure."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doit.control import TaskControl
from doit.dependency import Dependency
from doit.task import Stream, Task

from evalkit.dag.progress import Progress, Reporter
from evalkit.dag.runner import PoolRunner, dispatcher
from evalkit.dag.state import StateDB
from evalkit.execute.running import begin
from evalkit.execute.session import Session
from evalkit.plan.choices import Choices

__all__ = ["open_state", "pools_of", "run_tasks"]


def open_state(session: Session) -> Dependency:
    """What doit knows of earlier runs of the project."""
    return Dependency(StateDB, str(session.places.state / "state.db"))


_YOUNG = 20_000
"""Objects after which garbage is looked for: most of what tasks make goes by itself, and no run makes so much rubbish
that a look each 700 objects (Python's own) would pay.
"""


def pools_of(choices: Choices) -> dict[str, int]:
    """How many tasks of each kind work at once: builds keep to the cores, who waits for models does so side by side."""
    return {"build": choices.jobs, "browser": choices.jobs, "agent": choices.agents, "judge": choices.agents}


def run_tasks(session: Session, tasks: Sequence[Task], selected: Sequence[str], state: Any, progress: Progress,
              pools: Mapping[str, int], *, at_end: Callable[[Reporter], None] = lambda _: None, always: bool = False,
              tell_all: bool = False, single: bool = False, stream: Stream | None = None) -> Reporter:
    """Run what is not up to date of the selected tasks and of what they need; closes the state.

    The caller is alone in the project: what killed runs left is cleared away first. at_end: called when all has run,
    before the state is closed. tell_all: up-to-date tasks are told too. single: the selected tasks alone. A failure
    ends nothing but what needs it: one case that cannot be run says nothing of the others.
    """
    gc.freeze()
    gc.enable()  # (see Loader)
    gc.set_threshold(_YOUNG)
    begin()
    session.places.sweep()
    session.store.sweep()
    control = TaskControl(tasks)
    control.process(list(selected))
    if single:
        for name in control.selected_tasks:
            control.tasks[name].task_dep = []
    reporter = Reporter(progress, tell_all=tell_all)
    runner = PoolRunner(state, reporter, pools, at_end=at_end, always=always, stream=stream)
    runner.run_all(dispatcher(control))
    return reporter
