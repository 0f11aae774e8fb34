"""regrade.json: what a stored trial comes to by the checks as they stand now. It stands beside result.json."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from evalkit.execute.outcome import Ending
from evalkit.grade.audit_record import Audit
from evalkit.grade.verdict import Grade
from evalkit.report.result import TrialStatus
from evalkit.report.update import REGRADED

__all__ = ["REGRADED", "RegradedTrial", "TreeSource"]

TreeSource: TypeAlias = Literal["store", "archive", "transcript"]


@frozen
class RegradedTrial:
    """A regraded trial. grades: each check's verdict with what it was made from, a judge's before its threshold.

    ending: how the agent's run ended, as far as that is known. tree: what the final tree was taken from; notes: what
    of it could not be rebuilt, or was left out. audit: as in a result.
    """

    unit: str
    run: str
    trial: int
    lane: str
    agent: str
    model: str | None
    status: TrialStatus
    reason: str
    ending: Ending
    grades: tuple[Grade, ...]
    tree: TreeSource
    tree_digest: str
    notes: tuple[str, ...]
    evalkit: str
    audit: Audit | None = None
