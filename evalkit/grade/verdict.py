"""Verdicts: what a check came to, with the evidence."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from evalkit.errors import EvalkitError
from evalkit.execute.outcome import Usage
from evalkit.execute.process import check_going_on
from evalkit.grade.evidence import plain

__all__ = ["Grade", "Judging", "Status", "Verdict", "could_not_tell"]

Status: TypeAlias = Literal["pass", "fail", "skipped", "error"]


@frozen
class Judging:
    """The model that judged, as it names itself, what its answer took, and how often it was asked again for it.

    These are of the time when it answered: an answer that is used again tells them again, and costs nothing more.
    """

    model: str
    usage: Usage
    retries: int = 0


@frozen
class Verdict:
    """skipped: not for this lane, or no key. error: the harness could not tell, so it is no fail of the agent's.

    summary: one line. evidence: what the summary rests on, the most telling lines first. score: a judge's, 0 to 10.
    Both texts may quote an agent's files and programs; they hold no control characters but line ends.
    """

    status: Status
    summary: str
    evidence: str = ""
    score: float | None = None
    judging: Judging | None = None


@frozen
class Grade:
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
