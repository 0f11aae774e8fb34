"""doit's loader: dodo.py's own tasks, and those of the cases.

It is called by every doit command (run, list, info, forget, clean, …) with the names on its command line, which it
expands in place. Whatever is wrong with them, the choices or the case files ends the command here, with status 2.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from doit import doit_cmd
from doit.cmd_base import DodoTaskLoader
from doit.task import Task

from evalkit.dag import interrupts
from evalkit.dag.invocation import Invocation
from evalkit.dag.lock import alone
from evalkit.dag.selection import expand, names_a_case
from evalkit.diagnostics.streams import settle_streams
from evalkit.errors import EvalkitError, UserError

__all__ = ["Loader"]

_REGRADE, _IMAGE = "regrade:", "image:"
_OF_REGRADE = {"check"}
_WITH_REGRADE = {*_OF_REGRADE, "case", "judge", "judge_model", "jobs", "agents", "budget", "gateway", "cases", "store",
                 "progress", "skip_live"}
"""Choices that mean something where stored trials are graded again."""


class Loader(DodoTaskLoader):  # type: ignore[misc]
    """Loads dodo.py and the cases.

    asked: the names on the command line, expanded. regrade: the run to regrade, where the command line asks for that.
    quick: whether cases may be settled in one look, or every task is to be looked at. resources: what is held until the
    command ends.
    """

    def __init__(self) -> None:
        super().__init__()
        gc.disable()  # what is made until something runs is kept: looking for rubbish in it takes a tenth of the time
        settle_streams()
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            interrupts.catch(signal.SIGINT)
        self.invocation: Invocation | None = None
        self.asked: list[str] = []
        self.regrade = ""
        self.quick = True
        self.resources = ExitStack()

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Task]:
        """All tasks that the command line can mean. Raises SystemExit for a mistake of the person's."""
        own: list[Task] = [] if self.namespace is None or not _has_creators(self.namespace) else \
            super().load_tasks(cmd, pos_args)
        try:
            if not cmd.execute_tasks:
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `doit list | head` ends as other programs do
                cmd.sel_tasks = cmd.sel_tasks or []  # `doit forget` without a name has nothing to go through
            own_names = [name for task in own for name in (task.name, *task.targets)]
            look = self.invocation = Invocation(Path.cwd(), os.environ, doit_cmd._CMDLINE_VARS or {},
                                                [*pos_args, *_leant_on(own, own_names)] if cmd.execute_tasks else ())
            pos_args[:] = look.taken(pos_args)
            if cmd.execute_tasks and any(name.startswith(_REGRADE) for name in pos_args):
                self.regrade = _run_to_regrade(pos_args, doit_cmd._CMDLINE_VARS or {})
                self._alone(look)
                return []
            if given := _OF_REGRADE & set(doit_cmd._CMDLINE_VARS or {}):
                raise UserError(f"`{min(given)}` is a choice of regrade", hint="doit run case:NAME takes cases by name")
            self._check_names(look, pos_args, own_names)
            if cmd.execute_tasks and pos_args:
                if self._alone(look):
                    self._check_names(look, pos_args, own_names)
                if look.left_out:
                    from evalkit.diagnostics.show import show_left_out

                    show_left_out(look.left_out)
                return self._for_run(cmd, look, pos_args, own, own_names)
            return [] if cmd.execute_tasks else self._for_looking(look, pos_args, own, own_names)
        except EvalkitError as error:
            from evalkit.diagnostics.show import show_error
            from evalkit.execute.secrets import Redactor

            show_error(Redactor.of(os.environ).error(error))
            raise SystemExit(int(error.exit_status)) from None

    # ---- running ----
    def _for_run(self, cmd: Any, look: Invocation, names: list[str], own: list[Task],
                 own_names: Sequence[str]) -> list[Task]:
        """The tasks of what is not settled. `names` becomes the selection among them."""
        outer = [name for name in names if name in own_names or names_a_case(name)]
        inner = [name for name in names if name not in outer]
        flat = look.chosen(look.flat(expand(outer, [*look.top(), *own_names])), own_names)
        cases = [name for name in flat if name not in own_names]
        leant_on = _leant_on(own, own_names)
        needed = look.meant(leant_on)
        if self.quick and needed is not None and not (look.choices.fresh or look.choices.why):
            look.settle([name for name in cases if look.cases[name[5:]] not in needed], cmd.dep_manager.backend)
        stale = [name for name in cases if name not in look.rows]
        tasks = list(own)
        if stale or inner or len(cases) < len(flat):
            plan = look.plan
            of_cases = [name for name in inner if not name.startswith(_IMAGE)]
            if stale or of_cases or leant_on:
                plan.build(look.meant([*stale, *of_cases, *leant_on]), asked=look.asked(stale, of_cases),
                           named={name.removeprefix("case:") for name in names}, whole=not look.rows)
            plan.add_report()
            if len(of_cases) < len(inner):
                plan.add_images()
            tasks += plan.graph.tasks.values()
            inner = expand(inner, [task.name for task in tasks], [target for task in tasks for target in task.targets])
        self.asked = list(dict.fromkeys([*flat, *inner]))
        names[:] = [name for name in self.asked if name not in look.rows]
        return tasks

    def _for_looking(self, look: Invocation, names: list[str], own: list[Task], own_names: Sequence[str]) -> list[Task]:
        """All tasks that the names can mean, for commands that run nothing."""
        from evalkit.dag.why import foresee

        plan = look.plan
        plan.graph.tell_groups = True
        plan.build(look.meant([name for name in [*names, *_leant_on(own, own_names)] if name not in own_names])
                   if names else None, named={name.removeprefix("case:") for name in names})
        plan.add_report()
        plan.add_images()
        foresee(plan.graph.tasks)
        tasks = [*own, *plan.graph.tasks.values()]
        names[:] = expand(names, [task.name for task in tasks], [target for task in tasks for target in task.targets])
        return tasks

    def _alone(self, look: Invocation) -> bool:
        """Be alone in the project until the command ends; whether it was looked at anew, since that took a while."""
        waited = self.resources.enter_context(alone(look.root / ".evalkit"))
        if waited:  # somebody may have changed the cases meanwhile
            look.look()
        return waited

    def _check_names(self, look: Invocation, names: Sequence[str], own_names: Sequence[str]) -> None:
        """A mistyped case is told before anything else that may be wrong with running it. Raises UserError."""
        expand([name for name in names if "*" not in name and names_a_case(name)], [*look.top(), *own_names])


def _has_creators(namespace: Mapping[str, Any]) -> bool:
    return any(name.startswith("task_") or hasattr(value, "create_doit_tasks") for name, value in namespace.items())


def _run_to_regrade(names: Sequence[str], choices: Mapping[str, str]) -> str:
    """The run that `regrade:RUN` names. Raises UserError where that is not all, or a choice means nothing to it."""
    if others := set(choices) - _WITH_REGRADE:
        raise UserError(f"`{min(others)}` means nothing to regrade: it takes the trials as they were run",
                        hint="it knows " + ", ".join(sorted(_WITH_REGRADE)))
    if len(names) > 1 or names[0] == _REGRADE:
        raise UserError("regrade takes one run, and nothing beside it",
                        hint="doit run regrade:latest   (case=NAMES check=IDS for a part of it)")
    return names[0].removeprefix(_REGRADE)


def _leant_on(own: Sequence[Task], own_names: Sequence[str]) -> list[str]:
    """The tasks, other than such, that dodo.py's own tasks need: those must be there, settled or not."""
    return [name for task in own for name in (*task.task_dep, *task.wild_dep, *task.setup_tasks)
            if name not in own_names]
