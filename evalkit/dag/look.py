"""A look at what a command line would do, for commands that run nothing: `evalkit why` and `evalkit plan`.

Names mean what they mean to `doit run`, and whatever stops that stops this too, with the same words; but the kind of a
case's or a suite's name may be left out. Nothing runs, and nothing is written that a later run would look at: what doit
knows of earlier runs is only read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field
from doit.dependency import DatabaseException, Dependency

from evalkit.analysis.model import Case
from evalkit.dag.invocation import Invocation
from evalkit.dag.labels import read_name
from evalkit.dag.plan import Plan
from evalkit.dag.selection import expand, names_a_case
from evalkit.dag.state import StateDB
from evalkit.dag.tasks import name_of
from evalkit.dag.why import Outlook, Why
from evalkit.digest import digest
from evalkit.errors import HarnessError, UserError
from evalkit.plan.choices import Choices

if TYPE_CHECKING:
    from evalkit.dag.trial_tasks import TrialTasks

__all__ = ["Look", "look_at"]

_NO_STATE = ":memory:"


@define
class Look:
    """What was found. whys: of each task of the selection and of what it needs, each after those that it needs.

    named: the tasks that were asked for by their own names, not by that of a case.
    """

    plan: Plan
    whys: list[Why]
    named: frozenset[str]
    outlook: Outlook = field(repr=False)

    @property
    def choices(self) -> Choices:
        return self.plan.choices

    @cached_property
    def trials(self) -> dict[str, TrialTasks]:
        """The trials whose agents' tasks are among those that were looked at, by these tasks' names."""
        found = {name_of("agent", tasks.trial): tasks for of_unit in self.plan.graph.trials.values()
                 for tasks in of_unit}
        return {why.task: found[why.task] for why in self.whys if why.task in found}

    def case_of(self, why: Why) -> Case:
        """The unit of a task of a trial."""
        return self.trials[f"agent:{read_name(why.task).trial}"].case

    def pool(self, why: Why) -> str | None:
        """The pool in which the task would work now; None for what takes no time."""
        meta = self.plan.graph.tasks[why.task].meta
        return meta["pool"]() if meta else None

    def in_store(self, why: Why) -> bool:
        """Whether the task need not work, nor cost anything, since the store has the outcome of its inputs."""
        if why.kind == "judge":
            kept, missing = self.answers(why)
            return kept > 0 and not missing
        inputs = self.outlook.checks[why.task].inputs
        return (why.kind in ("agent", "template", "workspace") and inputs is not None
                and self.plan.session.store.has(why.kind, digest(inputs)))

    def answers(self, why: Why) -> tuple[int, int]:
        """Of all answers that a judge's verdict is made from: how many the store has, and how many it has not.

        What is asked is not known before the agent has run: then it has none.
        """
        from evalkit.grade.judge import answer_keys

        if self.pool(why) != "judge":
            return 0, 0
        case, name = self.case_of(why), read_name(why.task).item
        judge = next(judge for judge in case.judges if judge.id == name)
        models = self.plan.judge.models(case, judge)
        inputs = self.outlook.checks[why.task].inputs
        keys = answer_keys(inputs, models, judge.votes) if inputs is not None else []
        kept = sum(self.plan.session.store.has("judge", key) for key in keys)
        return kept, len(models) * judge.votes - kept

    def calls(self, why: Why) -> int:
        """How many times models are called that have to be paid for when the task runs, as far as that is known now.

        An agent's run counts once.
        """
        if not why.stale or self.plan.asking.played:
            return 0
        if why.kind == "judge":
            return self.answers(why)[1]
        trial = self.trials[why.task].trial
        return int(trial.subject.model is not None and not trial.dry and not self.in_store(why))


@contextmanager
def look_at(root: Path, environ: Mapping[str, str], command_line: Mapping[str, str],
            names: Sequence[str]) -> Iterator[Look]:
    """Look at tasks. command_line: the choices that it makes. Raises UserError, CaseErrors, HarnessError."""
    if any(name.startswith("regrade:") for name in names):
        raise UserError("regrading is no task: it is done whenever it is asked for",
                        hint="why a check would be graded again in a run: `evalkit why case:NAME`")
    invocation = Invocation(root, environ, command_line,
                            [name if ":" in name or "/" in name or name == "all" else f"case:{name}" for name in names])
    if invocation.left_out:
        from evalkit.diagnostics.show import show_left_out

        show_left_out(invocation.left_out)
    asked = [_whole(name, invocation) for name in invocation.taken(names)]
    cases = expand([name for name in asked if names_a_case(name)], invocation.top())
    inner = [name for name in asked if not names_a_case(name)]
    flat = invocation.chosen(invocation.flat(cases))
    plan = invocation.plan
    plan.build(invocation.meant([*flat, *inner]), named={name.removeprefix("case:") for name in cases},
               asked=invocation.asked(flat, inner))
    plan.add_report()
    plan.add_images()
    tasks = plan.graph.tasks
    targets = {target: task.name for task in tasks.values() for target in task.targets}
    named = [targets.get(name, name) for name in expand(inner, tasks, targets)]
    outlook = Outlook(tasks, _state(plan.session.places.state / "state.db"))
    try:
        whys = [outlook.of(name) for name in outlook.needed([*flat, *named])]
        yield Look(plan, whys, frozenset(named), outlook)
    except DatabaseException as error:
        raise HarnessError(str(error)) from error
    finally:
        outlook.state.close()


def _state(path: Path) -> Dependency:
    """What doit knows of earlier runs. Where there is none, none is begun. Raises HarnessError."""
    try:
        return Dependency(StateDB, str(path) if path.exists() else _NO_STATE)
    except DatabaseException as error:
        raise HarnessError(str(error)) from error


def _whole(name: str, invocation: Invocation) -> str:
    """A name with its kind, where that was left out: `kanban-board` is `case:kanban-board`."""
    if ":" in name or "/" in name or name == "all":
        return name
    known = invocation.top()
    for whole in (f"case:{name}", f"suite:{name}"):
        if any(fnmatchcase(candidate, whole) if "*" in name else candidate == whole for candidate in known):
            return whole
    return name
