"""Trials -> doit tasks.

    toolchain:NAME -> template:SUITE.PROFILE -> workspace:TRIAL -> agent:TRIAL -> grade:TRIAL:CHECK -> result:TRIAL
                                                                             -> judge:TRIAL:ID   ->
    result:TRIAL -> case:CASE -> suite:SUITE, all; and every selected result -> report:RUN

Every task's status comes from its inputs (plan/keys.py). Actions return values, never False: a failing grade is data.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, evolve, field
from doit.exceptions import TaskError, TaskFailed
from doit.task import Task

from evalkit import __version__
from evalkit.analysis.model import Case, Check, Judge, Setup, Toolchain
from evalkit.analysis.project import Project
from evalkit.dag.uptodate import GroupUpToDate, UpToDate
from evalkit.digest import digest
from evalkit.errors import EvalkitError, HarnessError
from evalkit.execute.agents import Agent, Agents
from evalkit.execute.outcome import AgentRecord
from evalkit.execute.session import Session
from evalkit.execute.stages import TRANSCRIPT, TREE, agent_record, make_template, make_workspace, run_agent
from evalkit.execute.toolchain import find_installed, install
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.grader import grade_check, grader_version
from evalkit.grade.judge import VERSION as JUDGE_VERSION
from evalkit.grade.judge import grade_judge
from evalkit.grade.verdict import Grade
from evalkit.plan.keys import (
    Inputs,
    agent_inputs,
    grade_inputs,
    judge_inputs,
    template_inputs,
    toolchain_inputs,
    workspace_inputs,
)
from evalkit.plan.trials import Trial
from evalkit.records import read_record, write_record
from evalkit.report.result import TrialResult, build_result
from evalkit.report.summary import report_inputs, write_report

__all__ = ["Failure", "Graph", "JudgeChoice"]

KEPT = ((TRANSCRIPT, TRANSCRIPT), (TREE, "workspace.tar.zst"))
"""Files of an agent run in the store, and what they are called in the results."""


@define
class JudgeChoice:
    """With what judges judge, or why they do not.

    state: "on", or the reason that results show. asked: a person said judge=on, so answers that nobody wrote just now
    are judged too.
    """

    model: Callable[[Case, Judge], str]
    state: str
    asked: bool
    endpoint: Any


@define
class Failure:
    """A task that could not do its work: no verdict on the agent."""

    task: str
    error: EvalkitError | None
    bug: str = ""

    def __str__(self) -> str:
        return str(self.error) if self.error is not None else self.bug


@define
class Graph:
    """Builds the tasks of a selection, and keeps what they came to for the table."""

    project: Project
    session: Session
    agents: Agents
    judge: JudgeChoice
    tasks: dict[str, Task] = field(factory=dict)
    trials: dict[str, list[Trial]] = field(factory=dict)
    failures: dict[str, Failure] = field(factory=dict)
    tell_groups: bool = False
    """Whether a case's or a suite's status is that of its parts: for listings, not for runs."""
    _templates: dict[str, str] = field(factory=dict)
    _records: dict[str, AgentRecord] = field(factory=dict)

    # ---- levels ----
    def add_case(self, name: str, units: Sequence[tuple[Case, Sequence[Trial]]], meant: Sequence[str]) -> None:
        """The tasks of a case: a result per trial of each unit, a group a unit, and the case: the units meant."""
        chosen: list[str] = []
        for unit, trials in units:
            results = [self._trial(trial) for trial in trials]
            self.trials[unit.unit] = list(trials)
            if unit.unit != name:
                self._group(f"case:{unit.unit}", results, unit.about, part_of=f"case:{name}")
            if unit.unit in meant:
                chosen += results
        self._group(f"case:{name}", chosen, units[0][0].about)

    def add_groups(self, cases: Iterable[Case], run: str) -> None:
        """The suites, `all`, and the report of the run. (`report_on` says after which results the report is made.)"""
        cases = list(cases)
        for suite in self.project.suites.values():
            names = [f"case:{case.name}" for case in cases if case.suite.name == suite.name]
            if names:
                self._group(f"suite:{suite.name}", names, suite.about)
        self._group("all", [f"case:{case.name}" for case in cases], "every case of every suite")
        folder = self.session.places.results / run
        self._add(f"report:{run}", lambda: write_report(folder, run), now=lambda: report_inputs(folder),
                  present=lambda _: (folder / "summary.json").is_file(),
                  doc=f"the summary of the run `{run}`", targets=[folder / "summary.json"], after=(), part_of="report")

    def report_on(self, run: str, trials: Iterable[Trial]) -> str:
        """The report's task, to be made after the results of these trials."""
        name = f"report:{run}"
        self.tasks[name].task_dep = [f"result:{trial.id}" for trial in trials]
        return name

    def _group(self, name: str, parts: Sequence[str], doc: str, part_of: str | None = None) -> None:
        self.tasks[name] = Task(name, None, task_dep=list(parts), doc=_one_line(doc), has_subtask=True,
                                subtask_of=part_of, uptodate=[GroupUpToDate()] if self.tell_groups else (),
                                clean=[lambda: self._clean(parts)])

    def _clean(self, names: Sequence[str]) -> None:
        """Remove what results are made of: the targets of these tasks, and of those of the same trials before them."""
        waiting, seen = list(names), set()
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self.tasks:
                continue
            seen.add(name)
            for target in self.tasks[name].targets:
                Path(target).unlink(missing_ok=True)
            waiting += [part for part in self.tasks[name].task_dep
                        if part.startswith(("case:", "result:", "grade:", "judge:"))]

    # ---- tasks ----
    def _add(self, name: str, action: Callable[[], dict[str, Any] | None], *, now: Callable[[], Inputs], doc: str,
             after: Sequence[str], part_of: str, present: Callable[[Inputs], bool] = lambda _: True,
             targets: Sequence[Path] = ()) -> str:
        def guarded() -> dict[str, Any] | TaskFailed | TaskError | None:
            try:
                return action() or {}
            except EvalkitError as error:
                self.failures[name] = Failure(name, error)
                return TaskFailed(error.message, report=False)
            except Exception as error:  # noqa: BLE001 - our own bug, told apart from all other failures
                import traceback

                told = "".join(traceback.format_exception(error))
                self.failures[name] = Failure(name, None, self.session.redactor.text(told))
                return TaskError("a bug in evalkit", report=False)

        self.tasks[name] = Task(
            name, [guarded], task_dep=list(dict.fromkeys(after)), uptodate=[UpToDate(now, present)],
            targets=[str(path) for path in targets], clean=True, subtask_of=part_of,
            doc=_one_line(doc), verbosity=0, io={"capture": False})
        return name

    def _toolchain(self, toolchain: Toolchain) -> str:
        name = f"toolchain:{toolchain.name}"
        if name in self.tasks:
            return name
        session, cache = self.session, self.session.places.cache
        return self._add(
            name, lambda: {"versions": install(cache, toolchain, session.environ, session.say).versions},
            now=lambda: toolchain_inputs(toolchain), present=lambda _: find_installed(cache, toolchain) is not None,
            doc=f"installs {', '.join((*toolchain.npm, *toolchain.pip))}", after=(), part_of="toolchain")

    def _setup_toolchains(self, setup: Setup) -> list[str]:
        return [self._toolchain(toolchain) for toolchain in setup.toolchains]

    def _kept(self, kind: str) -> Callable[[Inputs], bool]:
        return lambda inputs: self.session.store.has(kind, digest(inputs))

    def _template(self, case: Case) -> str:
        setup, session = case.setup, self.session

        def now() -> Inputs:
            return template_inputs(setup, session.contents)

        wanted = digest([setup.scaffold, setup.caches, setup.toolchains])
        label = f"template:{case.suite.name}.{case.profile or case.name}"
        name = self._templates.setdefault(wanted, label if label not in self.tasks else f"{label}-{wanted[:6]}")
        if name in self.tasks:
            return name

        def make() -> None:
            inputs = now()
            if not self._kept("template")(inputs):
                make_template(session, setup, inputs=inputs)

        after = self._setup_toolchains(setup) if setup.scaffold.command else []
        return self._add(name, make, now=now, present=self._kept("template"), part_of="template", after=after,
                         doc="scaffolds the tree that every workspace of the profile starts from")

    def _workspace(self, trial: Trial) -> str:
        setup, session = trial.case.setup, self.session

        def now() -> Inputs:
            return workspace_inputs(setup, session.contents)

        def make() -> None:
            inputs = now()
            if not self._kept("workspace")(inputs):
                make_workspace(session, setup, inputs=inputs)

        after = [self._template(trial.case)]
        if any(skill.command for skill in setup.skills):
            after += self._setup_toolchains(setup)
        return self._add(f"workspace:{trial.id}", make, now=now, present=self._kept("workspace"), after=after,
                         doc="the template with the starter and the skills", part_of="workspace")

    def _agent(self, trial: Trial, agent: Agent) -> str:
        session = self.session

        def now() -> Inputs:
            return agent_inputs(trial, session.contents)

        def work() -> None:
            inputs = now()
            if not self._kept("agent")(inputs):
                run_agent(session, trial, agent, inputs=inputs)

        after = [self._workspace(trial)]
        if agent.toolchain is not None:
            after.append(self._toolchain(agent.toolchain))
        if agent.traits.builds:
            after += self._setup_toolchains(trial.case.setup)
        return self._add(f"agent:{trial.id}", work, now=now, present=self._kept("agent"), after=after,
                         doc=f"{trial.subject.shown} at work", part_of="agent")

    def _record(self, trial: Trial) -> AgentRecord:
        """The kept agent run of a trial. Raises HarnessError where there is none (its task makes it)."""
        key = digest(agent_inputs(trial, self.session.contents))
        if key not in self._records:
            record = agent_record(self.session, key)
            if record is None:
                raise HarnessError("the agent has not run yet")
            self._records[key] = record
        return self._records[key]

    def _tree(self, trial: Trial) -> FinalTree:
        record = self._record(trial)
        return FinalTree(self.session, record.key, record.tree)

    def _grade(self, trial: Trial, check: Check, after: str) -> str:
        case, session = trial.case, self.session
        place = session.places.results / trial.id / "grades" / f"{check.id}.json"

        def now() -> Inputs:
            return grade_inputs(case, check, self._record(trial).tree.files, grader_version(check.spec), trial.lane,
                                session.contents)

        def work() -> dict[str, Any]:
            grade = grade_check(case, check, self._tree(trial), now(), trial.lane)
            write_record(place, grade)
            return {"status": grade.verdict.status, "summary": grade.verdict.summary}

        return self._add(f"grade:{trial.id}:{check.id}", work, now=now, targets=[place], present=_whole(place, Grade),
                         after=[after, *self._setup_toolchains(case.setup)],
                         doc=check.description or check.kind, part_of=f"result:{trial.id}")

    def _judge(self, trial: Trial, judge: Judge, after: str) -> str:
        case, session, choice = trial.case, self.session, self.judge
        place = session.places.results / trial.id / "judge" / f"{judge.id}.json"
        model = choice.model(case, judge)
        state = choice.state
        if state == "on" and not choice.asked and trial.subject.model is None:
            state = "a known answer is judged only with judge=on"

        def now() -> Inputs:
            return judge_inputs(case, judge, self._record(trial).tree.files, model, JUDGE_VERSION, state)

        def work() -> dict[str, Any]:
            inputs = now()
            grade = grade_judge(case, judge, self._tree(trial), inputs, digest(inputs), state=state,
                                model=model, endpoint=choice.endpoint)
            write_record(place, grade)
            return {"status": grade.verdict.status, "summary": grade.verdict.summary}

        return self._add(f"judge:{trial.id}:{judge.id}", work, now=now, targets=[place], after=[after],
                         present=_whole(place, Grade),
                         doc=judge.title or "judge", part_of=f"result:{trial.id}")

    def _trial(self, trial: Trial) -> str:
        case, session = trial.case, self.session
        folder = session.places.results / trial.id
        agent_task = self._agent(trial, self.agents.of(trial.subject))
        parts = [self._grade(trial, check, agent_task) for check in case.checks]
        parts += [self._judge(trial, judge, agent_task) for judge in case.judges]

        def grades() -> list[Grade]:
            return ([read_record(folder / "grades" / f"{check.id}.json", Grade) for check in case.checks]
                    + [read_record(folder / "judge" / f"{judge.id}.json", Grade) for judge in case.judges])

        def now() -> Inputs:
            record = self._record(trial)
            try:
                verdicts = {f"verdict of {grade.check}": digest([grade.key, evolve(grade, seconds=0.0)])
                            for grade in grades()}
            except FileNotFoundError:
                raise HarnessError("its checks have not been graded yet") from None
            judged: list[Check | Judge] = [*case.checks, *case.judges]
            shown = {f"check {item.id}": digest(item) for item in judged}
            declared = digest(case.wrongs) if trial.subject.wrong else ""
            return {"agent run": record.key, "ending": digest(record.ending), "tree": record.tree_digest,
                    "wrong answers": declared, **verdicts, **shown}

        def work() -> dict[str, Any]:
            record = self._record(trial)
            entry = session.store.path("agent", record.key)
            for source, name in KEPT:
                if (entry / source).is_file():
                    shutil.copyfile(entry / source, folder / name)
            result = build_result(trial, record, grades(), __version__)
            write_record(folder / "result.json", result)
            return {"status": "", "verdict": result.status}

        def present(_: Inputs) -> bool:
            entry = session.store.path("agent", self._record(trial).key)
            return _whole(folder / "result.json", TrialResult)(_) and all(
                (folder / name).is_file() for source, name in KEPT if (entry / source).is_file())

        return self._add(f"result:{trial.id}", work, now=now, present=present, targets=[folder / "result.json"],
                         after=[agent_task, *parts], doc=f"{case.name} by {trial.subject.shown}", part_of="result")

    # ---- what came of it ----
    def result(self, trial: Trial) -> TrialResult | None:
        """The trial's result as it is on disk, if it belongs to the agent run that is current."""
        try:
            result = read_record(self.session.places.results / trial.id / "result.json", TrialResult)
            return result if result.agent_key == self._record(trial).key else None
        except (FileNotFoundError, HarnessError):
            return None

    def failure(self, trial: Trial) -> Failure | None:
        """Why a trial has no result: the first task on its way that could not do its work."""
        waiting, seen = [f"result:{trial.id}"], set()
        while waiting:
            name = waiting.pop()
            if name in self.failures:
                return self.failures[name]
            if name not in seen and name in self.tasks:
                seen.add(name)
                waiting += self.tasks[name].task_dep
        return None


def _whole(place: Path, kind: type[Any]) -> Callable[[Inputs], bool]:
    """Whether a record can be read: a damaged one is made again by its task."""

    def readable(_: Inputs) -> bool:
        try:
            read_record(place, kind)
        except (FileNotFoundError, HarnessError):
            return False
        return True

    return readable


def _one_line(text: str) -> str:
    return " ".join(text.split())
