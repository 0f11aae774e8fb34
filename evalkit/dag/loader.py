"""doit's loader: dodo.py's own tasks, and those of the cases.

It is called by every doit command (run, list, info, forget, clean, …) with the names on its command line, which it
expands in place. Whatever is wrong with them, the choices or the case files ends the command here, with status 2.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doit import doit_cmd
from doit.cmd_base import DodoTaskLoader
from doit.task import Task

from evalkit.analysis.model import Case, ModelChoice
from evalkit.analysis.project import Project, load_project
from evalkit.dag.progress import Progress
from evalkit.dag.selection import cases_meant, expand
from evalkit.dag.tasks import Graph, JudgeChoice
from evalkit.diagnostics import did_you_mean
from evalkit.diagnostics.show import show_error
from evalkit.errors import EvalkitError, UserError
from evalkit.execute.agents import Agents
from evalkit.execute.places import Places
from evalkit.execute.provider import Endpoint, find_endpoint, missing_key
from evalkit.execute.session import Session
from evalkit.plan.choices import Choices, read_choices
from evalkit.plan.trials import Subject, Trial

__all__ = ["Loader", "Plan"]


class Plan:
    """What a command line comes to: the project, the choices, and the tasks of the cases that it can name."""

    def __init__(self, root: Path, environ: Mapping[str, str], command_line: Mapping[str, str],
                 progress: Progress) -> None:
        self.environ = environ
        self.choices: Choices = read_choices(command_line, environ, root)
        self._spoken: Choices = read_choices(command_line, environ, None)
        self.project: Project = load_project(root, self.choices.cases)
        self.endpoint: Endpoint | None = find_endpoint(environ, self.choices.gateway)
        self.session = Session(Places.of(root, environ), environ, progress.say, progress.tick,
                               keep_workspaces=self.choices.keep_workspaces)
        self.agents = Agents(self.endpoint, self.choices.claude)
        self.graph = Graph(self.project, self.session, self.agents,
                           JudgeChoice(self._judge_model, self._judge_state(), self.endpoint))

    # ---- choices -> subjects and trials ----
    @property
    def run(self) -> str:
        return "dry" if self.choices.dry else self.choices.run

    def _judge_state(self) -> str:
        choice = self.choices.judge
        if choice == "off":
            return "judge=off"
        if self.choices.dry:
            return "dry run"
        if self.endpoint is None:
            if choice == "on":
                raise missing_key("judge=on")
            return "no key for a judge model is set"
        return "on"

    def _model(self, spoken: str | None, declared: ModelChoice, configured: str | None) -> str:
        """Command line or EVALKIT_*, then the suite's own variable, then pyproject.toml, then the suite's default."""
        of_suite = self.environ.get(declared.variable, "") if declared.variable else ""
        return spoken or of_suite or configured or declared.default

    def _judge_model(self, case: Case) -> str:
        return self._model(self._spoken.judge_model, case.judge_model, self.choices.judge_model)

    def subject(self, case: Case) -> Subject:
        """Who is measured on a case. Raises UserError where that cannot be."""
        agent = self.choices.agent
        if agent == "auto":
            agent = case.agent.name
            if agent == "claude" and self.endpoint is None and not self.choices.dry:
                if case.solution is None:
                    raise missing_key(f"case `{case.name}` has no reference answer; its agent `claude`")
                agent = "oracle"
        if agent == "claude":
            if self.endpoint is None and not self.choices.dry:
                raise missing_key("agent=claude")
            return Subject(agent, self._model(self._spoken.model, case.model, self.choices.model))
        if agent == "oracle" and case.solution is None:
            raise UserError(f"case `{case.name}` has no reference answer for agent=oracle",
                            hint='add `solution "FOLDER"` to the case')
        if agent.startswith("wrong:"):
            name = agent.removeprefix("wrong:")
            if name not in {wrong.name for wrong in case.wrongs}:
                raise UserError(f"case `{case.name}` has no wrong answer `{name}`",
                                hint=did_you_mean(name, [wrong.name for wrong in case.wrongs])
                                or 'it declares none: add `wrong "FOLDER" fails CHECK`')
        return Subject(agent)

    def trials(self, case: Case) -> list[Trial]:
        subject = self.subject(case)
        agent = self.agents.of(subject)
        count = self.choices.trials if agent.traits.sampled and not self.choices.dry else 1
        return [Trial(case, subject, agent.traits, number, self.run, dry=self.choices.dry)
                for number in range(1, count + 1)]

    def build(self, meant: Sequence[str] | None) -> None:
        """Make the tasks of the cases meant. For a listing (None) a case that nobody can run now is left out."""
        built = []
        for case in self.project.cases.values():
            if meant is not None and case.name not in meant:
                continue
            try:
                self.graph.add_case(case, self.trials(case))
            except UserError:
                if meant is not None:
                    raise
                continue
            built.append(case)
        self.graph.add_groups(built, self.run)


class Loader(DodoTaskLoader):  # type: ignore[misc]
    """Loads dodo.py and the cases."""

    def __init__(self) -> None:
        super().__init__()
        self.progress = Progress()
        self.plan: Plan | None = None

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Task]:
        """All tasks that the command line can mean. Raises SystemExit(2) for a mistake of the person's."""
        own: list[Task] = [] if self.namespace is None or not _has_creators(self.namespace) else \
            super().load_tasks(cmd, pos_args)
        try:
            plan = self.plan = Plan(Path.cwd(), os.environ, doit_cmd._CMDLINE_VARS or {}, self.progress)
            suites = {name: [case.name for case in plan.project.cases_of(name)] for name in plan.project.suites}
            meant = cases_meant(pos_args, plan.project.cases, suites) if pos_args else None
            own_names = {task.name for task in own}
            if meant is None and pos_args and all(name in own_names for name in pos_args):
                meant = []
            if meant is None and pos_args and not any("*" in name for name in pos_args):
                names = [f"case:{name}" for name in plan.project.cases] + [f"suite:{name}" for name in suites]
                plan.build(None)
                expand(pos_args, [*plan.graph.tasks, *names, *own_names], _targets(plan))
            elif meant is None and pos_args:
                plan.build(None)
            else:
                plan.build(meant)
            tasks = [*own, *plan.graph.tasks.values()]
            if pos_args:
                pos_args[:] = expand(pos_args, [task.name for task in tasks], _targets(plan))
            return tasks
        except EvalkitError as error:
            show_error(error)
            raise SystemExit(int(error.exit_status)) from None


def _has_creators(namespace: Mapping[str, Any]) -> bool:
    return any(name.startswith("task_") or hasattr(value, "create_doit_tasks") for name, value in namespace.items())


def _targets(plan: Plan) -> list[str]:
    return [target for task in plan.graph.tasks.values() for target in task.targets]

