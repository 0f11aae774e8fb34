"""A trial in a line, and the summary of a run: a line for every trial.

A line is made from the plain data of result.json: of a thousand results a line each, without making objects of all that
they hold. It has what the statistics of a unit need too (aggregate.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from evalkit.grade.verdict import Status
from evalkit.records import SCHEMA
from evalkit.report.row import Row, RowStatus
from evalkit.values import Value, field, fields_of

__all__ = ["STATUSES", "RunSummary", "TrialSummary", "json_text", "line_of", "line_of_row", "line_text",
           "summary_text"]

STATUSES: tuple[RowStatus, ...] = ("pass", "fail", "contaminated", "error", "not run")
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class TrialSummary(Value):
    """A trial in a line. place: its folder under results/<run>/. judge: the scores of its judges, 0 to 10.

    ended: how the agent's run ended; "" where the trial has no result, and `reason` says why. scores: by judge.
    measures: the numbers of a check, 0 to 1, by check and name.
    turns, tokens (by kind), cost (US dollars), seconds: the agent's own; None, or no such key, where nobody knows.
    failed_cost: of attempts that a provider failed. judge_cost: of judging, at the time when it was done,
    and judge_calls: how many answers of judges it was paid for.
    played: the file that played the model's part, "" where a model was asked.
    retries: of the agent and of judges' calls. must_fail: the checks that a known wrong answer has to fail.
    tier: the case's, "" where it has none. agent_version, finished_at (ISO 8601): of the agent's run, "" where there
    is no result.
    """

    place: str
    case: str
    unit: str
    suite: str
    agent: str
    model: str | None
    trial: int
    lane: str
    self_check: bool
    note: str
    dry: bool
    status: RowStatus
    reason: str
    checks: dict[str, Status]
    judge: tuple[float, ...]
    turns: int | None
    cost: float | None
    seconds: float
    ended: str = ""
    scores: dict[str, float] = field(factory=dict)
    measures: dict[str, dict[str, float]] = field(factory=dict)
    tokens: dict[str, int] = field(factory=dict)
    failed_cost: float | None = 0.0
    judge_cost: float | None = 0.0
    retries: int = 0
    must_fail: tuple[str, ...] = ()
    judge_calls: int = 0
    played: str = ""
    tier: str = ""
    agent_version: str = ""
    finished_at: str = ""


class RunSummary(Value):
    """summary.json. counts: trials by status. tiers: by suite, tier and subject how many trials passed, and of how many
    that is known (`graded`)."""

    run: str
    counts: dict[RowStatus, int]
    trials: tuple[TrialSummary, ...]
    tiers: dict[str, dict[str, dict[str, dict[str, int]]]] = field(factory=dict)


def line_of(result: Mapping[str, Any], place: str) -> TrialSummary:
    """The line of a trial, from the data of its result.json. Raises KeyError or TypeError where that does not fit."""
    ending, checks = _of(result, "ending", dict), _of(result, "checks", list)
    usage = _of(ending, "usage", dict)
    verdicts = {_of(check, "id", str): _of(check, "verdict", dict) for check in checks}
    scores = {name: float(verdict["score"]) for name, verdict in verdicts.items()
              if _of(verdict, "score", *_NUMBER) is not None}
    measures = {name: {_of(item, "name", str): float(_of(item, "value", float, int)) for item in verdict["measures"]}
                for name, verdict in verdicts.items() if verdict.get("measures")}
    judgings = [verdict["judging"] for verdict in verdicts.values() if _of(verdict, "judging", dict, type(None))]
    failed = result.get("failed") or []
    return TrialSummary(
        place=place, case=_of(result, "case", str), unit=_of(result, "unit", str), suite=_of(result, "suite", str),
        agent=_of(result, "agent", str), model=_of(result, "model", str, type(None)), trial=_of(result, "trial", int),
        lane=_of(result, "lane", str), self_check=_of(result, "self_check", bool), note=_of(result, "note", str),
        dry=_of(result, "dry", bool), status=_known(result, STATUSES), reason=_of(result, "reason", str),
        checks={name: _known(verdict, ("pass", "fail", "skipped", "error")) for name, verdict in verdicts.items()},
        judge=tuple(scores.values()), turns=_of(usage, "turns", int, type(None)), cost=_of(usage, "cost", *_NUMBER),
        seconds=_of(result, "seconds", float, int), ended=_of(ending, "status", str), scores=scores, measures=measures,
        tokens={kind.removesuffix("_tokens"): usage[kind] for kind in _TOKENS
                if _of(usage, kind, int, type(None)) is not None},
        failed_cost=_cost(failed), judge_cost=_cost([_of(judging, "usage", dict) for judging in judgings]),
        retries=len(failed) + (ending.get("retries") or 0) + sum(judging.get("retries", 0) for judging in judgings),
        must_fail=tuple(result.get("must_fail") or ()), judge_calls=sum(map(_calls, verdicts.values())),
        played=result.get("played") or "", tier=result.get("tier") or "",
        agent_version=result.get("agent_version") or "", finished_at=result.get("finished_at") or "")


def line_of_row(row: Row, place: str) -> TrialSummary:
    """The line of a trial that has no result. What it spent all the same belongs to attempts that failed."""
    spent = 0.0 if row.cost is None and (row.model is None or row.status == "not run") else row.cost
    return TrialSummary(
        place=place, case=row.case, unit=row.unit, suite=row.suite, agent=row.agent, model=row.model, trial=row.trial,
        lane=row.lane, self_check=row.self_check, note=row.note, dry=row.dry, status=row.status, reason=row.reason,
        checks={}, judge=(), turns=None, cost=None, seconds=0.0, failed_cost=spent, retries=row.retries,
        played=row.played, tier=row.tier)


def line_text(line: TrialSummary) -> bytes:
    """A line as it stands in summary.json: JSON without line ends. Checks keep the order of their case."""
    return orjson.dumps({name: getattr(line, name) for name in _FIELDS})


def summary_text(run: str, statuses: Iterable[str], lines: Iterable[bytes]) -> bytes:
    """summary.json, from the status and the text of each line."""
    counts: dict[str, int] = dict.fromkeys(STATUSES, 0)
    for status in statuses:
        counts[status] += 1
    lines = list(lines)
    data = {"schema": SCHEMA, "run": run, "counts": counts, "tiers": _tiers(lines),
            "trials": [orjson.Fragment(line) for line in lines]}
    return json_text(data)


def _tiers(lines: Iterable[bytes]) -> dict[str, Any]:
    """Pass rates by suite, tier and subject, of those lines that have a tier."""
    trials: dict[str, list[tuple[str, str, str]]] = {}
    for line in lines:
        if _NO_TIER not in line:
            told = orjson.loads(line)
            subject = told["agent"] if told["model"] is None else f"{told['agent']} {told['model']}"
            subject += f" played from {told['played']}" if told["played"] else ""
            trials.setdefault(told["suite"], []).append((told["tier"], subject, told["status"]))
    if not trials:
        return {}
    from evalkit.report.tiers import rates

    return {suite: {tier: {subject: rate._asdict() for subject, rate in of_tier.items()}
                    for tier, of_tier in rates(of_suite).items()} for suite, of_suite in trials.items()}


def json_text(data: Mapping[str, Any]) -> bytes:
    """A report as it is written: indented, keys sorted."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


_NO_TIER = b'"tier":""'
_FIELDS = tuple(sorted(item.name for item in fields_of(TrialSummary)))
_NUMBER = (float, int, type(None))


def _of(data: Mapping[str, Any], name: str, *kinds: type) -> Any:
    value = data[name]
    if type(value) not in kinds:
        raise TypeError(f"`{name}` is a {type(value).__name__}")
    return value


def _known(data: Mapping[str, Any], statuses: Sequence[str]) -> Any:
    if data["status"] not in statuses:
        raise TypeError(f"`status` is {data['status']!r}")
    return data["status"]


def _calls(verdict: Mapping[str, Any]) -> int:
    """How many answers of models a verdict rests on; that of an earlier evalkit has one."""
    votes = sum(bool(vote["judging"]) for vote in verdict.get("votes") or ())
    return max(votes, int(bool(verdict["judging"])))


def _cost(usages: Sequence[Mapping[str, Any]]) -> float | None:
    """Dollars for all of these; None where the cost of one is not known."""
    costs = [_of(usage, "cost", *_NUMBER) for usage in usages]
    return None if None in costs else sum(costs, 0.0)
