"""A trial's result, put together from how the agent ended and what each check came to.

Rules: a check that is skipped or advisory decides nothing. An error of a deciding check makes the trial an error (the
harness could not tell), never a fail. A timeout is a fail, whatever the checks say. A trial of which nothing was graded
is an error: a case that grades nothing must not look like one that passes. What passed or failed by an agent that saw
what it must not see has done neither: it is contaminated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from evalkit.analysis.model import Check, Judge
from evalkit.execute.outcome import AgentRecord, Ending, Usage
from evalkit.grade.audit_record import Audit
from evalkit.grade.verdict import Grade, Verdict
from evalkit.plan.trials import Trial
from evalkit.values import Value, evolve

__all__ = ["SELF_CHECK", "CheckResult", "TrialResult", "TrialStatus", "build_result", "check_result", "judge_result",
           "trial_status"]

TrialStatus: TypeAlias = Literal["pass", "fail", "error", "contaminated"]
"""contaminated: the agent saw what it must not see, so that what the checks came to says nothing."""
SELF_CHECK = "self-check: reference answer, no model was called"
SELF_CHECK_JUDGED = "self-check: reference answer, no model was called but the judge"


class CheckResult(Value):
    """A check's verdict with what a reader needs to understand it."""

    id: str
    kind: str
    description: str
    advisory: bool
    verdict: Verdict
    seconds: float
    key: str


class TrialResult(Value):
    """result.json. status: what the trial came to; reason: why, in a line.

    audit: whether the agent saw what it must not see; None for a known answer, and in results of earlier versions.
    failed: what attempts of the agent consumed that a provider failed before the one that counts. must_fail: of a known
    wrong answer, the checks that have to fail. played: the file that played the model's part, "" where
    a model was asked. tier: the case's, "" where it has none. key: digest of the inputs that it was put together from,
    "" in results of earlier versions.
    """

    case: str
    unit: str
    suite: str
    run: str
    trial: int
    lane: str
    agent: str
    agent_version: str
    model: str | None
    self_check: bool
    note: str
    dry: bool
    status: TrialStatus
    reason: str
    ending: Ending
    seconds: float
    prewarm_seconds: float
    checks: tuple[CheckResult, ...]
    agent_key: str
    tree_digest: str
    left_out: tuple[str, ...]
    versions: dict[str, str]
    finished_at: str
    evalkit: str
    failed: tuple[Usage, ...] = ()
    must_fail: tuple[str, ...] = ()
    played: str = ""
    audit: Audit | None = None
    tier: str = ""
    key: str = ""

    @property
    def attempts(self) -> int:
        """How often the agent was started."""
        return len(self.failed) + 1

    @property
    def scores(self) -> list[float]:
        return [check.verdict.score for check in self.checks if check.verdict.score is not None]


def build_result(trial: Trial, record: AgentRecord, grades: Sequence[Grade], evalkit: str,
                 audit: Audit | None = None, key: str = "") -> TrialResult:
    """The result of a trial; `grades` are those of the case's checks and judges, in any order. key: of its inputs."""
    case = trial.case
    by_id = {grade.check: grade for grade in grades}
    checks = tuple(
        [check_result(check, by_id[check.id]) for check in case.checks]
        + [judge_result(judge, by_id[judge.id]) for judge in case.judges])
    status, reason = trial_status(record.ending, checks, audit)
    must_fail = sorted({check for wrong in case.wrongs if wrong.name == trial.subject.wrong for check in wrong.fails})
    note = _of_wrong_answer(must_fail, checks) if must_fail else ""
    if trial.subject.self_check:
        note = SELF_CHECK_JUDGED if any(check.verdict.score is not None for check in checks) else SELF_CHECK
    return TrialResult(
        case=case.name, unit=case.unit, suite=case.suite.name, run=trial.run, trial=trial.number, lane=trial.lane,
        agent=record.agent, agent_version=record.agent_version, model=record.model,
        self_check=trial.subject.self_check, note=note, dry=trial.dry,
        status=status, reason=reason, ending=record.ending, seconds=record.seconds,
        prewarm_seconds=record.prewarm_seconds, checks=checks, agent_key=record.key, tree_digest=record.tree_digest,
        left_out=record.tree.left_out, versions=record.versions, finished_at=record.finished_at, evalkit=evalkit,
        failed=record.failed, must_fail=tuple(must_fail), played=trial.subject.played,
        audit=audit, tier=case.tier or "", key=key,
    )


def check_result(check: Check, grade: Grade) -> CheckResult:
    """A check's grade with what the case says of the check."""
    return CheckResult(check.id, check.kind, check.description, check.advisory, grade.verdict, grade.seconds,
                       grade.key)


def judge_result(judge: Judge, grade: Grade) -> CheckResult:
    """A judge's grade, passed or failed by its threshold; without one every score passes."""
    verdict = grade.verdict
    if verdict.score is not None:
        verdict = evolve(verdict, status="pass")
    if verdict.score is not None and judge.threshold is not None:
        higher = judge.direction == "higher"
        passed = verdict.score >= judge.threshold if higher else verdict.score <= judge.threshold
        verdict = evolve(verdict, status="pass" if passed else "fail",
                         summary=f"{verdict.summary} (wanted {'' if higher else 'at most '}{judge.threshold})")
    return CheckResult(judge.id, "judge", judge.title, judge.advisory, verdict, grade.seconds, grade.key)


def _of_wrong_answer(must_fail: Sequence[str], checks: Sequence[CheckResult]) -> str:
    """Whether a known wrong answer is caught by the checks that its case names."""
    said = f"a known wrong answer: {', '.join(must_fail)} must fail"
    named = [check for check in checks if check.id in must_fail]
    missed = [f"{check.id} ({check.verdict.status})" for check in named
              if check.verdict.status not in ("fail", "skipped")]
    skipped = [check.id for check in named if check.verdict.status == "skipped"]
    if missed or (skipped and len(skipped) == len(named)):
        return f"{said}, but: {', '.join([*missed, *(f'{name} (skipped)' for name in skipped)])}"
    return f"{said}, and that is so" + (f" (skipped: {', '.join(skipped)})" if skipped else "")


def trial_status(ending: Ending, checks: Sequence[CheckResult], audit: Audit | None = None) -> tuple[TrialStatus, str]:
    """What a trial came to, and why, in a line. One in error is in error, whatever the agent saw: it runs again."""
    status, reason = _graded(ending, checks)
    if audit is None or not audit.contaminated or status == "error":
        return status, reason
    return "contaminated", f"{audit.reason}; graded, it would be a {status}"


def _graded(ending: Ending, checks: Sequence[CheckResult]) -> tuple[TrialStatus, str]:
    deciding = [check for check in checks if not check.advisory and check.verdict.status != "skipped"]
    errors = [check.id for check in deciding if check.verdict.status == "error"]
    failed = [check.id for check in deciding if check.verdict.status == "fail"]
    if ending.status == "timeout":
        return "fail", f"timeout: {ending.detail}"
    if errors:
        return "error", "could not be graded: " + ", ".join(errors) + (
            f"; failed: {', '.join(failed)}" if failed else "")
    if failed:
        return "fail", "failed: " + ", ".join(failed)
    if not deciding:
        return "error", "nothing was graded: every check was skipped or is advisory" + (
            ": `evalkit explain W010`" if checks and all(check.advisory for check in checks) else "")
    return "pass", f"passed {len(deciding)} of {len(checks)} checks" + (
        f", {len(checks) - len(deciding)} skipped or advisory" if len(deciding) < len(checks) else "")
