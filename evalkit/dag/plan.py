"""What a command line comes to: choices and cases -> subjects, trials and their tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evalkit.analysis.model import Case, ModelChoice
from evalkit.analysis.project import Project, load_project
from evalkit.dag.progress import Progress
from evalkit.dag.tasks import Graph, JudgeChoice
from evalkit.diagnostics import did_you_mean
from evalkit.errors import UserError
from evalkit.execute.agents import Agents
from evalkit.execute.places import Places
from evalkit.execute.provider import Endpoint, find_endpoint, missing_key
from evalkit.execute.session import Session
from evalkit.plan.choices import Choices, read_choices
from evalkit.plan.trials import Subject, Trial

__all__ = ["PROOF", "Plan"]

PROOF = "prove"
"""The run under which proofs are kept."""


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

    def build(self, meant: Sequence[str] | None, *, strict: bool) -> None:
        """Make the tasks of the cases meant (None: all). Unless strict, a case that nobody can run now is left out."""
        built = []
        for case in self.project.cases.values():
            if meant is not None and case.name not in meant:
                continue
            try:
                self.graph.add_case(case, self.trials(case))
            except UserError:
                if strict:
                    raise
                continue
            built.append(case)
        self.graph.add_groups(built, self.run)

    def build_proof(self, cases: Iterable[Case]) -> None:
        """Make the tasks that prove cases: the reference answer, nothing, and every wrong answer, without a judge."""
        cases = list(cases)
        for case in cases:
            agents = [*(["oracle"] if case.solution else []), "nop", *(f"wrong:{wrong.name}" for wrong in case.wrongs)]
            subjects = [Subject(agent) for agent in agents]
            self.graph.add_case(case, [Trial(case, subject, self.agents.of(subject).traits, 1, PROOF)
                                       for subject in subjects])
        self.graph.add_groups(cases, PROOF)
