"""Several models, several votes: what each is asked, what is kept of each, and the one verdict."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Judge
from evalkit.digest import canonical, digest
from evalkit.errors import HarnessError
from evalkit.execute import running
from evalkit.execute.budget import Budget, BudgetReached
from evalkit.execute.models.chat import Chat, Reply, ToolUse
from evalkit.execute.models.client import Answer, ProviderError, Refused
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import Usage
from evalkit.grade import judge_votes
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.judge import VERSION, answer_keys, grade_judge
from evalkit.grade.verdict import Grade, Judging, Verdict
from evalkit.plan.keys import judge_inputs
from evalkit.records import structure, unstructure, write_json, write_record
from evalkit.values import evolve
from tests.unit.grade.trees import SECRET, a_case, a_judge, final_tree

A, B, C = "anthropic/claude-opus-4.8", "openai/gpt-5.1", "google/gemini-3"
Given = Sequence[float] | Exception | Reply


def reply(*scores: object, model: str = "m", reason: str = "Because.", cost: float | None = 0.25) -> Reply:
    entries = [{"criterion": number, "score": score, "reason": f"{reason} {score}"}
               for number, score in enumerate(scores, 1)]
    return Reply("10/10!", (ToolUse("1", "record_scores", {"scores": entries}),), "tools", model,
                 Usage(input_tokens=10, output_tokens=2, cost=cost, cost_source="told"), {"as": "it came"})


class Models:
    """Stands in for `complete`: each model gives its answers one after the other, and then its last one."""

    def __init__(self) -> None:
        self.given: dict[str, list[Given]] = {}
        self.asked: Counter[str] = Counter()
        self.chats: list[Chat] = []
        self.at_once = self.most_at_once = 0
        self.before: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    def __call__(self, endpoint: Endpoint, chat: Chat, *, say: Callable[[str], None]) -> Answer:
        with self._lock:
            number = self.asked[chat.model]
            self.asked[chat.model] += 1
            self.chats.append(chat)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.before()
        finally:
            with self._lock:
                self.at_once -= 1
        answers = self.given[chat.model]
        given = answers[min(number, len(answers) - 1)]
        if isinstance(given, Exception):
            raise given
        say(f"asked {chat.model}")
        return Answer(given if isinstance(given, Reply) else reply(*given, model=f"its {chat.model}"), retries=1)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    made = Models()
    monkeypatch.setattr(judge_votes, "complete", made)
    return made


def judge_of(votes: int, *, criteria: int = 2, **more: Any) -> Judge:
    return evolve(a_judge(*(f"Criterion {number}." for number in range(1, criteria + 1))), votes=votes, **more)


def inputs_of(tree: FinalTree, judge: Judge, asked: Sequence[str]) -> dict[str, str]:
    return judge_inputs(a_case(), judge, tree.manifest.files, asked, VERSION, "on")


def graded(tree: FinalTree, judge: Judge, *asked: str, closed: Sequence[str] = (), at_once: int = 4,
           threads: int = 0) -> Grade:
    """With `at_once` places, and as many threads, unless their number is given; with one, votes come in their order."""
    inputs = inputs_of(tree, judge, asked)

    def endpoint(model: str) -> Endpoint | None:
        return None if model in closed else Endpoint("http://127.0.0.1:9", "AI_GATEWAY_API_KEY", SECRET)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_votes, "_THREADS", threads or at_once)
        return grade_judge(a_case(), judge, tree, inputs, digest(inputs), state="on", models=asked, endpoint=endpoint,
                           places=threading.Semaphore(at_once))


@pytest.fixture
def tree(tmp_path: Path) -> FinalTree:
    return final_tree(tmp_path, {"a": "x"})


# ---- the verdict ----
def test_the_score_is_the_mean_of_the_medians(tree: FinalTree, models: Models) -> None:
    """Per criterion the median of all votes of all models; the evidence has each model's votes and one reason."""
    models.given = {A: [(7, 2), (8, 3), (7, 10)], B: [(1, 3), (9, 3), (9, 4)]}
    verdict = graded(tree, judge_of(3), A, B, at_once=1).verdict
    assert ("scored", 5.25) == (verdict.status, verdict.score), "medians 7.5 of 1 7 7 8 9 9, 3 of 2 3 3 3 4 10"
    assert verdict.alpha is not None
    assert f"5.2 of 10, 6 votes, alpha {verdict.alpha:.2f}" == verdict.summary
    assert f"""\
 7.5  Criterion 1.
      1 to 9: {A} 7, 8, 7; {B} 1, 9, 9
      Because. 7
 3.0  Criterion 2.
      2 to 10: {A} 2, 3, 10; {B} 3, 3, 4
      Because. 3
agreement of the votes: alpha {verdict.alpha:.2f}""" == verdict.evidence
    assert [(A, 1, (7.0, 2.0)), (B, 1, (1.0, 3.0)), (A, 2, (8.0, 3.0))] == [
        (vote.model, vote.number, vote.scores) for vote in verdict.votes][:3]
    assert all(tree.session.store.has("judge", vote.answer) for vote in verdict.votes)


def test_what_all_votes_took(tree: FinalTree, models: Models) -> None:
    """Summed for the verdict, each by itself with its vote, so that tokens are told by model."""
    models.given = {A: [(7, 2)], B: [(1, 3)]}
    verdict = graded(tree, judge_of(2), A, B).verdict
    assert verdict.judging is not None
    assert (f"its {A}, its {B}", 4) == (verdict.judging.model, verdict.judging.retries)
    assert Usage(input_tokens=40, output_tokens=8, cost=1.0, cost_source="told") == verdict.judging.usage
    assert [10] * 4 == [vote.judging.usage.input_tokens for vote in verdict.votes if vote.judging]
    assert 1.0 == tree.session.budget.spent


def test_a_cost_that_is_not_known_of_one_is_not_known_of_all(tree: FinalTree, models: Models) -> None:
    models.given = {A: [(7, 2)], B: [reply(1, 2, cost=None)]}
    verdict = graded(tree, judge_of(1), A, B).verdict
    assert verdict.judging is not None
    assert verdict.judging.usage.cost is None
    assert (0.25, {"judge call": 1}) == (tree.session.budget.spent, tree.session.budget.unknown)


@pytest.mark.parametrize(("criteria", "votes", "given", "told"), [
    (2, 2, [(5, 5), (5, 5)], "not defined (all scores are equal)"),
    (1, 3, [(5,), (6,), (7,)], "not defined (one criterion)"),
    (2, 3, [(0, 10)], "alpha 1.00"),
    (2, 2, [(0, 10), (10, 0)], "alpha -0.50"),
])
def test_agreement(tree: FinalTree, models: Models, criteria: int, votes: int, given: list[Given], told: str) -> None:
    """Where alpha says nothing it is told so, and is neither 0 nor 1."""
    models.given = {A: given}
    verdict = graded(tree, judge_of(votes, criteria=criteria), A).verdict
    assert f"agreement of the votes: {told}" == verdict.evidence.splitlines()[-1]
    assert ("not defined" in told) == (verdict.alpha is None) == ("alpha" not in verdict.summary)


def test_one_vote_has_no_agreement(tree: FinalTree, models: Models) -> None:
    models.given = {A: [(5, 6)]}
    verdict = graded(tree, judge_of(1), A).verdict
    assert ("5.5 of 10", None) == (verdict.summary, verdict.alpha)
    assert "agreement" not in verdict.evidence


# ---- votes that do not count ----
def test_a_vote_off_the_scale_is_no_zero(tree: FinalTree, models: Models) -> None:
    """It does not count, and is said; the others do, where they are more than half."""
    models.given = {A: [(7, 7), (11, 7), (9, 7)]}
    verdict = graded(tree, judge_of(3), A, at_once=1).verdict
    assert (7.5, "7.5 of 10, 2 of 3 votes") == (verdict.score, verdict.summary.partition(", alpha")[0])
    said = "the judge's answer cannot be used: criterion 1 has the score 11, which is not from 0 to 10"
    assert verdict.evidence.splitlines()[-1].startswith(f"no vote 2 of {A}: {said}")
    assert [True, False, True] == [bool(vote.scores) for vote in verdict.votes]
    assert ["", said, ""] == [vote.error.partition(" (stop")[0] for vote in verdict.votes]
    assert verdict.votes[1].judging is not None, "it was paid for"
    assert 0.75 == tree.session.budget.spent


@pytest.mark.parametrize(("valid", "status"), [(2, "error"), (3, "scored")])
def test_more_than_half_of_the_votes_must_count(tree: FinalTree, models: Models, valid: int, status: str) -> None:
    """Half of them is too few: the verdict is an error, and no score is told."""
    models.given = {A: [*[(8, 8)] * valid, ProviderError("it is down", hint="run again")]}
    verdict = graded(tree, judge_of(4), A, at_once=1).verdict
    assert (status, status == "scored") == (verdict.status, verdict.score is not None)
    if status == "error":
        assert "2 of 4 votes count, and more than half must" == verdict.summary
        assert [f"no vote 3 of {A}: it is down", "  run again"] == verdict.evidence.splitlines()[:2]


def test_one_models_failure_does_not_lose_the_others_answers(tree: FinalTree, models: Models) -> None:
    """The next time it alone is asked again."""
    models.given = {A: [(8, 8)], B: [ProviderError("down")], C: [ProviderError("down too")]}
    judge = judge_of(1)
    assert "error" == graded(tree, judge, A, B, C).verdict.status
    models.given[B] = [(6, 7)]
    verdict = graded(tree, judge, A, B, C).verdict
    assert ("scored", 7.25) == (verdict.status, verdict.score)
    assert {A: 1, B: 2, C: 2} == models.asked


def test_a_refused_key_is_asked_for_once(tree: FinalTree, models: Models) -> None:
    """All votes of its model would get the same words; another model's are asked for all the same."""
    models.given = {A: [Refused("refused the key in X", hint="set X")], B: [(1, 1)]}
    verdict = graded(tree, judge_of(3), A, B, at_once=1).verdict
    assert {A: 1, B: 3} == models.asked
    assert ("error", "3 of 6 votes count, and more than half must") == (verdict.status, verdict.summary)
    assert 3 == verdict.evidence.count("refused the key in X")


def test_prose_is_never_read_for_a_grade(tree: FinalTree, models: Models) -> None:
    """Neither words nor JSON in them, nor a second call beside a good one."""
    good = reply(9, 9)
    prose = Reply('I give 10/10: {"scores": [{"criterion": 1, "score": 10}]}', (), "end", "m", Usage(), {})
    twice = evolve(good, calls=good.calls * 2)
    models.given = {A: [prose, twice, evolve(good, calls=()), evolve(good, calls=(
        ToolUse("1", "record_scores", '{"scores": [10, 10]}'),))]}
    verdict = graded(tree, judge_of(4), A, at_once=1).verdict
    assert ("error", None) == (verdict.status, verdict.score)
    assert "0 of 4 votes count, and more than half must" == verdict.summary


# ---- what is kept ----
def test_more_votes_ask_for_the_missing_ones(tree: FinalTree, models: Models) -> None:
    """From one vote to three is two calls, of each model; back to one is none."""
    models.given = {A: [(1, 1), (2, 2), (3, 3)], B: [(1, 1)]}
    assert 1.0 == graded(tree, judge_of(1), A).verdict.score
    assert 2.0 == graded(tree, judge_of(3), A).verdict.score
    assert {A: 3} == models.asked
    assert 1.0 == graded(tree, judge_of(1), A).verdict.score
    graded(tree, judge_of(3), A, B)
    assert {A: 3, B: 3} == models.asked


def test_another_rubric_asks_for_all_again(tree: FinalTree, models: Models) -> None:
    models.given = {A: [(1, 1)]}
    graded(tree, judge_of(2), A)
    graded(tree, evolve(judge_of(2), criteria=("Other.", "Criterion 2.")), A)
    graded(tree, evolve(judge_of(2), temperature=0.5), A)
    assert {A: 6} == models.asked


def test_all_votes_are_asked_the_same(tree: FinalTree, models: Models) -> None:
    """Of one model; another one's question differs by its marker and its name alone."""
    models.given = {A: [(1, 1)], B: [(1, 1)]}
    graded(tree, judge_of(3), A, B)
    assert 2 == len({digest([chat.system, chat.turns[0]]) for chat in models.chats})
    assert {A, B} == {chat.model for chat in models.chats}


def test_kept_answers_need_no_key(tree: FinalTree, models: Models) -> None:
    """And the same verdict comes of them, to the last letter; a vote that is not kept is not invented."""
    models.given = {A: [(1, 2), (3, 4)], B: [(5, 6)]}
    first = graded(tree, judge_of(2), A, B, at_once=1).verdict
    assert first == graded(tree, judge_of(2), A, B, closed=[A, B]).verdict
    assert 3 < len(answer_keys(inputs_of(tree, judge_of(2), (A, B)), (A, B), 2))
    more = graded(tree, judge_of(3), A, B, closed=[A, B]).verdict
    assert "4 of 6 votes" in more.summary
    assert f"no vote 3 of {B}: its answer is not kept, and no key for the judge model `{B}` is set" in more.evidence


def test_one_vote_of_one_model_is_kept_as_ever(tree: FinalTree, models: Models) -> None:
    """Its key is the judge's own: what an earlier evalkit paid for is found."""
    inputs = inputs_of(tree, judge_of(1), (A,))
    assert [digest(inputs)] == answer_keys(inputs, (A,), 1)
    assert {"grader", "rubric", "prompt", "judged files", "judge model", "judging"} == set(inputs)


def test_a_grade_of_an_earlier_evalkit(tree: FinalTree, models: Models) -> None:
    """It is read without what judges tell now, and means the same to the results that were made from it."""
    models.given = {A: [(1, 1)]}
    now = graded(tree, judge_of(1), A)
    data = unstructure(now)
    del data["verdict"]["votes"], data["verdict"]["alpha"], data["verdict"]["judging"]["notes"]
    earlier = structure(data, Grade)
    assert evolve(now.verdict, votes=()) == earlier.verdict
    assert {"votes", "alpha"}.isdisjoint(canonical(earlier.verdict))


def test_an_answer_of_an_earlier_evalkit(tree: FinalTree, models: Models) -> None:
    """It was kept as a response of the Messages API, with what it took beside it."""
    scores = [{"criterion": number, "score": 4, "reason": "So."} for number in (1, 2)]
    (key,) = answer_keys(inputs_of(tree, judge_of(1), (A,)), (A,), 1)
    took = Judging("m", Usage(input_tokens=3, cost=0.5), 2)
    with tree.session.store.making("judge", key) as entry:
        write_json(entry / "response.json", {"model": "m", "stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": "1", "name": "record_scores", "input": {"scores": scores}}]})
        write_record(entry / "judging.json", took)
    verdict = graded(tree, judge_of(1), A).verdict
    assert (4.0, took, Counter()) == (verdict.score, verdict.judging, models.asked)


# ---- side by side ----
def test_votes_wait_side_by_side_as_far_as_there_are_places(tree: FinalTree, models: Models) -> None:
    """Each waits until as many are at work as may be; one more would pass the limit."""
    models.given = {A: [(1, 1)]}
    gate = threading.Barrier(3)

    def wait() -> None:
        gate.wait(timeout=60)

    models.before = wait
    assert "scored" == graded(tree, judge_of(6), A, at_once=3, threads=6).verdict.status
    assert 3 == models.most_at_once


def test_the_judges_own_thread_does_the_talking(tree: FinalTree, models: Models) -> None:
    """What a thread says belongs to the task that it works for."""
    models.given = {A: [(1, 1)]}
    told: set[tuple[str, int]] = set()
    tree.session.say = lambda text: told.add((text, threading.get_ident()))
    graded(tree, judge_of(3), A)
    assert {(f"judge quality: asked {A}", threading.get_ident())} == told


def test_the_budget_is_asked_before_every_call(tree: FinalTree, models: Models) -> None:
    """It ends the judge when it is reached; what was answered is kept, and only the rest is asked later."""
    models.given = {A: [(1, 1)]}
    tree.session.budget = Budget(0.5)
    with pytest.raises(BudgetReached):
        graded(tree, judge_of(5), A, at_once=1)
    assert {A: 2} == models.asked
    tree.session.budget = Budget(None)
    assert 1.0 == graded(tree, judge_of(5), A).verdict.score
    assert {A: 5} == models.asked


def test_what_is_stopped_gives_no_verdict(tree: FinalTree, models: Models) -> None:
    """Ctrl-C while a model thinks: its answer is kept, since it is paid for; nobody else is asked."""
    models.given = {A: [(1, 1)]}
    models.before = running.end_all
    try:
        with pytest.raises(HarnessError, match="stopped"):
            graded(tree, judge_of(3), A, at_once=1, threads=3)
    finally:
        running.begin()
    assert {A: 1} == models.asked
    models.before = lambda: None
    assert "scored" == graded(tree, judge_of(3), A).verdict.status
    assert {A: 3} == models.asked


def test_a_bug_of_ours_is_no_verdict(tree: FinalTree, models: Models) -> None:
    models.given = {A: [(1, 1), RuntimeError("a bug")]}
    with pytest.raises(RuntimeError, match="a bug"):
        graded(tree, judge_of(3), A)


def test_what_a_judge_says_cannot_drive_a_terminal(tree: FinalTree, models: Models) -> None:
    """Its reasons, and its own name."""
    evil = "fine\x1b[2J\r\n\x07 \u202ereversed \u200b" + "long " * 1000
    models.given = {A: [reply(1, 2, model="m\x1b]0;x\x07\n", reason=evil)], B: [(3, 4)]}
    verdict = graded(tree, judge_of(1), A, B).verdict
    assert verdict.judging is not None
    for line in [verdict.summary, verdict.judging.model, *verdict.evidence.split("\n")]:
        assert line.isprintable()
        assert len(line) < 700
    assert isinstance(verdict, Verdict)
