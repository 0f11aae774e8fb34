"""What a command line comes to: choices and cases -> subjects, trials and their tasks."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING

from evalkit.analysis.model import Case, Judge, ModelChoice
from evalkit.analysis.project import Project, load_project
from evalkit.dag.asking import Asking
from evalkit.dag.logs import log_file
from evalkit.dag.progress import Progress
from evalkit.dag.samples import Samples
from evalkit.dag.summing_up import declared_units, drawn, summary_places, told
from evalkit.dag.tasks import Graph, JudgeChoice
from evalkit.diagnostics import did_you_mean
from evalkit.digest import digest
from evalkit.errors import UserError
from evalkit.execute.agents.registry import Agents
from evalkit.execute.budget import Budget
from evalkit.execute.checkout import with_checkouts
from evalkit.execute.models.provider import keys_for, missing_key
from evalkit.execute.places import Places
from evalkit.execute.session import Session
from evalkit.plan.choices import DIRECT, Choices, models_of, project_table, read_choices
from evalkit.plan.trials import Subject, Trial, has_answer
from evalkit.report.update import REPORTS, report_changes, update_report
from evalkit.values import evolve

if TYPE_CHECKING:
    from evalkit.execute.models.prices import Price

__all__ = ["PROOF", "Plan"]

PROOF = "prove"
"""The run under which proofs are kept."""


class Plan:
    """What a command line comes to: the project, the choices, and the tasks of the cases that it can name."""

    def __init__(self, root: Path, environ: Mapping[str, str], command_line: Mapping[str, str], progress: Progress, *,
                 choices: Choices | None = None, project: Project | None = None) -> None:
        self.environ = environ
        self.choices = choices or read_choices(command_line, environ, root)
        self._spoken: Choices = read_choices(command_line, environ, None)
        self._looking = False
        self.project = project or load_project(root, self.choices.cases)
        own_prices = _own_prices(root)
        self.asking = Asking(self.choices.gateway, root, environ, own_prices)
        self.endpoints = self.asking.endpoints
        places = Places.of(root, environ, self.choices.store)
        if places.work.resolve().is_relative_to(root.resolve()):
            raise UserError(f"the work folder {places.work} is inside the project",
                            hint="agents work there, and would find the answers: EVALKIT_WORK=/some/other/folder")
        self.lane = "local"
        if self.choices.lane != "local":
            from evalkit.execute.lanes.choose import chosen

            self.lane, told = chosen(self.choices.lane, environ, root)
            if told:
                progress.say(told)
        if self.lane == "sandbox" and self.choices.gateway == DIRECT:
            raise UserError("the sandbox has no network but evalkit's own gateway: gateway=direct cannot be",
                            hint="leave gateway=direct out, or say lane=local")
        budget = Budget(self.choices.budget, changed=lambda: progress.spent(budget.spent, budget.limit),
                        free=bool(self.asking.played))
        self.session = Session(places, environ, progress.say, progress.tick, budget=budget,
                               own_prices=own_prices, models=self.asking.models,
                               keep_workspaces=self.choices.keep_workspaces, cases=self.choices.cases)
        progress.clean = self.session.redactor.text
        progress.logs = partial(log_file, places.results)
        self.agents = Agents(self.endpoints, self.choices.claude, root)
        self.judge = JudgeChoice(self._judge_models, self._judge_state, self.choices.judge == "on",
                                 self.endpoints.find, Semaphore(self.choices.agents), self.asking.given,
                                 self._judge_named)
        samples = Samples(places.state, self.session.store, fresh=self.choices.fresh)
        self.graph = Graph(self.session, self.agents, self.judge, samples, lane=self.lane,
                           skip_live=self.choices.skip_live, retries=self.choices.retries)

    def close(self) -> list[str]:
        """End what was started for the run; lines for the person on what was played or recorded."""
        self.asking.close()
        return self.asking.said

    # ---- choices -> subjects and trials ----
    @property
    def program(self) -> Path | None:
        """The Claude Code that was chosen instead of the pinned one."""
        chosen = self.choices.claude
        return Path(shutil.which(chosen) or chosen).absolute() if chosen else None

    @property
    def run(self) -> str:
        return "dry" if self.choices.dry else self.choices.run

    def _judge_state(self, models: Sequence[str]) -> str:
        if self.choices.judge == "off":
            return "judge=off"
        if self.choices.dry:
            return "dry run"
        closed = [model for model in models if self.judge.endpoint(model) is None]
        if closed and not self.judge.asked:
            return f"no key for the judge model {closed[0]} is set ({keys_for(closed[0])})"
        return "on"

    def _model(self, spoken: str | None, declared: ModelChoice, configured: str | None) -> str:
        """Command line or EVALKIT_*, then the suite's own variable, then pyproject.toml, then the suite's default."""
        of_suite = self.environ.get(declared.variable, "") if declared.variable else ""
        return spoken or of_suite or configured or declared.default

    def _named_by(self, choice: str, spoken: object, declared: ModelChoice) -> str:
        """By what a person asks for a model of their own now, "" where nobody does: then it is the project's. Who only
        looks asks for none: what there is can be listed without any key.
        """
        if self._looking:
            return ""
        if spoken:
            return choice
        return declared.variable if declared.variable and self.environ.get(declared.variable) else ""

    def _judge_named(self, case: Case, judge: Judge) -> str:
        """By what a person asks for the models of a judge that judges now, "" where nobody does."""
        if self.choices.judge == "off" or self.choices.dry or judge.on_request:
            return ""
        spoken = self._spoken.judge_model
        return "" if judge.models and not spoken else self._named_by("judge_model", spoken, case.judge_model)

    def _judge_models(self, case: Case, judge: Judge) -> tuple[str, ...]:
        """The models of a judge, each once: what is said now, else its own, else the case's."""
        if judge.models and not self._spoken.judge_model:
            return tuple(dict.fromkeys(judge.models))
        return (self._model(self._spoken.judge_model, case.judge_model, self.choices.judge_model),)

    def subjects(self, case: Case) -> list[Subject]:
        """Who is measured on a unit. Raises UserError where that cannot be."""
        subjects = self._subjects(case)
        self.judge.check(case, measured=any(subject.model is not None for subject in subjects))
        problems = self.agents.of(subjects[0]).cannot(case)
        if problems:
            raise UserError(f"`{case.unit}` asks agent `{subjects[0].agent}` for what this evalkit cannot do: "
                            + ", ".join(problems), hint="it compiles and can be checked; agent=oracle plays its answer")
        return subjects

    def _configured(self, unit: Case) -> Case:
        """The unit, with the configuration of the agent that the command line names in its own one's place."""
        wanted = self.choices.agent.partition(":")[0]
        agent = unit.agent if wanted == "auto" else unit.configured_for(wanted)
        if self.choices.skip_permissions:
            agent = evolve(agent, permissions="skip")
        unit = with_checkouts(unit, self.session.root, self.environ)
        return unit if agent is unit.agent else evolve(unit, agent=agent)

    def _subjects(self, case: Case) -> list[Subject]:
        auto, agent = self.choices.agent == "auto", self.choices.agent
        if auto:
            agent = case.agent.name
        if self.agents.asks_model(agent, case):
            said = self._model(",".join(self._spoken.model or ()), case.model, ",".join(self.choices.model or ()))
            of_suite = not self._spoken.model and said == self.environ.get(case.model.variable or "", "")
            models = models_of(said, (case.model.variable or "") if of_suite else "")
            closed = [] if self.choices.dry else [model for model in models if self.agents.reach(agent, model) is None]
            named = self._named_by("model", self._spoken.model, case.model)
            # (Where there is a key, but no way that this agent can go, somebody has to know.)
            if auto and not named and len(closed) == len(models) and not any(map(self.endpoints.find, closed)):
                if not has_answer(case):
                    raise missing_key(f"case `{case.name}` has no reference answer; its agent `{agent}`", closed[0])
                agent = "oracle"
            else:
                for model in closed:
                    self.agents.check_reach(agent, model, named if named != "model" else "")
                return [Subject(agent, model) for model in models]
        if agent == "oracle" and not has_answer(case):
            raise UserError(f"case `{case.name}` has no reference answer for agent=oracle",
                            hint='add `solution "FOLDER"` to the case, or `expect` calls that can be played')
        if agent.startswith("wrong:"):
            name = agent.removeprefix("wrong:")
            if name not in {wrong.name for wrong in case.wrongs}:
                raise UserError(f"case `{case.name}` has no wrong answer `{name}`",
                                hint=did_you_mean(name, [wrong.name for wrong in case.wrongs])
                                or 'it declares none: add `wrong "FOLDER" fails CHECK`')
        return [Subject(agent)]

    def trials(self, unit: Case) -> list[Trial]:
        """The trials of a unit: those of one subject after those of the other. Raises UserError as `subjects` does."""
        trials = []
        unit = self._configured(unit)
        for subject in self.subjects(unit):
            traits = self.agents.of(subject).traits
            played = self.asking.given if traits.sampled else ()
            if played:
                subject = evolve(subject, played=self.asking.played)
            count = (self.choices.trials or unit.trials or 1) if traits.sampled and not self.choices.dry else 1
            given = (*self.agents.given(subject, unit), *played)
            trials += [Trial(unit, subject, traits, number, self.run, self.lane, dry=self.choices.dry, given=given)
                       for number in range(1, count + 1)]
            self.agents.check(trials[-1])
        return trials

    # ---- choices -> units ----
    def meant(self, units: Sequence[Case]) -> list[Case]:
        """The units of a case that `track` and `arm` choose: all tracks, and of the arms the first, unless said."""
        track, arm = self.choices.track, self.choices.arm
        arms = [declared.name for declared in units[0].suite.arms]
        wanted = arm.split(",") if arm else arms[:1]

        def fits(unit: Case) -> bool:
            own = unit.arm
            of_arm = own is None or arm == "all" or any(own == name or own.startswith(f"{name}.") for name in wanted)
            return of_arm and (track is None or unit.track is None or unit.track == track)

        return [unit for unit in units if fits(unit)]

    def _check_names(self, cases: Iterable[Sequence[Case]]) -> None:
        """A track or an arm that no case has is a mistake."""
        units = [unit for case in cases for unit in case]
        tracks = {unit.track for unit in units if unit.track}
        arms = {arm.name for unit in units for arm in unit.suite.arms} | {unit.arm for unit in units if unit.arm}
        asked = [*([("track", self.choices.track, tracks)] if self.choices.track is not None else []),
                 *(("arm", arm, {*arms, "all"} if arm == self.choices.arm else arms)
                   for arm in (self.choices.arm.split(",") if self.choices.arm is not None else []))]
        for what, chosen, known in asked:
            if chosen not in known:
                raise UserError(f"no case has the {what} `{chosen}`",
                                hint=did_you_mean(chosen, known) or f"no case that is selected has {what}s")

    def build(self, meant: Sequence[str] | None, *, named: Collection[str] = (), asked: Collection[str] | None = None,
              whole: bool = True) -> None:
        """Make the tasks of the cases meant (None: all).

        A unit that nobody can run now is left out; of a case that is asked for, that is an error if the unit is named
        (or, where no unit of its case is named, chosen). asked: None where nothing is to run. whole: these are all that
        is selected, so a track that none of them has is a mistake.
        """
        self._looking = asked is None
        if asked is not None:
            self.asking.check()
        built = []
        wanted = None if meant is None else set(meant)
        names = self.project.units if wanted is None else filter(wanted.__contains__, self.project.units)
        cases = {name: self.project.units[name] for name in names}
        if asked is not None and whole:
            self._check_names(cases.values())
        for name, units in cases.items():
            chosen = [unit.unit for unit in self.meant(units)]
            required = {unit.unit for unit in units if unit.unit in named} or set(chosen)
            able = []
            for unit in units:
                try:
                    able.append((unit, self.trials(unit)))
                except UserError:
                    if asked and name in asked and unit.unit in required:
                        raise
            if asked and name in asked:
                _check_tracks(name, [trials for unit, trials in able if unit.unit in required])
            if able:
                self.graph.families[name] = units
                self.graph.add_case(name, able, chosen)
                built.append(name)
        self._add_suites(built)

    def _add_suites(self, built: Collection[str]) -> None:
        heads, there = self.project.index.suites.values(), set(built)
        self.graph.add_suites({head.name: (head.about, [*filter(there.__contains__, head.cases)])
                               for head in heads})

    def add_report(self) -> None:
        """The task that sums up the run from all results there are. (A run does that itself, with what it knows.)"""
        folder, cache = summary_places(self.session.root, self.run)

        def make() -> None:
            errors = [*update_report(folder, cache, full=True, declared=declared_units(self.project.index)).errors,
                      *drawn(self.session.root, self.run, self.session.environ, self.choices)]
            for error in errors:
                raise error

        self.graph.add(f"report:{self.run}", make, now=lambda: {"run": self.run}, after=(), part_of="report",
                       lacks=lambda _: told(report_changes(folder, cache)), targets=[folder / name for name in REPORTS],
                       doc=f"the summary of the run `{self.run}`", remembers=False)

    def add_images(self) -> None:
        """The tasks that make the images of live checks."""
        from evalkit.execute.image import image_names

        for name in image_names(self.session.root):
            self.graph.image(name)

    def build_proof(self, names: Iterable[str], *, full: bool) -> None:
        """Make the tasks that prove cases: the reference answer, nothing, and every wrong answer, without a judge.

        full: wrong answers are graded by all checks; else by those that they name, if they name any.
        """
        built = []
        for name in names:
            units = [with_checkouts(unit, self.session.root, self.environ)
                     for unit in _proven_apart(self.project.units[name])]
            self.graph.add_case(name, [(unit, self._known_answers(unit, full)) for unit in units],
                                [unit.unit for unit in units])
            built.append(name)
        self._add_suites(built)

    def _known_answers(self, unit: Case, full: bool) -> list[Trial]:
        named: dict[str, tuple[str, ...]] = {"oracle": (), "nop": ()} if has_answer(unit) else {"nop": ()}
        named |= {f"wrong:{wrong.name}": () if full else wrong.fails for wrong in unit.wrongs}
        found = []
        for agent, checks in named.items():
            subject = Subject(agent)
            graded = evolve(unit, checks=tuple(check for check in unit.checks if not checks or check.id in checks))
            found.append(Trial(graded, subject, self.agents.of(subject).traits, 1, PROOF, self.lane,
                               given=self.agents.given(subject, unit)))
        return found


def _check_tracks(name: str, units: Iterable[Sequence[Trial]]) -> None:
    """Tracks of a case are ways of one job, held against each other: in one run the same models do all of them.

    units: the trials of each unit that is asked for. Raises UserError.
    """
    asked: dict[tuple[str | None, str | None], set[str]] = {}
    for trials in units:
        for trial in trials:
            if trial.case.track is not None and trial.subject.model is not None:
                asked.setdefault((trial.case.arm, trial.case.track), set()).add(trial.subject.model)
    for (arm, track), models in asked.items():
        first = next((other, found) for (arm_of, other), found in asked.items() if arm_of == arm)
        if first[1] != models:
            raise UserError(f"the tracks of `{name}` would be done by different models: `{first[0]}` by "
                            f"{', '.join(sorted(first[1]))}, `{track}` by {', '.join(sorted(models))}",
                            hint="that would compare models: name one for both, model=SLUG, or run one, track=NAME")


def _own_prices(root: Path) -> dict[str, Price]:
    """The prices that a project tells. Raises UserError."""
    if (given := project_table(root, "prices")) == {}:
        return {}
    from evalkit.execute.models.prices import read_prices

    return read_prices(given)


def _proven_apart(units: Sequence[Case]) -> list[Case]:
    """The units of a case whose known answers are graded otherwise than those of an earlier one.

    Arms that change only what an agent reads, or which agent or model it is, say nothing about a known answer. Skills
    lie in the tree that is graded, so it is the first arm that is played.
    """
    found: dict[str, Case] = {}
    for unit in units:
        setup = evolve(unit.setup, skills=(), guidance=(), contract=None)
        scoped = any(check.arms for check in unit.checks)
        graded = [unit.track, unit.arm if scoped else None, setup, unit.checks, unit.solution, unit.wrongs,
                  unit.configured_for("tools")]
        found.setdefault(digest(graded), unit)
    return list(found.values())
