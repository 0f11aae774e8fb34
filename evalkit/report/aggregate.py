"""The statistics of a unit's trials with a subject: counts, means and sums; pure.

Only trials that passed or failed count in the pass rate. A trial in error, one that did not run, or one whose agent saw
what it must not see (contaminated) says nothing about who was measured; nor does a check that was skipped or in error.
A sum is of what is known, and how many trials' part of it is not known stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalkit.grade.verdict import Status
from evalkit.report.row import RowStatus
from evalkit.report.summary import STATUSES, TrialSummary
from evalkit.values import Value

__all__ = ["Aggregate", "aggregate"]

_CHECK_STATUSES: tuple[Status, ...] = ("pass", "fail", "skipped", "error")


class Aggregate(Value):
    """aggregate.json. trials: by status. pass_rate: of those that passed or failed, 0 to 1; None where none did.

    checks: how often each check came to what. judges: each judge's mean score, 0 to 10; judge: the mean of all scores;
    None where there is none. missed: for each check that a known wrong answer must fail, the trials in which it passed.
    capped, timeouts: agents' runs that a limit ended. seconds: the agent's own time.
    cost, failed_cost, judge_cost: US dollars, for the agent's runs, for attempts that a provider failed, and for
    judging at the time when it was done. tokens: the agent's, by kind. retries: of the agent and of judges' calls.
    unknown: of how many trials turns, tokens or a cost are not known. played: the file that played the model's part:
    then nothing was paid; "" where a model was asked.
    """

    run: str
    case: str
    unit: str
    suite: str
    agent: str
    model: str | None
    self_check: bool
    dry: bool
    lanes: tuple[str, ...]
    trials: dict[RowStatus, int]
    pass_rate: float | None
    checks: dict[str, dict[Status, int]]
    judges: dict[str, float]
    judge: float | None
    missed: dict[str, int]
    capped: int
    timeouts: int
    turns: int
    tokens: dict[str, int]
    cost: float
    failed_cost: float
    judge_cost: float
    seconds: float
    retries: int
    unknown: dict[str, int]
    played: str = ""


def aggregate(run: str, lines: Sequence[TrialSummary]) -> Aggregate:
    """The statistics of the trials of one unit with one subject: at least one."""
    first = lines[0]
    trials = {status: sum(line.status == status for line in lines) for status in STATUSES}
    counted = trials["pass"] + trials["fail"]
    scores: dict[str, list[float]] = {}
    told = [line for line in lines if line.status != "contaminated"]
    for line in told:
        for judge, score in line.scores.items():
            scores.setdefault(judge, []).append(score)
    called = [line for line in lines if line.ended and line.model is not None and not line.dry]
    return Aggregate(
        run=run, case=first.case, unit=first.unit, suite=first.suite, agent=first.agent, model=first.model,
        self_check=first.self_check, dry=first.dry, lanes=tuple(sorted({line.lane for line in lines})),
        trials=trials, pass_rate=trials["pass"] / counted if counted else None, checks=_by_check(told),
        judges={judge: _mean(found) for judge, found in scores.items()},
        judge=_mean([score for found in scores.values() for score in found]) if scores else None,
        missed={check: sum(line.checks.get(check) == "pass" for line in lines)
                for check in dict.fromkeys(check for line in lines for check in line.must_fail)},
        capped=sum(line.ended == "capped" for line in lines), timeouts=sum(line.ended == "timeout" for line in lines),
        turns=sum(line.turns or 0 for line in lines), tokens=_tokens(lines), cost=_dollars(line.cost for line in lines),
        failed_cost=_dollars(line.failed_cost for line in lines),
        judge_cost=_dollars(line.judge_cost for line in lines), seconds=round(sum(line.seconds for line in lines), 3),
        retries=sum(line.retries for line in lines),
        unknown={"turns": sum(line.turns is None for line in called), "tokens": sum(not line.tokens for line in called),
                 "cost": sum(line.cost is None for line in called),
                 "failed_cost": sum(line.failed_cost is None for line in lines),
                 "judge_cost": sum(line.judge_cost is None for line in lines)}, played=first.played)


def _by_check(lines: Iterable[TrialSummary]) -> dict[str, dict[Status, int]]:
    found: dict[str, dict[Status, int]] = {}
    for line in lines:
        for check, status in line.checks.items():
            found.setdefault(check, dict.fromkeys(_CHECK_STATUSES, 0))[status] += 1
    return found


def _tokens(lines: Iterable[TrialSummary]) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in lines:
        for kind, count in line.tokens.items():
            found[kind] = found.get(kind, 0) + count
    return found


def _mean(scores: Sequence[float]) -> float:
    return round(sum(scores) / len(scores), 4)


def _dollars(costs: Iterable[float | None]) -> float:
    return round(sum(cost for cost in costs if cost is not None), 6)
