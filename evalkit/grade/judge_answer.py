"""What of a judge's answer counts: one call of the tool, with one score for each criterion, and nothing else.

No grade is ever read out of what a model says: prose beside the call changes nothing, and prose alone is no answer. An
answer that does not fit the form (a missing, doubled or off-scale score, a key that was not asked for, a second call)
is an error, not a low score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from evalkit.execute.models.chat import ToolUse
from evalkit.grade.judge_question import ENTRY, TOOL

__all__ = ["Score", "read_scores"]


@frozen
class Score:
    """What a judge gives a criterion (from 1 on): 0 to 10, and why. The reason is as the model wrote it."""

    criterion: int
    score: float
    reason: str


def read_scores(calls: Sequence[ToolUse], criteria: int) -> tuple[Score, ...]:
    """One score per criterion, in their order. Raises ValueError, which says what is wrong with the answer."""
    if len(calls) != 1 or calls[0].name != TOOL:
        called = ", ".join(call.name[:80] for call in calls[:5]) or "nothing"
        raise ValueError(f"it should call {TOOL} once, and calls {called}")
    given = calls[0].arguments
    if not isinstance(given, Mapping) or set(given) != {"scores"} or not isinstance(given["scores"], list):
        raise ValueError(f"{TOOL} takes a list of scores and nothing else")
    found: dict[int, Score] = {}
    for entry in given["scores"]:
        score = _score(entry, criteria)
        if score.criterion in found:
            raise ValueError(f"it scores criterion {score.criterion} twice")
        found[score.criterion] = score
    missing = [str(number) for number in range(1, criteria + 1) if number not in found]
    if missing:
        raise ValueError(f"no score for criterion {', '.join(missing)}")
    return tuple(found[number] for number in sorted(found))


def _score(entry: object, criteria: int) -> Score:
    if not isinstance(entry, dict) or set(entry) != ENTRY:
        keys = ", ".join(sorted(map(str, entry)))[:200] if isinstance(entry, dict) else type(entry).__name__
        raise ValueError(f"a score has {', '.join(sorted(ENTRY))}, and it gives {keys or 'nothing'}")
    number, score, reason = entry["criterion"], entry["score"], entry["reason"]
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= criteria:
        raise ValueError(f"it scores criterion {number!r:.40} of {criteria}")
    if not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 10:  # NaN is not either
        raise ValueError(f"criterion {number} has the score {score!r:.40}, which is not from 0 to 10")
    if not isinstance(reason, str):
        raise ValueError(f"criterion {number} has no reason")
    return Score(number, float(score), reason)
