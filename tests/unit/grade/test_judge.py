"""The judge: what it is asked, what of its answer counts, and what is kept."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import Judge
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute import running
from evalkit.execute.budget import Budget, BudgetReached
from evalkit.execute.models.anthropic import decode, encode
from evalkit.execute.models.chat import Chat
from evalkit.execute.models.client import Answer, ProviderError
from evalkit.execute.models.prices import price_date
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import Usage
from evalkit.gateway import Fault, Reply, ScriptedGateway, Text, ToolCall
from evalkit.grade import judge_votes
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.judge import grade_judge
from evalkit.grade.verdict import Grade, Judging, Verdict, Vote
from evalkit.records import read_json, write_json
from evalkit.values import evolve
from tests.unit.grade.trees import SECRET, a_case, a_judge, final_tree

MODEL = "anthropic/claude-opus-4.8"
TOOL = "record_scores"
INPUTS = {"judging": "on", "judge model": MODEL}
JUDGE_KEY = digest(INPUTS)
COST = (900 * 5.0 + 40 * 25.0 + 7 * 0.5) / 1_000_000
"""Dollars for the answer below, at the model's list price."""
Json = dict[str, Any]


def entry(criterion: object, score: object, reason: object = "Because.", **more: object) -> Json:
    return {"criterion": criterion, "score": score, "reason": reason, **more}


def answer(*scores: object, content: object = None, **given: object) -> Json:
    """A response of the Messages API that calls the tool once with these scores, unless `content` is given."""
    block = {"type": "tool_use", "name": TOOL, "input": {"scores": list(scores), **given}}
    return {"model": MODEL, "stop_reason": "tool_use", "content": [block] if content is None else content,
            "usage": {"input_tokens": 900, "output_tokens": 40, "cache_read_input_tokens": 7}}


GOOD = answer(entry(1, 7), entry(2, 6, "Tests\n  are thin."))


class Asked:
    """Stands in for `complete`: keeps what it is asked, as the Messages API has it, and gives one answer."""

    def __init__(self, given: Json | Exception) -> None:
        self.given = given
        self.retries = self.lost = 0
        self.requests: list[Json] = []

    def __call__(self, endpoint: Endpoint, chat: Chat, *, say: Callable[[str], None]) -> Answer:
        self.requests.append(encode(chat, endpoint).body)
        if isinstance(self.given, Exception):
            raise self.given
        for _ in range(self.retries):
            say("answered 529")
        try:
            return Answer(decode(self.given), self.retries, self.lost)
        except ValueError as error:
            raise ProviderError(f"answered something that is no answer: {error}") from None

    @property
    def content(self) -> str:
        return str(self.requests[-1]["messages"][0]["content"])


Fake = Callable[[Json | Exception], Asked]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Has the judge's question answered here: by a response or by an exception."""

    def use(given: Json | Exception) -> Asked:
        asked = Asked(given)
        monkeypatch.setattr(judge_votes, "complete", asked)
        return asked

    return use


def graded(tree: FinalTree, judge: Judge | None = None, *, state: str = "on", model: str = MODEL,
           url: str = "http://127.0.0.1:9") -> Grade:
    inputs = {"judging": state, "judge model": model}
    return grade_judge(
        a_case(prompt="Write a board."), judge or a_judge(), tree, inputs, digest(inputs), state=state,
        models=(model,), endpoint=lambda _: Endpoint(url, "AI_GATEWAY_API_KEY", SECRET))


def kept(tree: FinalTree) -> bool:
    return tree.session.store.has("judge", JUDGE_KEY)


# ---- verdicts ----
def test_the_score_is_the_mean_and_reasons_are_evidence(tmp_path: Path, fake: Fake) -> None:
    """One line a criterion with its reason; the model and the tokens that it took are kept."""
    fake(GOOD)
    usage = Usage(input_tokens=900, output_tokens=40, cache_read_tokens=7, cost=COST,
                  cost_source=f"price list {price_date()}")
    evidence = " 7.0  It is simple.\n      Because.\n 6.0  It is tested.\n      Tests are thin."
    grade = graded(final_tree(tmp_path, {"a": "x"}))
    told = Judging(MODEL, usage)
    vote = Vote(MODEL, 1, (7.0, 6.0), "", JUDGE_KEY, told)
    assert Verdict("scored", "6.5 of 10", evidence, 6.5, told, (vote,)) == grade.verdict
    assert (grade.check, grade.kind, grade.key) == ("quality", "judge", JUDGE_KEY)


def test_scores_may_come_in_any_order(tmp_path: Path, fake: Fake) -> None:
    """A score belongs to the criterion that it names; whole numbers and fractions are both scores."""
    fake(answer(entry(2, 10), entry(1, 0.5)))
    verdict = graded(final_tree(tmp_path, {"a": "x"})).verdict
    assert verdict.score == 5.25
    assert verdict.evidence.splitlines()[0] == " 0.5  It is simple."


MALFORMED: list[tuple[str, Json]] = [
    ("calls nothing", answer(content=[{"type": "text", "text": "All criteria: 10 of 10."}])),
    ("calls nothing", answer(content=[])),
    (f"calls {TOOL}, {TOOL}", answer(content=GOOD["content"] * 2)),
    ("calls other_tool", answer(content=[{**GOOD["content"][0], "name": "other_tool"}])),
    ("a list of scores and nothing else", answer(entry(1, 1), entry(2, 2), verdict="pass")),
    ("a list of scores and nothing else", answer(content=[{**GOOD["content"][0], "input": {"scores": "7, 6"}}])),
    ("a list of scores and nothing else", answer(content=[{**GOOD["content"][0], "input": [7, 6]}])),
    ("no score for criterion 2", answer(entry(1, 1))),
    ("no score for criterion 1, 2", answer()),
    ("criterion 1 twice", answer(entry(1, 1), entry(1, 1), entry(2, 2))),
    ("criterion 0 of 2", answer(entry(0, 1), entry(1, 1), entry(2, 1))),
    ("criterion 3 of 2", answer(entry(1, 1), entry(2, 1), entry(3, 1))),
    ("criterion True of 2", answer(entry(True, 1), entry(2, 1))),
    ("criterion '1' of 2", answer(entry("1", 1), entry(2, 1))),
    ("criterion 1.0 of 2", answer(entry(1.0, 1), entry(2, 1))),
    ("criterion 1 has the score 10.01", answer(entry(1, 10.01), entry(2, 1))),
    ("criterion 1 has the score -1", answer(entry(1, -1), entry(2, 1))),
    ("criterion 1 has the score nan", answer(entry(1, math.nan), entry(2, 1))),
    ("criterion 1 has the score inf", answer(entry(1, math.inf), entry(2, 1))),
    ("criterion 1 has the score 1000000", answer(entry(1, 10**400), entry(2, 1))),
    ("criterion 1 has the score True", answer(entry(1, True), entry(2, 1))),
    ("criterion 1 has the score '9'", answer(entry(1, "9"), entry(2, 1))),
    ("criterion 1 has the score None", answer(entry(1, None), entry(2, 1))),
    ("criterion 1 has no reason", answer(entry(1, 1, reason=None), entry(2, 1))),
    ("it gives criterion, score", answer({"criterion": 1, "score": 1}, entry(2, 1))),
    ("it gives criterion, reason, score, weight", answer(entry(1, 1, weight=100), entry(2, 1))),
    ("it gives int", answer(7, 6)),
]


@pytest.mark.parametrize(("told", "response"), MALFORMED)
def test_a_malformed_answer_is_an_error_and_is_not_kept(tmp_path: Path, fake: Fake, told: str, response: Json) -> None:
    """An answer that does not fit the form is no verdict; the next run asks again."""
    asked = fake(response)
    tree = final_tree(tmp_path, {"a": "x"})
    verdict = graded(tree).verdict
    assert (verdict.status, verdict.score) == ("error", None)
    assert verdict.summary.startswith("the judge's answer cannot be used: ")
    assert told in verdict.summary
    assert not kept(tree)
    graded(tree)
    assert len(asked.requests) == 2


@pytest.mark.parametrize("response", [answer(content=GOOD["content"][0]), answer(content="10"), {"content": None}, {}])
def test_what_is_no_answer_at_all_is_an_error(tmp_path: Path, fake: Fake, response: Json) -> None:
    """Not even a message."""
    fake(response)
    tree = final_tree(tmp_path, {"a": "x"})
    assert "error" == graded(tree).verdict.status
    assert not kept(tree)


@pytest.mark.parametrize("usage", [None, "many", [], {"input_tokens": "9", "output_tokens": -1},
                                   {"input_tokens": True, "output_tokens": 1.5}])
def test_odd_usage_is_no_reason_to_lose_a_verdict(tmp_path: Path, fake: Fake, usage: object) -> None:
    """Tokens that are no counts stay open."""
    fake({**GOOD, "usage": usage})
    verdict = graded(final_tree(tmp_path, {"a": "x"})).verdict
    assert (verdict.score, verdict.judging) == (6.5, Judging(MODEL, Usage()))


def test_an_unreachable_provider_is_an_error(tmp_path: Path, fake: Fake) -> None:
    """It says nothing of the agent's work."""
    fake(ProviderError("the gateway answered 503:\x1b[2J busy", hint="run again later"))
    tree = final_tree(tmp_path, {"a": "x"})
    said = "the gateway answered 503: busy"
    vote = Vote(MODEL, 1, error=said)
    assert Verdict("error", said, f"{said}\n  run again later", votes=(vote,)) == graded(tree).verdict
    assert not kept(tree)


def test_what_was_stopped_is_no_verdict(tmp_path: Path, fake: Fake) -> None:
    """Ctrl-C while a judge waits: nothing is said of the work, and nothing is written down."""
    fake(HarnessError("evalkit is being stopped"))
    tree = final_tree(tmp_path, {"a": "x"})
    running.end_all()
    try:
        with pytest.raises(HarnessError, match="being stopped"):
            graded(tree)
    finally:
        running.begin()


def test_no_judge_is_asked_without_a_key(tmp_path: Path, fake: Fake) -> None:
    """Why it does not judge is what the result shows."""
    asked = fake(GOOD)
    verdict = graded(final_tree(tmp_path, {"a": "x"}), state="no key for a judge model is set").verdict
    assert Verdict("skipped", "no key for a judge model is set") == verdict
    assert asked.requests == []


def test_no_matching_file_is_a_fail(tmp_path: Path, fake: Fake) -> None:
    """There is nothing to judge, and no call is paid for."""
    asked = fake(GOOD)
    verdict = graded(final_tree(tmp_path, {"a": "x"}), a_judge(files=("src/**", "*.zig"))).verdict
    assert Verdict("fail", "no file matches src/**, *.zig") == verdict
    assert asked.requests == []


def test_links_alone_are_a_fail(tmp_path: Path, fake: Fake) -> None:
    """A link has no text of its own to judge."""
    asked = fake(GOOD)
    tree = final_tree(tmp_path, {"notes": "x"}, links={"a.zig": "notes"})
    assert Verdict("fail", "no file of *.zig can be shown to a judge", "a.zig (a link)") == graded(
        tree, a_judge(files=("*.zig",))).verdict
    assert asked.requests == []


# ---- what is kept ----
def test_a_kept_answer_is_used_again(tmp_path: Path, fake: Fake) -> None:
    """The same question is paid for once; the answer is kept as it came."""
    asked = fake(GOOD)
    tree = final_tree(tmp_path, {"a": "x"})
    first = graded(tree).verdict
    asked.given = HarnessError("nobody is there")
    assert first == graded(tree).verdict
    assert len(asked.requests) == 1
    assert read_json(tree.session.store.path("judge", JUDGE_KEY) / "response.json") == GOOD


def test_an_answer_of_an_earlier_evalkit_is_used_again(tmp_path: Path, fake: Fake) -> None:
    """It lies in the store without what it took: its tokens are in the answer, its cost is not known."""
    asked = fake(HarnessError("nobody is there"))
    tree = final_tree(tmp_path, {"a": "x"})
    with tree.session.store.making("judge", JUDGE_KEY) as entry_folder:
        write_json(entry_folder / "response.json", GOOD)
    verdict = graded(tree).verdict
    assert (6.5, Judging(MODEL, Usage(input_tokens=900, output_tokens=40, cache_read_tokens=7))) == (
        verdict.score, verdict.judging)
    assert [] == asked.requests


# ---- what it costs ----
def test_an_answer_is_counted_once(tmp_path: Path, fake: Fake) -> None:
    """When it is given; used again, it tells the cost of then, and nothing is spent."""
    fake(GOOD)
    tree = final_tree(tmp_path, {"a": "x"})
    budget = tree.session.budget
    for _ in range(2):
        judging = graded(tree).verdict.judging
        assert judging is not None
        assert (COST, COST) == (judging.usage.cost, budget.spent)
    assert {} == budget.unknown


def test_an_answer_that_cannot_be_used_costs_as_much(tmp_path: Path, fake: Fake) -> None:
    """It is no verdict, but it was paid for."""
    fake(answer(entry(1, 7)))
    tree = final_tree(tmp_path, {"a": "x"})
    assert "error" == graded(tree).verdict.status
    assert tree.session.budget.spent == COST


def test_the_cost_of_an_unknown_model_is_not_known(tmp_path: Path, fake: Fake) -> None:
    """It is counted apart, and is no zero."""
    fake(GOOD)
    tree = final_tree(tmp_path, {"a": "x"})
    verdict = graded(tree, model="vendor/unknown-1").verdict
    assert verdict.judging is not None
    assert (None, "") == (verdict.judging.usage.cost, verdict.judging.usage.cost_source)
    assert (0.0, {"judge call": 1}) == (tree.session.budget.spent, tree.session.budget.unknown)


def test_no_judge_is_asked_once_the_budget_is_reached(tmp_path: Path, fake: Fake) -> None:
    """That is no verdict, and no error of the harness: it is said as what it is. A kept answer costs nothing."""
    asked = fake(GOOD)
    tree = final_tree(tmp_path, {"a": "x"})
    tree.session.budget = Budget(0.0)
    with pytest.raises(BudgetReached):
        graded(tree)
    assert [] == asked.requests
    tree.session.budget = Budget(COST)
    assert "scored" == graded(tree).verdict.status
    assert tree.session.budget.reached
    assert "scored" == graded(tree).verdict.status


def test_retries_are_said_and_shown(tmp_path: Path, fake: Fake) -> None:
    """Each as it happens, their number with the verdict; answers that were lost count as unknown costs."""
    asked = fake(GOOD)
    tree = final_tree(tmp_path, {"a": "x"})
    said: list[str] = []
    tree.session.say = said.append
    asked.retries, asked.lost = 2, 1
    first = graded(tree).verdict
    assert first.judging is not None
    assert 2 == first.judging.retries
    assert ["judge quality: answered 529"] * 2 == said
    assert {"judge call": 1} == tree.session.budget.unknown
    assert first == graded(tree).verdict


def test_a_provider_that_lost_its_answers_may_have_cost(tmp_path: Path, fake: Fake) -> None:
    """Nobody knows what, so it is said."""
    fake(ProviderError("timed out", lost=4))
    tree = final_tree(tmp_path, {"a": "x"})
    assert "error" == graded(tree).verdict.status
    assert {"judge call": 4} == tree.session.budget.unknown


# ---- what is asked ----
def test_the_whole_question(tmp_path: Path, fake: Fake) -> None:
    """Task, facts, files in order and criteria; an answer by the tool is forced."""
    asked = fake(GOOD)
    graded(final_tree(tmp_path, {"src/b": "two\n", "src/a": "one", "other": "no"}),
           a_judge("It is simple.", "It is tested.", files=("src/*",), context=("Zig 0.16 is right.",)))
    request = asked.requests[0]
    marker = re.search(r"carry the marker (\w+)\.", request["system"])
    assert marker is not None
    number = marker[1]
    assert asked.content == f"""\
# The task

Write a board.

# Facts to take as given

- Zig 0.16 is right.

# The files

----- {number} begin file 1 -----
src/a

one
----- {number} end file 1 -----

----- {number} begin file 2 -----
src/b

two

----- {number} end file 2 -----

# The criteria (quality beyond compliance)

1. It is simple.

2. It is tested."""
    assert request["model"] == MODEL
    assert request["tool_choice"] == {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
    assert [tool["name"] for tool in request["tools"]] == [TOOL]


def test_a_file_is_cut_at_24_kb(tmp_path: Path, fake: Fake) -> None:
    """The cut is said, in bytes."""
    asked = fake(GOOD)
    graded(final_tree(tmp_path, {"a": "x" * 30_000}))
    assert "x" * 24_576 + "\n… cut: 5424 of 30000 bytes are not shown …\n" in asked.content
    assert "x" * 24_577 not in asked.content


def test_all_files_are_cut_at_96_kb(tmp_path: Path, fake: Fake) -> None:
    """Files without room are named, inside a fence of their own."""
    asked = fake(GOOD)
    graded(final_tree(tmp_path, {f"f{number}": f"{number}" * 24_000 for number in range(6)}))
    assert 96_000 < len(asked.content.encode()) < 96 * 1024 + 1_000
    assert re.search(r"----- \w{32} begin files that are not shown -----\nf5 \(for its size\)\n-----", asked.content)


def test_thousands_of_files_make_no_huge_question(tmp_path: Path, fake: Fake) -> None:
    """Names and fences count too, and of the names left out a few are said."""
    asked = fake(GOOD)
    graded(final_tree(tmp_path, {f"f{number:05}": "" for number in range(4_000)}))
    assert len(asked.content.encode()) < 100 * 1024
    assert re.search(r"\nand \d{4} more\n-----", asked.content)


def test_keys_are_taken_out_before_anything_is_cut(tmp_path: Path, fake: Fake) -> None:
    """A key in a file, in a file's name or across a cut does not leave the machine, not even half of it."""
    asked = fake(GOOD)
    graded(final_tree(tmp_path, {"a": f"key = {SECRET}", f"b-{SECRET}": "x", "c": "y" * (24 * 1024 - 10) + SECRET}))
    assert SECRET[:8] not in asked.content
    assert "key = [AI_GATEWAY_API_KEY redacted]" in asked.content
    assert "b-[AI_GATEWAY_API_KEY redacted]" in asked.content


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path, fake: Fake) -> None:
    """A binary file makes the question neither invalid nor empty; a NUL, which some providers refuse, is replaced."""
    asked = fake(GOOD)
    assert graded(final_tree(tmp_path, {"a": b"\xff\xfe ok \x00"})).verdict.status == "scored"
    assert "�� ok �" in asked.content


# ---- over a real connection ----
def test_against_a_scripted_gateway(tmp_path: Path) -> None:
    """The question and the answer also hold over HTTP; prose beside the call changes nothing."""
    reply = Reply((Text("I would say 10 of 10."), ToolCall(TOOL, {"scores": [entry(1, 4), entry(2, 5)]})),
                  input_tokens=11, output_tokens=5)
    tree = final_tree(tmp_path, {"a": "x"})
    with ScriptedGateway([reply]) as gateway:
        verdict = graded(tree, url=gateway.url).verdict
    assert (verdict.status, verdict.score) == ("scored", 4.5)
    assert verdict.judging is not None
    assert (verdict.judging.usage.input_tokens, verdict.judging.usage.output_tokens) == (11, 5)
    assert gateway.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert kept(tree)


@pytest.mark.parametrize("step", [Fault(401), Fault(400), Reply((Text("no tool"),))])
def test_faults_of_a_gateway_are_errors(tmp_path: Path, step: Fault | Reply) -> None:
    """A refused key, a refused question and an answer in prose alone are no verdicts."""
    tree = final_tree(tmp_path, {"a": "x"})
    with ScriptedGateway([step]) as gateway:
        assert graded(tree, url=gateway.url).verdict.status == "error"
    assert not kept(tree)


# ---- what a case says of its judge ----
def test_a_temperature_and_a_size_are_kept_to(tmp_path: Path, fake: Fake) -> None:
    """`temperature` goes into the question, `files … up to SIZE` bounds what is shown."""
    asked = fake(GOOD)
    graded(final_tree(tmp_path, {"a": "x" * 5000}), evolve(a_judge(), temperature=0.2, most_bytes=1000))
    assert 0.2 == asked.requests[0]["temperature"]
    assert 500 < asked.content.count("x") < 1000
    assert "temperature" not in GOOD
