"""What a command line asks for: names -> cases that are settled, and tasks for the rest.

A run first looks whether the cases that it names are settled as a whole (settled.py); only what is not is loaded,
planned and made into tasks. So a run that has nothing to do, or little, costs little, however many cases there are.
This module imports nothing that only the rest needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.analysis.project import load_project
from evalkit.dag.selection import ablation, cases_meant
from evalkit.dag.settled import Settled, UpToDateTask, context_of
from evalkit.dag.summing_up import can_draw
from evalkit.errors import UserError
from evalkit.plan.choices import read_choices
from evalkit.report.row import Row
from evalkit.report.update import DATA, PAGE, REPORTS

if TYPE_CHECKING:
    from evalkit.analysis.index import Index
    from evalkit.analysis.project import Project
    from evalkit.dag.plan import Plan
    from evalkit.dag.progress import Progress
    from evalkit.dag.trial_tasks import TrialTasks
    from evalkit.diagnostics import Diagnostic

__all__ = ["Invocation"]

_BY_NAME = re.compile("(case|suite|ablate):[^*]+$")
_HOW = frozenset({"jobs", "agents", "budget", "retries", "why", "progress", "keep_workspaces", "fresh", "case",
                  "check", "upload"})
"""Choices of how to run, not of what: no matter for what has settled."""


class Invocation:
    """A command in a project: its choices, the names there are, and what a selection of them comes to.

    cases: the names of cases and of their units, with the names of their cases. rows: of the tasks `case:…` that are
    settled. summed_up: whether the run's summary is settled too. left_out: what is wrong with case files that are left
    out, where `names` (what is to run) have nothing to do with them.
    """

    def __init__(self, root: Path, environ: Mapping[str, str], command_line: Mapping[str, str],
                 names: Sequence[str] = ()) -> None:
        self.root = root
        self.environ = environ
        self._names = names
        self.rows: dict[str, list[Row]] = {}
        self.summed_up = False
        self.choices = read_choices(command_line, environ, root)
        self._command_line = command_line
        self.look()

    def look(self) -> None:
        """Look at the project: which cases there are. Raises CaseErrors where there are mistakes in them."""
        self.started = time.time_ns()
        self._plan: Plan | None = None
        self._settled: Settled | None = None
        self.left_out: tuple[Diagnostic, ...] = ()
        try:
            self._project = load_project(self.root, self.choices.cases)  # its index alone, where nothing changed
        except UserError as error:
            self._project, self.left_out = self._sound_part(error)
        self.cases = {name: head.name for head in self.index.cases.values() for name in (head.name, *head.units)}

    def _sound_part(self, error: UserError) -> tuple[Project, tuple[Diagnostic, ...]]:
        """The project without its broken case files, and what is wrong with these. Raises the error where it is another
        one, or where what is to run may have to do with such a file.
        """
        from evalkit.diagnostics import CaseErrors

        if isinstance(error, CaseErrors) and self._names and all(map(_BY_NAME.match, self._names)):
            from evalkit.analysis.sound import sound_part

            part = sound_part(self.root, self.choices.cases)
            if part is not None and all(map(part.has, self._names)):
                return part.project, part.diagnostics
        raise error

    @property
    def index(self) -> Index:
        """The heads of cases and suites."""
        return self._project.index

    @property
    def run(self) -> str:
        return "dry" if self.choices.dry else self.choices.run

    @property
    def plan(self) -> Plan:
        """What is not settled. Making it imports all that runs cases."""
        if self._plan is None:
            from evalkit.dag.plan import Plan

            self._plan = Plan(self.root, self.environ, self._command_line, self.progress, choices=self.choices,
                              project=self._project)
        return self._plan

    @cached_property
    def progress(self) -> Progress:
        """Whom tasks tell what they do."""
        from evalkit.dag.progress import Progress

        progress = Progress()
        if self.choices.progress == "plain":
            progress.plainly()
        return progress

    @property
    def planned(self) -> Plan | None:
        """The plan, where one was needed."""
        return self._plan

    @property
    def ran(self) -> int:
        """How many tasks ran."""
        return self.progress.ran if "progress" in self.__dict__ else 0

    # ---- names ----
    def top(self) -> list[str]:
        """The names of what people ask for."""
        return [*(f"case:{name}" for name in self.cases), *(f"suite:{name}" for name in self.index.suites), "all"]

    def taken(self, names: Sequence[str]) -> list[str]:
        """The names, with `ablate:CASE` as the case that it stands for; then the choice `arm` is what that says."""
        found = ablation(names, {head.name: head.units for head in self.index.cases.values()}, self.choices.arm)
        if found is None:
            return list(names)
        cases, arms = found
        self._command_line = {**self._command_line, "arm": arms}
        self.choices = read_choices(self._command_line, self.environ, self.root)
        return cases

    def meant(self, names: Sequence[str]) -> list[str] | None:
        """The cases whose tasks these names can mean; None for all."""
        return cases_meant(names, self.cases, {name: list(suite.cases) for name, suite in self.index.suites.items()})

    def asked(self, flat: Sequence[str], inner: Iterable[str]) -> set[str]:
        """The cases that are asked for: by a name `case:…` of a flat list, or by that of an inner task of theirs.

        A wildcard among inner tasks, or a task that cases share, asks for no case.
        """
        return {*(self.meant(flat) or ()), *(case for name in inner for case in self.meant([name]) or ())}

    def flat(self, names: Iterable[str]) -> list[str]:
        """The names, with suites and `all` as the cases that they are made of; each once."""
        found: dict[str, None] = {}
        for name in names:
            if name == "all":
                found |= dict.fromkeys([f"case:{case}" for case in self.index.cases])
            elif name.startswith("suite:"):
                found |= dict.fromkeys([f"case:{case}" for case in self.index.suites[name[6:]].cases])
            else:
                found[name] = None
        return list(found)

    def chosen(self, names: Sequence[str], own_names: Collection[str] = ()) -> list[str]:
        """What the choice `case` leaves of a flat list: cases whose names begin so. Raises UserError for none."""
        begins = tuple(self.choices.case or ())
        if not begins:
            return list(names)
        found = [name for name in names if name in own_names or name.removeprefix("case:").startswith(begins)]
        cases = [name.removeprefix("case:") for name in names if name not in own_names]
        if cases and not any(case.startswith(begins) for case in cases):
            raise UserError(f"no case that is selected begins with {' or '.join(f'`{begin}`' for begin in begins)}",
                            hint=f"selected are {', '.join(f'`{case}`' for case in cases[:6])}"
                            + (f" and {len(cases) - 6} more" if len(cases) > 6 else ""))
        return found

    # ---- what is settled ----
    def settle(self, names: Sequence[str], state: Any) -> None:
        """Find out which of these tasks `case:…` are settled: `rows` has them then. state: the state database."""
        choices = {name: value for name, value in self.choices._asdict().items() if name not in _HOW}
        if self.choices.lane == "auto":
            from evalkit.execute.lanes.bwrap import find_bwrap

            choices["lane"] = f"auto, with {find_bwrap(self.environ.get('PATH'))}"
        self._settled = Settled(self.root, state, context_of(choices, self.environ, self.index.variables), self.started)
        report = f"report:{self.run}"
        wanted = {report: _with(self.index.cases), **{name: self._fingerprint(name) for name in names}}
        found = self._settled.find(wanted)
        self.summed_up = found.pop(report, None) is not None
        self.rows = {}
        for name, rows in found.items():
            with contextlib.suppress(ValueError, TypeError):  # damaged, or another evalkit's
                self.rows[name] = [Row.from_data(row) for row in rows]

    def _fingerprint(self, name: str) -> str:
        return self.index.cases[self.cases[name[5:]]].fingerprint

    def keep(self, done: Mapping[str, Sequence[tuple[TrialTasks, Row]]], *, summed_up: bool | None) -> None:
        """The tasks `case:…` that are up to date now, with their trials: settled from now on.

        summed_up: so is the summary; False: it has to be looked at again, whatever settled before; None: nobody looked.
        """
        if self._settled is None:
            return
        program = [self._plan.program] if self._plan and self._plan.program else []
        folder = self.root / f"results/{self.run}"
        said = _with(self.index.cases) if summed_up else "not summed up"
        reports = [folder / name for name in (*REPORTS, PAGE, DATA)]
        report = [] if summed_up is None else [UpToDateTask(f"report:{self.run}", said, [], reports, [])]
        self._settled.keep([*report, *(
            UpToDateTask(name, self._fingerprint(name),
                         [*program, *(self.root / path for path in dict.fromkeys(
                             path for tasks, _ in trials for path in sorted(tasks.read)))],
                         [path for tasks, _ in trials for path in tasks.made()],
                         [row.to_data() for _, row in trials])
            for name, trials in done.items())])


def _with(cases: Iterable[str]) -> str:
    """With what a run is summed up: one that had no page is looked at again once there can be one, and any when other
    cases are there: whoever removed one may have removed its results.
    """
    names = hashlib.blake2b("\n".join(cases).encode(), digest_size=16).hexdigest()
    return f"{'a page' if can_draw() else 'no page'}, cases {names}"
