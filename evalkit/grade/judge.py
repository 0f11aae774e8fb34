"""The judge: models score what the checks cannot see, criterion by criterion, from 0 to 10.

    the files, the rubric and what is told (judge_facts) --judge_question--> a question for each model
    each model, `votes` times --judge_votes--> answers, each kept by itself
    an answer --judge_answer--> its scores, or what is wrong with it
    all votes --here--> one verdict

Every grade comes from a forced tool call, none is ever read out of a model's prose. Over all votes that count,

    score = mean over the criteria of (median over the votes of their scores of the criterion)

where the median of an even number of scores is the mean of the middle two. More than half of the votes that are asked
for must count; else the verdict is an error, as a vote that does not count says nothing of the work: it is no 0. How
far the votes agree is told as Krippendorff's alpha over criteria and votes, the scores taken as an interval scale
(agreement.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from evalkit.analysis.model import Case, Judge
from evalkit.errors import EvalkitError
from evalkit.execute.budget import BudgetReached
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import Usage
from evalkit.grade.agreement import alpha
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.judge_facts import facts
from evalkit.grade.judge_question import question, shown_files
from evalkit.grade.judge_votes import Answers, Ballot, Cast, ballots, kept
from evalkit.grade.verdict import Grade, Judging, Verdict, Vote, could_not_tell
from evalkit.plan.keys import Inputs

__all__ = ["VERSION", "answer_keys", "grade_judge"]

VERSION = "judge 2"
_LONGEST = 600
"""Characters of a criterion or a reason that are shown."""


def answer_keys(inputs: Inputs, models: Sequence[str], votes: int) -> list[str]:
    """The keys of all answers that a judge's verdict is made from. inputs: the judge's own."""
    return [ballot.key for ballot in ballots(inputs, models, votes)]


def grade_judge(case: Case, judge: Judge, tree: FinalTree, inputs: Inputs, key: str, *, state: str,
                models: Sequence[str], endpoint: Callable[[str], Endpoint | None] = lambda _: None,
                places: threading.Semaphore | None = None) -> Grade:
    """Have a judge score the final tree, or take the kept answers to the same question.

    state: "on" or why not. models: whom to ask. endpoint: where a model is reached; None where no key for it is set.
    places: how many models are waited for at once, in the whole run.
    Raises BudgetReached where an answer would have to be paid for, and no more may be spent.
    """
    began = time.monotonic()
    if state != "on":
        verdict = Verdict("skipped", state)
    elif not (names := tree.matching(judge.files)):
        verdict = Verdict("fail", f"no file matches {', '.join(judge.files)}")
    else:
        try:
            verdict = _judged(case, judge, tree, names, ballots(inputs, models, judge.votes), endpoint,
                              places or threading.Semaphore())
        except BudgetReached:
            raise
        except EvalkitError as error:
            verdict = could_not_tell(error)
    return Grade(judge.id, "judge", verdict, key, inputs, round(time.monotonic() - began, 3))


def _judged(case: Case, judge: Judge, tree: FinalTree, names: Sequence[str], wanted: Sequence[Ballot],
            endpoint: Callable[[str], Endpoint | None], places: threading.Semaphore) -> Verdict:
    session, criteria = tree.session, len(judge.criteria)
    found = {ballot.key: cast for ballot in wanted if (cast := kept(session, ballot, criteria)) is not None}
    missing = [ballot for ballot in wanted if ballot.key not in found]
    if missing:
        shown = shown_files(tree, names, judge.most_bytes)
        if not shown[0]:
            return Verdict("fail", f"no file of {', '.join(judge.files)} can be shown to a judge", "\n".join(shown[1]))
        asked = {ballot.model: ballot.question for ballot in missing}
        told = facts(case, judge, session)
        chats = {model: question(case, judge, shown, model, key, told) for model, key in asked.items()}
        found |= {cast.ballot.key: cast for cast in Answers(session, judge, chats, endpoint, places).get(missing)}
    return _verdict(judge, [found[ballot.key] for ballot in wanted])


# ---- the verdict ----
def _verdict(judge: Judge, casts: Sequence[Cast]) -> Verdict:
    """What the votes come to.

    The threshold is applied where the result is put together: moving it asks no model again.
    """
    valid = [cast for cast in casts if cast.scores]
    votes, judging = tuple(_vote(cast) for cast in casts), _together([cast.judging for cast in casts if cast.judging])
    lost = [f"no vote {cast.ballot.number} of {plain(cast.ballot.model)}: {cast.error}" for cast in casts
            if not cast.scores] + [f"note: {note}" for note in (judging.notes if judging is not None else ())]
    if 2 * len(valid) <= len(casts):
        if len(casts) == 1:
            error = casts[0].error
            return Verdict("error", error.split("\n")[0], error if judging is None else "", None, judging, votes)
        counted = f"{len(valid)} of {len(casts)} votes count, and more than half must"
        return Verdict("error", counted, "\n".join(lost), None, judging, votes)
    columns = [[cast.scores[number].score for cast in valid] for number in range(len(judge.criteria))]
    medians = [float(median(column)) for column in columns]
    score = sum(medians) / len(medians)
    summary, lines = f"{score:.1f} of 10", []
    for number, (criterion, middle) in enumerate(zip(judge.criteria, medians, strict=True)):
        nearest = min(valid, key=lambda cast: abs(cast.scores[number].score - middle))
        lines.append(f"{middle:4.1f}  {_one_line(criterion)}")
        if len(casts) > 1:
            lines.append(f"      {_spread(number, valid)}")
        lines.append(f"      {_one_line(nearest.scores[number].reason)}")
    if len(casts) == 1:
        return Verdict("scored", summary, "\n".join([*lines, *lost]), round(score, 2), judging, votes)
    found = alpha(columns) if len(columns) > 1 else None  # of one criterion it would tell nothing: it is always 0
    agreement = f"alpha {found:.2f}" if found is not None else f"not defined ({_why_not(columns)})"
    counted = f"{len(valid)} votes" if len(valid) == len(casts) else f"{len(valid)} of {len(casts)} votes"
    return Verdict("scored", f"{summary}, {counted}" + (f", {agreement}" if found is not None else ""),
                   "\n".join([*lines, f"agreement of the votes: {agreement}", *lost]), round(score, 2), judging, votes,
                   None if found is None else round(found, 4))


def _why_not(columns: Sequence[Sequence[float]]) -> str:
    """Why there is no alpha."""
    if len(columns[0]) == 1:
        return "one vote counts"
    return "all scores are equal" if len({score for column in columns for score in column}) == 1 else "one criterion"


def _spread(number: int, valid: Sequence[Cast]) -> str:
    """How far the scores of a criterion lie apart, and each model's: `4 to 9: a/b 4, 5; c/d 9`."""
    scores: dict[str, list[float]] = {}
    for cast in valid:
        scores.setdefault(cast.ballot.model, []).append(cast.scores[number].score)
    every = [score for of_model in scores.values() for score in of_model]
    apart = f"{min(every):g} to {max(every):g}" if min(every) < max(every) else f"all {every[0]:g}"
    return _one_line(f"{apart}: " + "; ".join(
        f"{model} {', '.join(f'{score:g}' for score in of_model)}" for model, of_model in scores.items()))


def _one_line(text: str) -> str:
    return plain(" ".join(text.split()))[:_LONGEST]


def _vote(cast: Cast) -> Vote:
    return Vote(cast.ballot.model, cast.ballot.number, tuple(score.score for score in cast.scores),
                cast.error.split("\n")[0], cast.ballot.key if cast.scores else "", cast.judging)


def _together(judgings: Sequence[Judging]) -> Judging | None:
    """What all answers took: their models, and sums. A cost that is not known of one is not known of all."""
    if len(judgings) < 2:
        return judgings[0] if judgings else None
    usages = [judging.usage for judging in judgings]
    sources = dict.fromkeys(usage.cost_source for usage in usages if usage.cost_source)
    costs = [usage.cost for usage in usages]
    return Judging(
        ", ".join(dict.fromkeys(judging.model for judging in judgings)),
        Usage(input_tokens=_sum(usage.input_tokens for usage in usages),
              output_tokens=_sum(usage.output_tokens for usage in usages),
              cache_read_tokens=_sum(usage.cache_read_tokens for usage in usages),
              cache_write_tokens=_sum(usage.cache_write_tokens for usage in usages),
              cost=None if None in costs else sum(cost or 0.0 for cost in costs), cost_source=", ".join(sources)),
        sum(judging.retries for judging in judgings),
        tuple(dict.fromkeys(note for judging in judgings for note in judging.notes)))


def _sum(counts: Iterable[int | None]) -> int | None:
    """The sum of what was counted; None where nothing was."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
