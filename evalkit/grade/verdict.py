"""Verdicts: what a check came to, with the evidence."""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalkit.digest import GROWN
from evalkit.errors import EvalkitError
from evalkit.execute.outcome import Usage
from evalkit.execute.running import check_going_on
from evalkit.grade.evidence import plain
from evalkit.values import Value, field

__all__ = ["Grade", "HiddenTest", "Judging", "KeptStatus", "Measure", "Status", "Verdict", "Vote", "could_not_tell"]

Status: TypeAlias = Literal["pass", "fail", "skipped", "error"]
KeptStatus: TypeAlias = Literal["pass", "fail", "skipped", "error", "scored"]


class Judging(Value):
    """The model that judged, as it names itself, what its answer took, and how often it was asked again for it.

    notes: what it was asked otherwise than meant, because its provider refuses it. Of several votes: their models, the
    sums, and no cost where that of one vote is not known. These are of the time when a model answered: an answer that
    is used again tells them again, and costs nothing more.
    """

    model: str
    usage: Usage
    retries: int = 0
    notes: tuple[str, ...] = field(default=(), metadata=GROWN)


class Vote(Value):
    """One answer of a judge, or why there is none.

    model: the slug that was asked. number: which of the model's votes it is, from 1. scores: of the criteria, in their
    order, 0 to 10; none where the vote does not count, and `error` says why. answer: the answer's key in the store.
    judging: None where no answer came.
    """

    model: str
    number: int
    scores: tuple[float, ...] = ()
    error: str = ""
    answer: str = ""
    judging: Judging | None = None


class Measure(Value):
    """One number of a check, from 0 to 1: a higher one is better."""

    name: str
    value: float


class HiddenTest(Value):
    """What one hidden test came to. message: of one that failed, its first lines."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    message: str = ""


class Verdict(Value):
    """skipped: not for this lane, or no key. error: the harness could not tell, so it is no fail of the agent's.
    scored: a judge's, before its threshold is applied, which is the result's; an earlier evalkit wrote pass for it.

    summary: one line. evidence: what the summary rests on, the most telling lines first. score: a judge's, 0 to 10.
    Both texts may quote an agent's files and programs; they hold no control characters but line ends.
    tests: of hidden tests, each by itself. measures: numbers beside the status, of a score of code.
    votes: what the score was made from. alpha: how far the votes agree (Krippendorff); None where that is not defined.
    """

    status: KeptStatus
    summary: str
    evidence: str = ""
    score: float | None = None
    judging: Judging | None = None
    votes: tuple[Vote, ...] = field(default=(), metadata=GROWN)
    alpha: float | None = field(default=None, metadata=GROWN)
    measures: tuple[Measure, ...] = field(default=(), metadata=GROWN)
    tests: tuple[HiddenTest, ...] = field(default=(), metadata=GROWN)


class Grade(Value):
    """A verdict on disk, with what it was made from."""

    check: str
    kind: str
    verdict: Verdict
    key: str
    inputs: dict[str, str]
    seconds: float


def could_not_tell(error: EvalkitError) -> Verdict:
    """The verdict where a tool or a provider failed: an error, in its own words.

    Raises HarnessError where all is being stopped: what was ended then is no verdict.
    """
    check_going_on()
    lines = [plain(line) for line in str(error).split("\n")]
    return Verdict("error", lines[0], "\n".join(lines))
