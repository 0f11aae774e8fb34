"""Cases and trials -> doit tasks: the groups that people name, and what trials share.

    toolchain:NAME -> template:SUITE.PROFILE -> workspace:TRIAL -> agent:TRIAL -> grade:TRIAL:CHECK -> result:TRIAL
                                                                             -> judge:TRIAL:ID   ->
    result:TRIAL -> case:CASE -> suite:SUITE, all; and every selected result -> report:RUN

Every task's status comes from its inputs (plan/keys.py), which are taken once in a run, when they are first asked for:
all tasks of a run see one state of the project, and an edit meanwhile is a change the next time. Actions return values,
never False: a failing grade is data. The tasks of a trial are made by trial_tasks.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING, Any

from doit.exceptions import TaskError, TaskFailed
from doit.task import Task

from evalkit.analysis.model import Case, Judge, Setup, Toolchain
from evalkit.dag.failure import Failure
from evalkit.dag.samples import Samples
from evalkit.dag.uptodate import GONE, GroupUpToDate, UpToDate
from evalkit.digest import digest
from evalkit.errors import EvalkitError
from evalkit.execute.agents.registry import Agents
from evalkit.execute.budget import BudgetReached
from evalkit.execute.models.provider import Endpoint, missing_key
from evalkit.execute.session import Session
from evalkit.plan.keys import Inputs, template_inputs, toolchain_inputs
from evalkit.plan.trials import Trial
from evalkit.values import State, field

if TYPE_CHECKING:
    from evalkit.dag.trial_tasks import TrialTasks
    from evalkit.grade.auditor import Auditor

__all__ = ["Graph", "JudgeChoice", "name_of"]


_NO_ARGUMENTS = inspect.Signature()


class JudgeChoice(State):
    """With what judges judge, or why they do not.

    models: those of a judge. state: "on", or the reason that results show, of a judge with these models. asked: a
    person said judge=on, so answers that nobody wrote just now are judged too. endpoint: where a model is reached; None
    without a key for it. places: how many models may be waited for at once. given: files that answers hang on, as in
    `Trial.given`. named: by what a person asks for the models of a judge, "" where nobody does.
    """

    models: Callable[[Case, Judge], tuple[str, ...]]
    state: Callable[[Sequence[str]], str]
    asked: bool
    endpoint: Callable[[str], Endpoint | None]
    places: Semaphore
    given: tuple[tuple[str, str], ...] = ()
    named: Callable[[Case, Judge], str] = lambda case, judge: ""

    def check(self, case: Case, *, measured: bool = False) -> None:
        """Raise UserError where somebody asks for judges, or for a judge's model, and no key is set for it.

        measured: a model's answers are to be judged, which is done unasked.
        """
        for judge in case.judges:
            by = "judge=on" if self.asked else self.named(case, judge) if measured else ""
            for model in self.models(case, judge) if by else ():
                if self.endpoint(model) is None and (not self.asked or self.state((model,)) == "on"):
                    raise missing_key(by, model, without="judge=off asks no judge")


def name_of(kind: str, trial: Trial, check: str = "") -> str:
    """A task's name."""
    return f"{kind}:{trial.id}:{check}" if check else f"{kind}:{trial.id}"


class Graph(State):
    """Builds the tasks of a selection, and keeps what could not do its work for the table.

    trials: by their units, with their tasks. families: of cases by name, all units, also those of other arms.
    tell_groups: whether a case's or a suite's status is that of its parts:
    for listings, not for runs. lane: where trials run. skip_live: no app is shown.
    retries: how often an agent run that its provider failed is begun again.
    """

    session: Session
    agents: Agents
    judge: JudgeChoice
    samples: Samples
    retries: int
    tell_groups: bool = False
    lane: str = "local"
    skip_live: bool = False
    families: dict[str, Sequence[Case]] = field(factory=dict)
    tasks: dict[str, Task] = field(factory=dict)
    trials: dict[str, list[TrialTasks]] = field(factory=dict)
    failures: dict[str, Failure] = field(factory=dict)
    _contents: dict[str, str] = field(factory=dict)
    _kept: set[tuple[str, str]] = field(factory=set)
    _templates: dict[str, str] = field(factory=dict)
    _by_result: dict[str, TrialTasks] = field(factory=dict)
    _needed: dict[str, list[Callable[[], bool]]] = field(factory=dict)

    @cached_property
    def auditor(self) -> Auditor:
        """Who audits trials: imported for the first that is audited, which known answers are not."""
        from evalkit.grade.auditor import Auditor

        return Auditor()

    # ---- levels ----
    def add_case(self, name: str, units: Sequence[tuple[Case, Sequence[Trial]]], meant: Sequence[str]) -> None:
        """The tasks of a case: a result per trial of each unit, a group a unit, and the case: the units meant."""
        from evalkit.dag.trial_tasks import TrialTasks

        chosen: list[str] = []
        for unit, trials in units:
            made = self.trials[unit.unit] = [TrialTasks(self, trial, self.agents.of(trial.subject)) for trial in trials]
            results = [tasks.add() for tasks in made]
            self._by_result |= zip(results, made, strict=True)
            if unit.unit != name:
                self._group(f"case:{unit.unit}", results, unit.about, part_of=f"case:{name}")
            if unit.unit in meant:
                chosen += results
        self._group(f"case:{name}", chosen, units[0][0].about)

    def add_suites(self, suites: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        """The suites (by name: what it is about, and the names of its cases that were added), and `all`."""
        names = []
        for suite, (about, cases) in suites.items():
            if cases:
                self._group(f"suite:{suite}", [f"case:{name}" for name in cases], about)
                names += [f"case:{name}" for name in cases]
        self._group("all", names, "every case of every suite")

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

    # ---- one task ----
    def add(self, name: str, action: Callable[[], dict[str, Any] | None], *, now: Callable[[], Inputs], doc: str,
            after: Sequence[str], part_of: str, lacks: Callable[[Inputs], str] = lambda _: "",
            targets: Sequence[Path] = (), pool: Callable[[], str | None] | None = None, remembers: bool = True) -> str:
        """Add a task. now, lacks, remembers: see UpToDate. pool: where it works; None is for what takes no time."""

        def guarded() -> dict[str, Any] | TaskFailed | TaskError | None:
            try:
                return action() or {}
            except EvalkitError as error:
                self.failures[name] = Failure(name, self.session.redactor.error(error))
                failed = TaskFailed(error.message, report=False)
                failed.outcome = "not run (budget)" if isinstance(error, BudgetReached) else ""
                return failed
            except Exception as error:  # noqa: BLE001 - our own bug, told apart from all other failures
                import traceback

                told = "".join(traceback.format_exception(error))
                self.failures[name] = Failure(name, None, self.session.redactor.text(told))
                return TaskError("a bug in evalkit", report=False)

        guarded.__signature__ = _NO_ARGUMENTS  # type: ignore[attr-defined] # doit asks for it before each run

        def place() -> str | None:
            try:
                return pool() if pool else None
            except EvalkitError:  # the action meets it again, and tells it
                return None

        self.tasks[name] = Task(
            name, [guarded], task_dep=list(dict.fromkeys(after)),
            uptodate=[UpToDate(now, lacks, self.session.held, remembers)],
            targets=[str(path) for path in targets], clean=True, subtask_of=part_of, doc=_one_line(doc),
            verbosity=0, io={"capture": False}, meta={"pool": place} if pool else None)
        return name

    # ---- what is read ----
    def contents_for(self, read: set[str]) -> Callable[[str], str]:
        """The digests of the project's files and folders, each looked at once in a run; in `read` is noted which."""

        def contents(path: str) -> str:
            read.add(path)
            found = self._contents.get(path)
            if found is None:
                found = self._contents[path] = self.session.contents(path)
            return found

        return contents

    def kept(self, kind: str, key: str) -> bool:
        """Whether the store has an entry, whole: a damaged one is set aside, so that it is made again.

        One that was there is not looked for again in this run.
        """
        if (kind, key) in self._kept:
            return True
        if found := self.session.store.open(kind, key) is not None:
            self._kept.add((kind, key))
        return found

    def make_once(self, kind: str, key: str, missing: Callable[[], bool], make: Callable[[], object], *,
                  paid: bool = True) -> None:
        """Make an entry of the store, if nobody else did: another task, or another run, may be at it.

        paid: making it twice would cost something: else nobody waits, and of two the first one's is kept.
        """
        if not paid:
            if missing():
                make()
        elif missing():  # one that is there needs no claim
            with self.session.store.claim(kind, key, waiting=self._waiting):
                if missing():
                    make()

    def _waiting(self) -> None:
        self.session.say("somebody else is making the same: waiting for it")

    # ---- what trials share ----
    def toolchain(self, toolchain: Toolchain) -> str:
        """The task that installs a toolchain."""
        name = f"toolchain:{toolchain.name}"
        if name in self.tasks:
            return name
        session = self.session

        def make() -> dict[str, Any]:
            from evalkit.execute.toolchain import install

            return {"versions": install(session.places.cache, toolchain, session.environ, session.say).versions}

        return self.add(
            name, make, now=lambda: toolchain_inputs(toolchain),
            lacks=lambda _: "" if self.installed(toolchain) else GONE,
            doc=f"installs {', '.join((*toolchain.npm, *toolchain.pip, *_checkout_of(toolchain)))}", after=(),
            part_of="toolchain", pool=lambda: "build")

    def installed(self, toolchain: Toolchain) -> Any:
        """The toolchain on this machine, or None."""
        from evalkit.execute.toolchain import find_installed

        return find_installed(self.session.places.cache, toolchain)

    def image(self, name: str) -> str:
        """The task that makes an image for live checks: no case waits for it."""
        from evalkit.execute.image import dockerfile, dockerfile_place, find_image, read_image
        from evalkit.execute.image_build import build_image
        from evalkit.records import write_bytes

        session, places = self.session, self.session.places
        image = cache(lambda: read_image(session.root, name))
        described = dockerfile_place(session.root, name)

        def lacks(_: Inputs) -> str:
            if find_image(places.cache, image()) is None:
                return GONE
            written = described is None or (described.is_file() and described.read_text("utf-8") == dockerfile(image()))
            return "" if written else f"{described.name if described else ''} is not of this declaration"

        def make() -> dict[str, Any]:
            if described is not None:
                write_bytes(described, dockerfile(image()).encode(), sync=False)
            return {"root": str(build_image(places.cache, image(), session.environ, session.say, session.tick))}

        return self.add(f"image:{name}", make, now=lambda: {"declaration": image().digest}, lacks=lacks, after=(),
                        part_of="image", doc="the root file system of live checks", pool=lambda: "build",
                        remembers=False)

    def toolchains(self, setup: Setup) -> list[str]:
        return [self.toolchain(toolchain) for toolchain in setup.toolchains]

    def template(self, case: Case, contents: Callable[[str], str], needed: Callable[[], bool]) -> str:
        """The task that scaffolds. needed: whether the workspace that asks for it has yet to be made."""
        setup, session = case.setup, self.session
        wanted = digest([setup.scaffold, setup.caches, setup.toolchains])
        label = f"template:{case.suite.name}.{case.profile or case.name}"
        name = self._templates.setdefault(wanted, label if label not in self.tasks else f"{label}-{wanted[:6]}")
        self._needed.setdefault(name, []).append(needed)
        if name in self.tasks:
            return name
        now = cache(lambda: template_inputs(setup, contents, self.lane))

        def missing() -> bool:
            return any(asks() for asks in self._needed[name]) and not self.kept("template", digest(now()))

        def make() -> None:
            from evalkit.execute.stages import make_template

            self.make_once("template", digest(now()), missing,
                           lambda: make_template(session, setup, inputs=now(), lane=self.lane))

        after = self.toolchains(setup) if setup.scaffold.command else []
        return self.add(name, make, now=now, lacks=lambda _: GONE if missing() else "", part_of="template", after=after,
                        doc="scaffolds the tree that every workspace of the profile starts from",
                        pool=lambda: "build" if missing() else None)

    # ---- what came of it ----
    def trials_of(self, name: str) -> list[TrialTasks]:
        """The trials that a task `case:…` or `result:…` is the result of; none for any other."""
        results = self.tasks[name].task_dep if name.startswith("case:") else [name]
        return [self._by_result[result] for result in results if result in self._by_result]

    def failure(self, trial: Trial) -> Failure | None:
        """Why a trial has no result: the first task on its way that could not do its work."""
        waiting, seen = [name_of("result", trial)], set()
        while waiting:
            name = waiting.pop()
            if name in self.failures:
                return self.failures[name]
            if name not in seen and name in self.tasks:
                seen.add(name)
                waiting += self.tasks[name].task_dep
        return None


def _checkout_of(toolchain: Toolchain) -> list[str]:
    return [toolchain.checkout.folder] if toolchain.checkout is not None else []


def _one_line(text: str) -> str:
    return " ".join(text.split())
