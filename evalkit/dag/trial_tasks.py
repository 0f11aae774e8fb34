"""The tasks of one trial: workspace -> agent -> a grade a check, a judge a rubric -> result."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit import __version__
from evalkit.analysis.model import Check, ExistsSpec, GrepSpec, Judge, SnapshotSpec, TranscriptSpec
from evalkit.dag.tasks import Graph, name_of
from evalkit.dag.uptodate import GONE, OTHER
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute.outcome import TRANSCRIPT, TREE, AgentRecord, agent_record
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.grader import grade_check, grader_files, grader_version
from evalkit.grade.recording import Recording, kept_recording, reads_transcript, why_none
from evalkit.grade.verdict import Grade
from evalkit.plan.keys import Inputs, agent_inputs, grade_inputs, judge_inputs, workspace_inputs
from evalkit.plan.trials import Trial
from evalkit.records import read_plain, read_record, write_bytes, write_record
from evalkit.report.result import TrialResult, build_result
from evalkit.report.row import Row, row_of
from evalkit.values import evolve

if TYPE_CHECKING:
    from evalkit.execute.agents.base import Agent
    from evalkit.execute.live_lane import LiveLane
    from evalkit.execute.warm import Warm

__all__ = ["TrialTasks"]

_KEPT = ((TRANSCRIPT, TRANSCRIPT), (TREE, "workspace.tar.zst"))
"""Files of an agent run in the store, and what they are called in the results."""
_SMALL = 1 << 20
"""Bytes of a file that is copied at once."""
_LONG = 4 << 20
"""Bytes of a transcript whose audit is no matter of a moment."""
_QUICK = (GrepSpec, ExistsSpec, TranscriptSpec)
"""Checks that at most read some files: they work inline. The others run commands."""


class TrialTasks:
    """Makes the tasks of a trial, and holds what they share: the trial's inputs, its agent run, its final tree.

    read: the paths of the project (and the checkouts) whose contents are inputs of its tasks.
    """

    def __init__(self, graph: Graph, trial: Trial, agent: Agent) -> None:
        self.graph = graph
        self.session = graph.session
        self.agent = agent
        self.read: set[str] = {toolchain.checkout.folder for toolchain in trial.case.setup.toolchains
                               if toolchain.checkout is not None}
        self.contents = graph.contents_for(self.read)
        self.samples = graph.samples
        self.trial = graph.samples.current(trial, self.contents)
        self.case = trial.case
        self.setup = trial.case.setup
        self.folder = self.session.places.results / trial.id
        self._grades: dict[str, Grade] = {}

    # ---- what they share ----
    @cached_property
    def inputs(self) -> Inputs:
        """Of the agent run. Taken once: all tasks of a run see one state of the project."""
        return agent_inputs(self.trial, self.contents)

    @cached_property
    def key(self) -> str:
        return digest(self.inputs)

    @cached_property
    def workspace(self) -> Inputs:
        return workspace_inputs(self.setup, self.contents, self.trial.traits.skills_folder, self.trial.lane)

    @cached_property
    def _record(self) -> AgentRecord:
        record = agent_record(self.session, self.key)
        if record is None:
            raise HarnessError("the agent has not run yet")
        return record

    @cached_property
    def _tree(self) -> FinalTree:
        record = self._record
        return FinalTree(self.session, record.key, record.tree, lane=self.trial.lane, warm=self._warm)

    @property
    def _warm(self) -> Warm | None:
        if self.trial.lane == "local":
            return None
        from evalkit.execute.warm import warm_for

        return warm_for(self.session, self.setup, self.trial.lane, self.contents)

    @cached_property
    def _live(self) -> LiveLane:
        """Where its live checks run."""
        from evalkit.execute.live_lane import live_lane

        return live_lane(self.session.places, self.trial.lane, skip=self.graph.skip_live)

    @cached_property
    def _recording(self) -> Recording:
        return kept_recording(self.session, self._record.key, why_none(self.trial.subject, dry=self.trial.dry))

    def _name(self, kind: str, check: str = "") -> str:
        return name_of(kind, self.trial, check)

    # ---- tasks ----
    def add(self) -> str:
        """Add all tasks of the trial; the name of its result's."""
        agent = self._add_agent(self._add_workspace())
        parts = [self._add_grade(check, agent) for check in self.case.checks]
        parts += [self._add_judge(judge, agent) for judge in self.case.judges]
        return self._add_result([agent, *parts])

    def _add_workspace(self) -> str:
        graph, kept = self.graph, self.graph.kept

        def missing() -> bool:
            """An agent that has run already needs none."""
            return not kept("agent", self.key) and not kept("workspace", digest(self.workspace))

        def light() -> bool:
            from evalkit.execute.stages import is_light

            return is_light(self.session, self.setup, self.workspace)

        def make() -> None:
            from evalkit.execute.stages import make_workspace

            graph.make_once("workspace", digest(self.workspace), missing,
                            lambda: make_workspace(self.session, self.setup, inputs=self.workspace,
                                                   skills_folder=self.trial.traits.skills_folder,
                                                   lane=self.trial.lane), paid=not light())

        after = [graph.template(self.case, self.contents, missing)]
        if any(skill.command for skill in self.setup.skills):
            after += graph.toolchains(self.setup)
        return graph.add(self._name("workspace"), make, now=lambda: self.workspace, after=after,
                         lacks=lambda _: GONE if missing() else "", part_of="workspace",
                         doc="the template with the starter and the skills",
                         pool=lambda: "build" if missing() and not light() else None)

    def _add_agent(self, workspace: str) -> str:
        graph, agent, session = self.graph, self.agent, self.session

        def run() -> None:
            from evalkit.execute.stages import RETRIES, run_agent

            self.samples.begin(self.trial, self.contents)
            record = run_agent(session, self.trial, agent, inputs=self.inputs, failed=self.folder / "failed",
                               policy=evolve(RETRIES, retries=graph.retries))
            if agent.traits.idle:  # what it leaves is known without that it is read
                self.__dict__["_record"] = record

        def work() -> None:
            graph.make_once("agent", self.key, lambda: not graph.kept("agent", self.key), run,
                            paid=agent.traits.sampled)

        after = [workspace]
        if agent.toolchain is not None:
            after.append(graph.toolchain(agent.toolchain))
        if agent.traits.builds:
            after += graph.toolchains(self.setup)

        def pool() -> str | None:
            """One that builds with real tools takes the place of a build; others wait for models."""
            if not agent.traits.sampled or graph.kept("agent", self.key):
                return None
            return "build" if agent.traits.builds and self.setup.prewarm else "agent"

        return graph.add(self._name("agent"), work, now=lambda: self.inputs, after=after, pool=pool,
                         lacks=lambda _: "" if graph.kept("agent", self.key) else GONE,
                         doc=f"{self.trial.subject.shown} at work", part_of="agent")

    def _add_grade(self, check: Check, after: str) -> str:
        place = self.folder / f"grades/{check.id}.json"
        inputs: Inputs = {}
        reads, looks = reads_transcript(check), isinstance(check.spec, SnapshotSpec)

        def now() -> Inputs:
            if not inputs:
                inputs.update(grade_inputs(self.case, check, self._record.tree.files, grader_version(check.spec),
                                           self.trial.lane, self.contents, self._recording.input if reads else "",
                                           self._live.shows if looks else None))
            return inputs

        def work() -> dict[str, Any]:
            return self._keep(place, grade_check(self.case, check, self._tree, now(), self.trial.lane,
                                                 self._recording if reads else None, self.folder / "screenshots",
                                                 self._live if looks else None))

        def pool() -> str | None:
            return "build" if not looks or not (self._live.cannot or self.setup.live is None) else None

        return self.graph.add(self._name("grade", check.id), work, now=now, targets=[place],
                              lacks=partial(_lacks, place),
                              after=[after, *self.graph.toolchains(self.setup)], doc=check.description or check.kind,
                              part_of=self._name("result"),
                              pool=None if isinstance(check.spec, _QUICK) else pool)

    def _add_judge(self, judge: Judge, after: str) -> str:
        from evalkit.grade.judge import VERSION, grade_judge  # it imports what asks models

        choice = self.graph.judge
        place = self.folder / f"judge/{judge.id}.json"
        models = choice.models(self.case, judge)
        state = choice.state(models)
        if state == "on" and not choice.asked and judge.on_request:
            state = "it judges on request alone: judge=on"
        if state == "on" and not choice.asked and self.trial.subject.model is None:
            state = "a known answer is judged only with judge=on"
        told = self.graph.toolchains(self.setup) if judge.told_by and state == "on" else []
        inputs: Inputs = {}

        def now() -> Inputs:
            if not inputs:
                inputs.update(judge_inputs(self.case, judge, self._record.tree.files, models, VERSION, state,
                                           {what: self.contents(path) for what, path in choice.given}, self.contents))
            return inputs

        def work() -> dict[str, Any]:
            return self._keep(place, grade_judge(self.case, judge, self._tree, now(), digest(now()), state=state,
                                                 models=models, endpoint=choice.endpoint, places=choice.places))

        return self.graph.add(self._name("judge", judge.id), work, now=now, targets=[place],
                              after=[after, *told],
                              lacks=partial(_lacks, place), doc=judge.title or "judge",
                              part_of=self._name("result"), pool=lambda: "judge" if state == "on" else None)

    def _keep(self, place: Path, grade: Grade) -> dict[str, Any]:
        write_record(place, grade, sync=False)
        self._grades[place.name] = grade
        return {"status": grade.verdict.status, "summary": grade.verdict.summary}

    # ---- the result ----
    @property
    def _is_audited(self) -> bool:
        """Whether somebody worked who may have seen what he must not see: a known answer is laid down by us."""
        return not why_none(self.trial.subject, dry=self.trial.dry)

    @cached_property
    def _places(self) -> list[Path]:
        """The files of its grades."""
        return [*(self.folder / f"grades/{check.id}.json" for check in self.case.checks),
                *(self.folder / f"judge/{judge.id}.json" for judge in self.case.judges)]

    def _all_grades(self) -> list[Grade]:
        return [self._grades.get(place.name) or read_record(place, Grade) for place in self._places]

    def _copies(self) -> Iterator[tuple[Path, Path]]:
        """The files of the agent run that are shown beside the result, as they are in the store and there."""
        entry = self.session.store.open("agent", self.key, only=[source for source, _ in _KEPT])
        if entry is None:
            raise HarnessError("the agent run in the store is damaged", hint="run again: it is made again")
        for source, name in _KEPT:
            if (entry / source).is_file():
                yield entry / source, self.folder / name

    def _add_result(self, after: list[str]) -> str:
        place = self.folder / "result.json"
        family = self.graph.families.get(self.case.name, (self.case,))
        checked: Inputs = {}

        def now() -> Inputs:
            nonlocal checked
            try:
                verdicts = {f"verdict of {grade.check}": digest([grade.key, evolve(grade, seconds=0.0)])
                            for grade in self._all_grades()}
            except FileNotFoundError:
                raise HarnessError("its checks have not been graded yet") from None
            judged: list[Check | Judge] = [*self.case.checks, *self.case.judges]
            shown = {f"check {item.id}": digest(item) for item in judged}
            declared = digest(self.case.wrongs) if self.trial.subject.wrong else ""
            record = self._record
            inputs = {"agent run": record.key, "ending": digest(record.ending), "tree": record.tree_digest,
                      "wrong answers": declared, **verdicts, **shown,
                      **({} if self.case.tier is None else {"tier": self.case.tier})}
            if self._is_audited:
                inputs |= self.graph.auditor.inputs(self.case, family, self.contents, self._recording)
            checked = inputs
            return inputs

        def work() -> dict[str, Any]:
            for source, target in self._copies():
                _copy(source, target)
            audit = self.graph.auditor.audit(self.session, self.case, family, self.contents, self._recording) \
                if self._is_audited else None
            result = build_result(self.trial, self._record, self._all_grades(), __version__, audit,
                                  key=digest(checked or now()))
            write_record(place, result, sync=False)
            self._row = row_of(result, self.trial.id)
            self._grades.clear()  # of thousands of trials, this is most of what is held
            for name in ("_record", "_tree", "_recording", "_places"):
                self.__dict__.pop(name, None)
            return {"status": "", "verdict": result.status}

        def lacks(inputs: Inputs) -> str:
            return _lacks(place, inputs) or ("" if all(_same(*copy) for copy in self._copies()) else GONE)

        def pool() -> str | None:
            """To audit a long transcript takes a while."""
            path = self._recording.path if self._is_audited else None
            return "build" if path is not None and path.stat().st_size > _LONG else None

        return self.graph.add(self._name("result"), work, now=now, lacks=lacks, targets=[place], after=after, pool=pool,
                              doc=f"{self.case.name} by {self.trial.subject.shown}", part_of="result")

    _row: Row | None = None

    def result(self) -> TrialResult | None:
        """The trial's result as it is on disk, if it belongs to the agent run that is current."""
        with contextlib.suppress(FileNotFoundError, HarnessError):
            found = read_record(self.folder / "result.json", TrialResult)
            return found if found.agent_key == self.key else None
        return None

    def row(self) -> Row | None:
        """The trial's line in the table, where it has a result."""
        if self._row is None and (result := self.result()) is not None:
            self._row = row_of(result, self.trial.id)
        return self._row

    def made(self) -> Iterator[Path]:
        """All files that came of its tasks and have to be there."""
        yield self.session.store.path("agent", self.key)
        for toolchain in (*self.setup.toolchains, *([self.agent.toolchain] if self.agent.toolchain else ())):
            if (installed := self.graph.installed(toolchain)) is not None:
                yield from (installed.folder, installed.folder / "installed.json")
        yield from getattr(self.agent, "files", ())
        for check in self.case.checks:
            yield from grader_files(check.spec)
        if self.trial.lane == "sandbox" and any(isinstance(check.spec, SnapshotSpec) for check in self.case.checks):
            yield from (path for path in (self._live.record, self._live.declared) if path is not None)
        yield self.folder / "result.json"
        yield from self._places
        for _, target in self._copies():
            yield target
        yield self.folder.parent / "aggregate.json"
        if self.trial.traits.sampled:
            yield self.samples.place(self.trial, self.contents)


def _lacks(place: Path, inputs: Inputs) -> str:
    """Why a record of ours is not what a task with these inputs has made, "" where it is: then it stays.

    A folder of results can be another one than that of the last run, though its files are whole: restored from a backup
    or a cache, or merged.
    """
    try:
        known = read_plain(place).get("key")
    except (FileNotFoundError, HarnessError):
        return GONE
    return "" if known == digest(inputs) else OTHER


def _same(source: Path, target: Path) -> bool:
    """Whether there are two files that hold the same."""
    try:
        if source.stat().st_size != target.stat().st_size:
            return False
        if source.stat().st_size <= _SMALL:
            return source.read_bytes() == target.read_bytes()
        import filecmp

        return filecmp.cmp(source, target, shallow=False)
    except OSError:
        return False


def _copy(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all; one that holds the same already is left alone."""
    try:
        if source.stat().st_size <= _SMALL:
            write_bytes(target, source.read_bytes(), sync=False)
            return
        if _same(source, target):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            shutil.copyfile(source, beside)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise HarnessError(f"cannot write {target}: {error.strerror or error}",
                           hint="is the disk full, or the folder read-only?") from error
