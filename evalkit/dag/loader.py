"""doit's loader: dodo.py's own tasks, and those of the cases.

It is called by every doit command (run, list, info, forget, clean, …) with the names on its command line, which it
expands in place. Whatever is wrong with them, the choices or the case files ends the command here, with status 2.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from doit import doit_cmd
from doit.cmd_base import DodoTaskLoader
from doit.task import Task

from evalkit.dag.plan import Plan
from evalkit.dag.progress import Progress
from evalkit.dag.selection import cases_meant, expand
from evalkit.diagnostics.show import show_error
from evalkit.diagnostics.streams import settle_streams
from evalkit.errors import EvalkitError

__all__ = ["Loader"]


class Loader(DodoTaskLoader):  # type: ignore[misc]
    """Loads dodo.py and the cases."""

    def __init__(self) -> None:
        super().__init__()
        settle_streams()
        self.progress = Progress()
        self.plan: Plan | None = None

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Task]:
        """All tasks that the command line can mean. Raises SystemExit(2) for a mistake of the person's."""
        if not cmd.execute_tasks:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `doit list | head` ends as other programs do
            cmd.sel_tasks = cmd.sel_tasks or []  # `doit forget` without a name has nothing to go through
        own: list[Task] = [] if self.namespace is None or not _has_creators(self.namespace) else \
            super().load_tasks(cmd, pos_args)
        try:
            plan = self.plan = Plan(Path.cwd(), os.environ, doit_cmd._CMDLINE_VARS or {}, self.progress)
            suites = {name: [case.name for case in plan.project.cases_of(name)] for name in plan.project.suites}
            own_names = {name for task in own for name in (task.name, *task.targets)}
            cases = {name: case.name for case in plan.project.all_units() for name in (case.name, case.unit)}
            top = [*(f"case:{name}" for name in cases), *(f"suite:{name}" for name in suites), "all", *own_names]
            # A mistyped case is told before anything else that may be wrong with running it.
            expand([name for name in pos_args if "*" not in name and _names_a_case(name)], top)
            meant = cases_meant([name for name in pos_args if name not in own_names], cases, suites)
            plan.graph.tell_groups = not cmd.execute_tasks
            plan.build(meant if pos_args else None, named={name.removeprefix("case:") for name in pos_args},
                       strict=bool(pos_args) and cmd.execute_tasks)
            plan.report([])
            tasks = [*own, *plan.graph.tasks.values()]
            pos_args[:] = expand(pos_args, [task.name for task in tasks],
                                 [target for task in tasks for target in task.targets])
            return tasks
        except EvalkitError as error:
            show_error(error)
            raise SystemExit(int(error.exit_status)) from None


def _has_creators(namespace: Mapping[str, Any]) -> bool:
    return any(name.startswith("task_") or hasattr(value, "create_doit_tasks") for name, value in namespace.items())


def _names_a_case(name: str) -> bool:
    """Whether a name is that of a case or a suite, or tries to be: inner tasks have another kind before the colon."""
    kind, colon, _ = name.partition(":")
    return (not colon and "/" not in name) or kind in ("case", "suite")
