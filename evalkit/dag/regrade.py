"""Regrading: the stored trials of a run, graded by their units' checks as they stand now. No agent runs.

For each trial under results/<run>/ the keys of its checks are computed as they are now, from the final tree's digests
(stored.py). A verdict whose key is the same still holds, whether it is the run's own or one of an earlier regrading; an
error never holds. The others are made anew. What came of it is written as regrade.json beside result.json, which stays
as it was: a kill loses at most the trials that are at work.

Checks that only read files work in the one loop that goes through the trials, which reads each file once; commands and
judges go to a pool of threads, a few trials ahead. Of a tree that was rebuilt from a transcript, a check that reads
what is doubtful is an error, and says why. A judge is asked only where judging is on; an answer that was kept, or a
verdict that still holds, is used in any case.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
from attrs import define, frozen

from evalkit import __version__
from evalkit.analysis.index import case_of
from evalkit.analysis.model import (
    CallsSpec,
    Case,
    Check,
    ExistsSpec,
    GrepSpec,
    Judge,
    PluginSpec,
    ScoreSpec,
    SnapshotSpec,
    StateSpec,
    TranscriptSpec,
)
from evalkit.dag.old_verdicts import holding, latest, old_key, old_statuses, why
from evalkit.dag.stored import Found, StoredTrial, Trees, stored_trials
from evalkit.dag.summing_up import page_is_behind
from evalkit.diagnostics import did_you_mean
from evalkit.digest import digest
from evalkit.errors import EvalkitError, Exit, HarnessError, UserError
from evalkit.execute.checkout import with_checkouts
from evalkit.execute.live_lane import LiveLane, live_lane
from evalkit.execute.outcome import TRANSCRIPT, Ending
from evalkit.grade.audit_record import Audit
from evalkit.grade.auditor import Auditor
from evalkit.grade.grader import grade_check, grader_version, lane_names
from evalkit.grade.judge import VERSION as JUDGE_VERSION
from evalkit.grade.judge import answer_keys, grade_judge
from evalkit.grade.recording import Recording, kept_recording, reads_transcript, recording_at, why_none
from evalkit.grade.stored_tree import ArchivedTree, RebuiltTree
from evalkit.grade.verdict import Grade, Verdict, could_not_tell
from evalkit.plan.keys import Inputs, grade_inputs, judge_inputs
from evalkit.records import SCHEMA, Misfit, structure, unstructure, write_bytes
from evalkit.report.changes import TRIAL, Change, Changes
from evalkit.report.regraded import REGRADED, RegradedTrial
from evalkit.report.result import CheckResult, check_result, judge_result, trial_status

if TYPE_CHECKING:
    from evalkit.analysis.project import Project
    from evalkit.dag.tasks import JudgeChoice
    from evalkit.execute.session import Session

__all__ = ["Regraded", "regrade"]

_INLINE = (GrepSpec, ExistsSpec, TranscriptSpec)
"""Checks that at most read some files; the others may run commands."""
_NOWHERE = LiveLane("it is no live check")
_AHEAD = 2
"""Trials a thread that wait for their commands and judges at the same time."""
_SHOWN_NOTES = 5
"""Notes of a trial that are shown; all of them are in its regrade.json."""


@frozen
class Regraded:
    """What a regrading came to: for the table, and the exit status by the new verdicts."""

    changes: Changes
    status: Exit


def regrade(project: Project, session: Session, judge: JudgeChoice, run: str, *, cases: Collection[str] | None = None,
            checks: Collection[str] | None = None, jobs: int = 2, asking: int = 10,
            done: Callable[[int], None] = lambda trials: None, skip_live: bool = False) -> Regraded:
    """Grade a run's stored trials again. The caller is alone in the project: what killed runs left is cleared away.

    cases: beginnings of the names of the units to regrade; checks: ids of checks and judges; None: all. jobs,
    asking: commands, and judges, at a time. skip_live: no app is shown. done: is told after each trial how many are
    done. What is wrong with single trials is in the notes, and makes the status that of an error.
    Raises UserError where the run has no such trial, or no unit such a check.
    """
    return _Regrading(project, session, judge, run, cases, checks, {"run": jobs, "ask": asking}, done, skip_live).all()


@define
class _Pending:
    """A trial at work: its checks and judges with their grades, which may still be made by another thread."""

    trial: StoredTrial
    unit: _Unit
    found: Found
    audit: Audit | None
    grades: list[tuple[Check | Judge, Grade | Future[Grade]]]
    fresh: set[str]


class _Regrading:
    def __init__(self, project: Project, session: Session, judge: JudgeChoice, run: str,
                 cases: Collection[str] | None, checks: Collection[str] | None,
                 threads: Mapping[str, int], done: Callable[[int], None], skip_live: bool) -> None:
        self.project = project
        self.session = session
        self.judge = judge
        self.run = run
        self.cases = tuple(cases or ())
        self.checks = frozenset(checks) if checks else None
        self.threads = threads
        self.done = done
        self.contents = cache(session.contents)
        self.trees = Trees(session, self.contents)
        self.auditor = Auditor()
        self.units: dict[str, _Unit | None] = {}
        self.known_checks: set[str] = set()
        self.found: list[Change] = []
        self.notes: list[str] = []
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()
        self.graded = self.kept = 0
        self.problems: list[Exit] = []
        self.unjudged = False
        """Whether a judge that was asked for could not judge."""
        self.pools: dict[str, ThreadPoolExecutor] = {}
        self.skip_live = skip_live
        self.lanes: dict[str, LiveLane] = {}

    def all(self) -> Regraded:
        folder = self.session.places.results / self.run
        if not self.run.strip(".") or "/" in self.run or not folder.is_dir():
            results = self.session.places.results
            runs = [path.name for path in results.iterdir() if path.is_dir()] if results.is_dir() else []
            raise UserError(f"there is no run `{self.run}` under results/", hint=did_you_mean(self.run, runs))
        self.session.places.sweep()
        self.session.store.sweep()
        pending: deque[_Pending] = deque()
        try:
            for trial in stored_trials(folder, self._wanted):
                begun = self._begin(trial)
                if begun is not None:
                    pending.append(begun)
                while pending and (len(pending) > _AHEAD * max(self.threads.values()) or not _waits(pending[0])):
                    self._finish(pending.popleft())
            while pending:
                self._finish(pending.popleft())
        finally:
            for pool in self.pools.values():  # after an interrupt nobody waits for what is at work: it is ended
                pool.shutdown(wait=False, cancel_futures=True)
        return self._outcome()

    def _wanted(self, unit: str) -> bool:
        return not self.cases or unit.startswith(self.cases)

    def _outcome(self) -> Regraded:
        trials = sum(self.after.values())
        gone = sorted(name for name, unit in self.units.items() if unit is None)
        if not self.units and not self.problems:
            begins = f" of a case whose name begins with `{'` or `'.join(self.cases)}`" if self.cases else ""
            raise UserError(f"the run `{self.run}` has no trial{begins}")
        unknown = sorted(self.checks - self.known_checks) if self.checks is not None else []
        if unknown and not self.after and len(gone) < len(self.units):
            raise UserError(f"no case of these has the check `{unknown[0]}`",
                            hint=did_you_mean(unknown[0], self.known_checks))
        notes = [f"there is no `{name}` any more: it keeps its old verdicts" for name in gone]
        notes += [f"no case of these has the check `{name}`" for name in unknown]
        changed = Changes(self.run, trials, self.graded, self.kept, self.found, self.before, self.after,
                          [*self.notes, *notes])
        if self.problems and set(self.problems) == {Exit.BUDGET}:
            return Regraded(changed, Exit.BUDGET)
        if self.problems or self.after["error"] or self.unjudged:
            return Regraded(changed, Exit.HARNESS)
        failed = (self.after["fail"] or self.after["contaminated"]) and self.run != "dry"
        return Regraded(changed, Exit.CASE_FAILED if failed else Exit.OK)

    # ---- a trial ----
    def _begin(self, trial: StoredTrial) -> _Pending | None:
        """Begin with a trial, unless it is not to be regraded or cannot be."""
        unit = self._unit(trial.unit)
        if unit is None or (self.checks is not None and not self.checks & unit.ids):
            return None
        try:
            return self._work(trial, unit)
        except EvalkitError as error:
            self._problem(trial, error)
            return None

    def _work(self, trial: StoredTrial, unit: _Unit) -> _Pending:
        """Take what still holds, grade what only reads files, and give the rest to the pool. Raises EvalkitError."""
        trial.read()
        found = self.trees.of(trial, unit.case)
        recording = self._recording(unit, found, trial)
        work = _Pending(trial, unit, found, self._audit(trial, unit, recording), [], set())
        stale = []
        for check in unit.items:
            inputs, doubt = self._inputs(unit, check, found, trial, recording)
            held = holding(trial, check, inputs)
            if held is None and self.checks is not None and check.id not in self.checks:
                held = latest(trial, check)
                if held is None:
                    continue  # it was never graded, and is not asked for
            if held is not None:
                work.grades.append((check, held))
            else:
                work.fresh.add(check.id)
                stale.append((len(work.grades), check, inputs, doubt))
                work.grades.append((check, _NOT_YET))
        _hold(found, [check for _, check, _, doubt in stale if not doubt])
        for place, check, inputs, doubt in stale:
            work.grades[place] = (check, self._grade(trial, unit, check, found, inputs, doubt, recording))
        return work

    def _problem(self, trial: StoredTrial, error: EvalkitError) -> None:
        self.problems.append(error.exit_status)
        where = trial.folder.relative_to(self.session.places.results).as_posix()
        self.notes.append(f"{where} cannot be graded: {error.message.replace(f'{trial.folder}/', '')}")

    def _unit(self, name: str) -> _Unit | None:
        if name not in self.units:
            case = case_of(name)
            found = next((unit for unit in self.project.units.get(case, ()) if unit.unit == name), None)
            if found is not None:
                found = with_checkouts(found, self.session.root, self.session.environ)
                self.judge.check(found)
            unit = self.units[name] = None if found is None else _Unit(found)
            self.known_checks |= unit.ids if unit is not None else set()
        return self.units[name]

    def _recording(self, unit: _Unit, found: Found, trial: StoredTrial) -> Recording:
        """What the agent did, as the store or the results have it. Raises HarnessError."""
        why = why_none(trial.subject, dry=self.run == "dry")
        if why and not any(isinstance(check, Check) and reads_transcript(check) for check in unit.items):
            return Recording(None, why=why)
        if found.source == "store":
            with suppress(HarnessError):  # it is damaged: the results have a copy
                return kept_recording(self.session, found.tree.key, why)
        return recording_at(trial.folder / TRANSCRIPT, why)

    def _audit(self, trial: StoredTrial, unit: _Unit, recording: Recording) -> Audit | None:
        """Whether the agent saw what it must not see, by what it must not see now. Raises HarnessError."""
        if recording.why:
            return None
        family = self.project.units[unit.case.name]
        key = digest(self.auditor.inputs(unit.case, family, self.contents, recording))
        for record in (trial.earlier, trial.result):
            known = record.get("audit")
            if isinstance(known, dict) and known.get("key") == key:
                with suppress(Misfit):
                    return structure(known, Audit)
        return self.auditor.audit(self.session, unit.case, family, self.contents, recording)

    def _inputs(self, unit: _Unit, check: Check | Judge, found: Found, trial: StoredTrial,
                recording: Recording) -> tuple[Inputs, str]:
        """What the check is graded from, and why that is not known (for a rebuilt tree)."""
        case, files = unit.case, found.tree.manifest.files
        if isinstance(check, Check):
            inputs = grade_inputs(case, check, files, grader_version(check.spec), trial.lane, self.contents,
                                  recording.input, self._live(trial.lane, check).shows)
        else:
            models = self.judge.models(case, check)
            given = {what: self.contents(path) for what, path in self.judge.given}
            inputs = judge_inputs(case, check, files, models, JUDGE_VERSION, "on", given, self.contents)
            judging = self._judging(trial, check, models)
            if judging != "on" and not self._judged(inputs, trial, check, models):
                inputs = judge_inputs(case, check, files, models, JUDGE_VERSION, judging)
        doubt = _doubt(unit.case, check, found, trial.lane)
        return (inputs | {"rebuilt": doubt} if doubt else inputs), doubt

    def _judging(self, trial: StoredTrial, judge: Judge, models: Sequence[str]) -> str:
        """ "on", or why a judge is not asked."""
        state = self.judge.state(models)
        if state == "on" and not self.judge.asked and judge.on_request:
            state = "it judges on request alone: judge=on"
        if state == "on" and not self.judge.asked and trial.subject.model is None:
            return "a known answer is judged only with judge=on"
        return state

    def _judged(self, inputs: Inputs, trial: StoredTrial, judge: Judge, models: Sequence[str]) -> bool:
        """Whether a judge's verdict is to be had without asking: it holds, or its answers are kept."""
        return old_key(trial, judge.id) == digest(inputs) or all(
            self.session.store.has("judge", key) for key in answer_keys(inputs, models, judge.votes))

    # ---- grading ----
    def _grade(self, trial: StoredTrial, unit: _Unit, check: Check | Judge, found: Found, inputs: Inputs,
               doubt: str, recording: Recording) -> Grade | Future[Grade]:
        case = unit.case
        if doubt:
            kind = check.kind if isinstance(check, Check) else "judge"
            return Grade(check.id, kind, Verdict("error", doubt), digest(inputs), inputs, 0.0)
        if isinstance(check, Check):
            spec, lane = check.spec, trial.lane
            if isinstance(spec, _INLINE) or _skipped(case, check, lane) or "not shown" in inputs:
                return grade_check(case, check, found.tree, inputs, lane, recording, live=self._live(lane, check))
            return self._later("run", self._graded, case, check, found, inputs, lane, recording)
        if inputs["judging"] != "on":
            return grade_judge(case, check, found.tree, inputs, digest(inputs), state=inputs["judging"], models=())
        return self._later("ask", self._asked, case, check, found, inputs)

    def _later(self, pool: str, work: Callable[..., Grade], *args: Any) -> Future[Grade]:
        if pool not in self.pools:
            self.pools[pool] = ThreadPoolExecutor(self.threads[pool], thread_name_prefix=f"regrade-{pool}")
        return self.pools[pool].submit(work, *args)

    def _graded(self, case: Case, check: Check, found: Found, inputs: Inputs, lane: str, recording: Recording) -> Grade:
        try:
            self.trees.install(case.setup.toolchains)
        except HarnessError as error:
            return Grade(check.id, check.kind, could_not_tell(error), digest(inputs), inputs, 0.0)
        return grade_check(case, check, found.tree, inputs, lane, recording, live=self._live(lane, check))

    def _live(self, lane: str, check: Check) -> LiveLane:
        """Where apps of a lane are shown; who shows none need not know."""
        if not isinstance(check.spec, SnapshotSpec):
            return _NOWHERE
        if lane not in self.lanes:
            self.lanes[lane] = live_lane(self.session.places, lane, skip=self.skip_live)
        return self.lanes[lane]

    def _asked(self, case: Case, judge: Judge, found: Found, inputs: Inputs) -> Grade:
        choice = self.judge
        if judge.told_by:
            try:
                self.trees.install(case.setup.toolchains)
            except HarnessError as error:
                return Grade(judge.id, "judge", could_not_tell(error), digest(inputs), inputs, 0.0)
        return grade_judge(case, judge, found.tree, inputs, digest(inputs), state="on",
                           models=choice.models(case, judge), endpoint=choice.endpoint, places=choice.places)

    # ---- what came of it ----
    def _finish(self, work: _Pending) -> None:
        """Wait for a trial's grades, write them down and compare them with the old ones."""
        trial, unit = work.trial, work.unit
        try:
            grades = [(check, grade.result() if isinstance(grade, Future) else grade) for check, grade in work.grades]
            ending = trial.ending(work.found.ended)
        except EvalkitError as error:
            self._problem(trial, error)
            return
        results = [_result(check, grade) for check, grade in grades]
        status, reason = trial_status(ending, results, work.audit)
        self._write(work, [grade for _, grade in grades], ending, status, reason)
        self.graded += len(work.fresh)
        self.kept += len(grades) - len(work.fresh)
        self.after[status] += 1
        if self.judge.asked and any(isinstance(check, Judge) and result.verdict.status == "error"
                                    for (check, _), result in zip(grades, results, strict=True)):
            self.unjudged = True
        self._compare(trial, unit, grades, results, status, reason)
        self.done(sum(self.after.values()))
        if work.found.notes:
            where = trial.folder.relative_to(self.session.places.results).as_posix()
            shown = [*work.found.notes[:_SHOWN_NOTES],
                     *([f"and {len(work.found.notes) - _SHOWN_NOTES} more"]
                       if len(work.found.notes) > _SHOWN_NOTES else [])]
            self.notes += [f"{where}: {note}" for note in shown]

    def _write(self, work: _Pending, grades: list[Grade], ending: Ending, status: Any, reason: str) -> None:
        trial, files = work.trial, work.found.tree.manifest.files
        tree_digest = trial.result.get("tree_digest")
        record = RegradedTrial(
            unit=trial.unit, run=self.run, trial=trial.number, lane=trial.lane, agent=trial.subject.agent,
            model=trial.subject.model, status=status, reason=reason, ending=ending, grades=tuple(grades),
            tree=work.found.source, notes=work.found.notes, evalkit=__version__,
            tree_digest=str(tree_digest) if work.found.source == "store" else digest(files), audit=work.audit)
        data = orjson.dumps({"schema": SCHEMA, **unstructure(record)},
                            option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"
        if data != trial.written:
            page_is_behind(self.session.places.results / self.run)
            write_bytes(trial.folder / REGRADED, data, sync=False)  # it can be made again

    def _compare(self, trial: StoredTrial, unit: _Unit, grades: Sequence[tuple[Check | Judge, Grade]],
                 results: Sequence[CheckResult], status: str, reason: str) -> None:
        old = old_statuses(trial)
        before = str((trial.result or trial.earlier).get("status") or "")
        if before:
            self.before[before] += 1

        def note(check: str, was: str, now: str, why: str) -> None:
            self.found.append(Change(trial.unit, trial.subject.shown, trial.lane, trial.number, check, was, now, why))

        for (check, grade), result in zip(grades, results, strict=True):
            was, now = old.pop(check.id, ""), result.verdict.status
            if was and isinstance(check, Judge) and not trial.result and (earlier := latest(trial, check)) is not None:
                was = judge_result(check, earlier).verdict.status  # a regrading keeps it before its threshold
            if was != now:
                reason_of = why(trial, check, grade, was)
                note(check.id, was, now, ": ".join(part for part in (reason_of, _told(result.verdict)) if part))
        if self.checks is None:
            for name, was in old.items():
                note(name, was, "", "check is gone")
        if before != status:
            note(TRIAL, before, status, reason)


class _Unit:
    """A unit, and the ids of its checks and judges."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.items: tuple[Check | Judge, ...] = (*case.checks, *case.judges)
        self.ids = {item.id for item in self.items}


_NOT_YET = Grade("", "", Verdict("error", "not graded yet"), "", {}, 0.0)


def _hold(found: Found, checks: Sequence[Check | Judge]) -> None:
    """Read at once what these checks will read. Raises HarnessError."""
    if isinstance(found.tree, ArchivedTree):
        names: set[str] = set()
        for check in checks:
            if isinstance(check, Check) and isinstance(check.spec, GrepSpec):
                names.update(found.tree.matching(check.spec.globs))
        if names:
            found.tree.hold(names)


def _waits(work: _Pending) -> bool:
    return any(isinstance(grade, Future) and not grade.done() for _, grade in work.grades)


def _result(check: Check | Judge, grade: Grade) -> CheckResult:
    return check_result(check, grade) if isinstance(check, Check) else judge_result(check, grade)


def _skipped(case: Case, check: Check, lane: str) -> bool:
    return bool(case.skips(check)) or bool(check.lanes and not lane_names(lane) & set(check.lanes))


def _doubt(case: Case, check: Check | Judge, found: Found, lane: str) -> str:
    """Why what a check reads of a rebuilt tree is not known, or ""."""
    if not isinstance(found.tree, RebuiltTree):
        return ""
    if isinstance(check, Judge):
        return found.tree.rebuilt.doubt(check.files)
    spec = check.spec
    if _skipped(case, check, lane) or isinstance(spec, TranscriptSpec | CallsSpec) \
            or (isinstance(spec, SnapshotSpec) and case.setup.live is None):
        return ""
    if isinstance(spec, StateSpec):
        return "the application's state cannot be told from a transcript"
    if isinstance(spec, GrepSpec | ExistsSpec | PluginSpec):
        return found.tree.rebuilt.doubt(spec.globs or None)
    return found.tree.rebuilt.doubt((spec.answer,) if isinstance(spec, ScoreSpec) and spec.parses is None else None)


def _told(verdict: Verdict) -> str:
    """The line that tells most of a verdict."""
    lines = verdict.evidence.splitlines()
    return lines[0] if lines and verdict.status in ("pass", "fail") and verdict.score is None else verdict.summary
