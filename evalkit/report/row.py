"""A trial as the table shows it: plain data, small enough to be kept for every trial and read a thousand at a time.

A row is made where a result was just put together; kept as JSON, it spares the next run the reading of result.json.
Texts are cut and made harmless to a terminal here, once. This module imports nothing but the standard library: the
table of a run that is up to date needs neither the classes of results nor what reads them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from evalkit.plan.trials import Trial
    from evalkit.report.result import CheckResult, TrialResult

__all__ = ["CheckRow", "Row", "RowStatus", "check_row", "failed_row", "one_line", "row_of"]

RowStatus: TypeAlias = Literal["pass", "fail", "contaminated", "error", "not run"]
EVIDENCE_LINES = 6
"""Lines of a check's evidence, and notes of a trial, that are shown."""
_FINDINGS = 3
"""Findings of the audit that are shown."""
LONGEST_LINE = 200
"""Characters of a line of evidence, and of what is said of a trial."""


class CheckRow(NamedTuple):
    """A check. said: what it is about. why: what it came to, where that is not said already.

    evidence: its first lines, of a check that is amiss; more: how many others there are.
    """

    id: str
    status: str
    said: str
    why: str = ""
    advisory: bool = False
    score: float | None = None
    evidence: tuple[str, ...] = ()
    more: int = 0

    @property
    def amiss(self) -> bool:
        return self.status in ("fail", "error")


class Row(NamedTuple):
    """A trial. place: its folder under results/, which is its id.

    ended, detail: how the agent's run ended; "" where the trial has no result, and `reason` says why.
    tokens: of all kinds together. turns, tokens, cost (US dollars): None where nobody knows. seconds: the agent's own.
    retries: calls and runs of the agent and the judges that were made again because a provider failed.
    played: the file that played the model's part, "" where a model was asked. tier: the case's, "" where it has none.
    """

    unit: str
    case: str
    suite: str
    agent: str
    model: str | None
    trial: int
    lane: str
    place: str
    status: RowStatus
    reason: str
    note: str = ""
    self_check: bool = False
    dry: bool = False
    ended: str = ""
    detail: str = ""
    checks: tuple[CheckRow, ...] = ()
    notes: tuple[str, ...] = ()
    turns: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    retries: int = 0
    played: str = ""
    tier: str = ""

    @property
    def subject(self) -> str:
        """Who was measured, as it is shown."""
        name = self.agent if self.model is None else f"{self.agent} {self.model}"
        return name + (f" played from {self.played}" if self.played else "")

    @property
    def scores(self) -> list[float]:
        """The judges' scores, 0 to 10."""
        return [check.score for check in self.checks if check.score is not None]

    @property
    def amiss(self) -> bool:
        """Whether something is not as it should be, so that the trial is worth telling of among others."""
        return self.status != "pass" or self.ended != "completed" or any(check.amiss for check in self.checks)

    def to_data(self) -> dict[str, Any]:
        """JSON types, without what has its default."""
        data: dict[str, Any] = {name: value for name, value in zip(self._fields, self, strict=True)
                                if name not in _DEFAULTS or value != _DEFAULTS[name]}
        if self.checks:
            data["checks"] = [_shortest(check) for check in self.checks]
        if self.notes:
            data["notes"] = list(self.notes)
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Row":
        """What `to_data` made. Raises ValueError where it does not fit: another evalkit kept it."""
        try:
            checks = tuple([CheckRow(*check) if len(check) < _EVIDENCE else _with_evidence(*check)
                            for check in data.get("checks", ())])
            return cls(**{**data, "checks": checks, "notes": tuple(data.get("notes", ()))})
        except (TypeError, AttributeError) as error:
            raise ValueError(f"not a row of this evalkit: {error}") from None


_DEFAULTS = Row._field_defaults
_EVIDENCE = CheckRow._fields.index("evidence") + 1


def _shortest(check: CheckRow) -> list[Any]:
    """A check's values, without the last ones where these have their defaults."""
    values: list[Any] = list(check)
    values[_EVIDENCE - 1] = list(check.evidence)
    if not check.evidence:
        del values[_EVIDENCE - 1 :]
        if check.score is None:
            values.pop()
            if not check.advisory:
                values.pop()
                if not check.why:
                    values.pop()
    return values


def _with_evidence(*values: Any) -> CheckRow:
    check = CheckRow(*values)
    return check._replace(evidence=tuple(check.evidence))


def row_of(result: "TrialResult", place: str) -> Row:
    """The row of a trial that has a result. place: the trial's id."""
    usage, ending = result.ending.usage, result.ending
    kinds = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
    tokens = [count for count in kinds if count is not None]
    notes = [*_audited(result), *_failed_attempts(result), *result.left_out, *ending.notes]
    judgings = [check.verdict.judging for check in result.checks if check.verdict.judging]
    return Row(
        unit=result.unit, case=result.case, suite=result.suite, agent=result.agent, model=result.model,
        trial=result.trial, lane=result.lane, place=place, status=result.status, reason=one_line(result.reason),
        note=one_line(result.note), self_check=result.self_check, dry=result.dry, ended=ending.status,
        detail=one_line(ending.detail), checks=tuple([_check(check) for check in result.checks]),
        notes=_first(notes),
        turns=usage.turns, tokens=sum(tokens) if tokens else None, cost=usage.cost, seconds=result.seconds,
        retries=len(result.failed) + ending.retries + sum(judging.retries for judging in judgings),
        played=result.played, tier=result.tier)


def _first(notes: list[str]) -> tuple[str, ...]:
    """The notes that a table shows, and how many there are beside them."""
    if len(notes) > EVIDENCE_LINES:
        more = len(notes) - EVIDENCE_LINES + 1
        notes = [*notes[: EVIDENCE_LINES - 1], f"and {more} more notes: result.json has them"]
    return tuple([one_line(note) for note in notes])


def _audited(result: "TrialResult") -> list[str]:
    """What is said of what the agent saw, or tried to see."""
    audit = result.audit
    if audit is None:
        return []
    said = [f"it {finding.told}" for finding in audit.findings[:_FINDINGS]]
    if len(audit.findings) > _FINDINGS:
        said.append(f"and {len(audit.findings) - _FINDINGS + audit.more} more such findings")
    if audit.tries:
        others = f", and {len(audit.tries) - 1} more" if len(audit.tries) > 1 else ""
        said.append(f"it {audit.tries[0].told}{others}: no contamination")
    return [*said, audit.note] if audit.blind else said


def _failed_attempts(result: "TrialResult") -> list[str]:
    """What is said of attempts that count in nothing but the bill."""
    if not result.failed:
        return []
    costs = [usage.cost for usage in result.failed if usage.cost is not None]
    spent = f" (${sum(costs):.2f}{'' if len(costs) == len(result.failed) else ' or more'})" if costs else ""
    return [f"attempts before this one that the provider failed: {len(result.failed)}{spent}"]


def failed_row(trial: "Trial", reason: str, *, status: Literal["error", "not run"] = "error", cost: float | None = None,
               retries: int = 0) -> Row:
    """The row of a trial without a result. reason: why, in a line.

    cost: dollars that were spent all the same, as far as they are known.
    """
    case, subject = trial.case, trial.subject
    return Row(
        unit=case.unit, case=case.name, suite=case.suite.name, agent=subject.agent, model=subject.model,
        trial=trial.number, lane=trial.lane, place=trial.id, status=status, reason=one_line(reason),
        self_check=subject.self_check, dry=trial.dry, cost=cost, retries=retries, played=subject.played,
        tier=case.tier or "")


def _check(check: "CheckResult") -> CheckRow:
    verdict = check.verdict
    return check_row(check.id, verdict.status, check.description, verdict.summary, verdict.evidence, check.advisory,
                     verdict.score)


def check_row(name: str, status: str, description: str, summary: str, evidence: str, advisory: bool,
              score: float | None) -> CheckRow:
    """The row of a check, from what its result has."""
    summary = one_line(summary)
    told = description and (status != "pass" or score is not None)
    lines = [line for line in evidence.splitlines() if line.strip()] if status in ("fail", "error") else []
    return CheckRow(name, status, one_line(description) or summary, summary if told else "", advisory, score,
                    tuple(map(one_line, lines[:EVIDENCE_LINES])), max(0, len(lines) - EVIDENCE_LINES))


def one_line(text: str) -> str:
    """A text as a line that cannot drive a terminal, cut where it is long."""
    if not text.isprintable():
        from evalkit.grade.evidence import plain

        text = plain(text)
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"
