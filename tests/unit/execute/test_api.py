"""The agent `api`: what it asks, over three protocols, and what comes of the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import AgentConfig, Guidance, Limits, Skill
from evalkit.errors import UserError
from evalkit.execute.agents.api import OneRequest
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.registry import Agents
from evalkit.execute.models.prices import Price, Prices
from evalkit.execute.models.provider import Endpoint, Endpoints
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.running import begin, end_all
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Ended, Limit, Message, MessageUsage, read_events
from evalkit.gateway import CutStream, Fault, Hang, Reply, ScriptedGateway, Text
from evalkit.gateway.script import Answer, JsonObject
from evalkit.plan.keys import agent_inputs
from evalkit.plan.trials import Subject
from evalkit.values import evolve
from tests.unit.execute.make import ENV, a_job, case, setup, trial

KEY = "vck_dummy-key-0123456789"
PROTOCOLS = pytest.mark.parametrize("protocol", ["anthropic", "openai", "gemini"])
MODELS = {"anthropic": "anthropic/claude-test", "openai": "openai/gpt-test", "gemini": "google/gemini-test"}
KEYS = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY}
ANSWER = "Here it is:\n\n```js\nlet answer = 42;\n```\n"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job whose case has a contract, two documents and an answer."""
    begin()
    for name in ("workspace", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "contract.md").write_text("One fenced block.\n")
    (tmp_path / "one.md").write_text("# One\nIntro.\n\n## Setup\nSet up.\n\n## Use\nUse it.\n")
    (tmp_path / "two.md").write_text("\ufeff# Two\n", encoding="utf-8")
    unit = case(agent=AgentConfig("api", suffix="Be quick.", temperature=0.25), limits=Limits(time=30),
                setup=setup(contract="contract.md", answer="src/main.js", guidance=(
                    Guidance("one.md", ("Setup",)), Guidance("two.md"))))
    return a_job(trial=trial(unit, "api", "m"), root=tmp_path, workspace=tmp_path / "workspace",
                 home=tmp_path / "home", env=ENV, transcript=tmp_path / "transcript.jsonl",
                 redactor=Redactor.of({"AI_GATEWAY_API_KEY": KEY}), prices=Prices({"m": Price(1.0, 2.0, 1.0, 1.0)}))


def unit(job: Job, **changes: Any) -> Job:
    return evolve(job, trial=evolve(job.trial, case=evolve(job.trial.case, **changes)))


def provider(*answers: Answer) -> ScriptedGateway:
    """Gives these answers in turn. (To the scripts of a gateway a request without tools is one beside the others.)"""
    left = list(answers)
    return ScriptedGateway([], side=lambda _: left.pop(0))


def says(text: str, stop: str | None = None) -> Reply:
    return Reply((Text(text),), stop)


def body_of(gateway: ScriptedGateway) -> JsonObject:
    (asked,) = [request.body for request in gateway.requests if request.method == "POST"]
    assert asked is not None
    return asked


def run(job: Job, gateway: ScriptedGateway) -> Ending:
    return OneRequest(Endpoint(gateway.url, "AI_GATEWAY_API_KEY", KEY)).run(job)


def play(job: Job, *answers: Answer) -> Ending:
    """What comes of a run that gets these answers."""
    with provider(*answers) as gateway:
        return run(job, gateway)


def written(job: Job) -> str:
    return (job.workspace / "src/main.js").read_text()


# ---- what is asked ----
@PROTOCOLS
def test_the_request(job: Job, protocol: str) -> None:
    """The contract, then the guidance without what its arm leaves out; the prompt with its suffix; no tools; the
    temperature; the answer is the file.
    """
    model = MODELS[protocol]
    of = evolve(job, trial=evolve(job.trial, subject=Subject("api", model)))
    with provider(says(ANSWER)) as gateway:
        ending = Agents(Endpoints(KEYS, gateway.url), None, job.root).of(Subject("api", model)).run(of)
        body = body_of(gateway)
    system = "One fenced block.\n\n# One\nIntro.\n\n## Use\nUse it.\n\n# Two"
    prompt = "Say hello.\n\nBe quick."
    assert {
        "anthropic": lambda: (body["system"], body["messages"], body["temperature"]),
        "openai": lambda: (body["messages"][0]["content"], body["messages"][1:], body["temperature"]),
        "gemini": lambda: (body["systemInstruction"]["parts"][0]["text"], body["contents"],
                           body["generationConfig"]["temperature"]),
    }[protocol]() == (system, [{"role": "user", "parts": [{"text": prompt}]} if protocol == "gemini" else
                               {"role": "user", "content": prompt}], 0.25)
    assert "tools" not in body
    assert ("completed", "answered", ()) == (ending.status, ending.detail, ending.notes)
    assert 1 == ending.usage.turns
    assert "let answer = 42;\n" == written(job)


def test_an_arm_without_guidance_has_no_system_prompt(job: Job) -> None:
    """None at all, not an empty one."""
    with provider(says(ANSWER)) as gateway:
        run(unit(job, setup=setup(answer="src/main.js")), gateway)
        assert "system" not in body_of(gateway)
    assert "let answer = 42;\n" == written(job)


def test_a_document_that_is_not_there(job: Job) -> None:
    """The person's mistake, before anything is asked."""
    (job.root / "two.md").unlink()
    with pytest.raises(UserError, match=r"two\.md cannot be read"):
        play(job, says(ANSWER))
    (job.root / "two.md").write_bytes(b"\xff")
    with pytest.raises(UserError, match=r"two\.md is not UTF-8"):
        play(job, says(ANSWER))


def test_what_it_reads_is_in_its_key(job: Job) -> None:
    """The contents of contract and guidance, the sections left out, the answer's name; no turns, no allow list."""
    of = evolve(job.trial, traits=OneRequest(None).traits)
    inputs = agent_inputs(of, lambda path: f"contents of {path}")
    assert "contents of contract.md" == inputs["contract contract.md"]
    assert {"guidance one.md", "guidance two.md", "sections left out", "answer file", "temperature", "prompt",
            "prompt suffix", "model", "time limit"} <= set(inputs)
    assert not {"turn limit", "allow list", "prewarm"} & set(inputs)
    limited = evolve(of, case=evolve(of.case, limits=Limits(cost=1.0, tokens=5)))
    assert {"cost limit", "token limit"} <= set(agent_inputs(limited, lambda _: ""))


def test_what_it_does_not_do(job: Job) -> None:
    """A skill in a folder that it never sees would be measured as if it were read."""
    agent = OneRequest(None)
    assert [] == agent.cannot(job.trial.case)
    other = evolve(job.trial.case, setup=setup(skills=(Skill("s", None, "skills/s", "x:1:1"),)),
                   agent=AgentConfig("api", mcp="mcp.json"))
    assert ["`skills`", "`mcp`"] == agent.cannot(other)
    seeded = evolve(job.trial.case, agent=AgentConfig("api", seed=7))
    assert [] == agent.cannot(seeded)
    assert ["`seed` (the Messages API has none)"] == OneRequest(Endpoint("x", "ANTHROPIC_API_KEY", KEY)).cannot(seeded)


def test_a_dry_run_shows_the_request(job: Job) -> None:
    """Address, headers and body, without the key; without a key what would be asked."""
    shown = OneRequest(Endpoint("http://127.0.0.1:9", "AI_GATEWAY_API_KEY", KEY)).describe(job)
    assert shown.startswith("POST http://127.0.0.1:9/v1/messages\nauthorization: [AI_GATEWAY_API_KEY redacted]\n")
    body = json.loads(shown.partition("\n\n")[2])
    assert "Say hello.\n\nBe quick." == body["messages"][0]["content"]
    assert KEY not in shown
    shown = OneRequest(None).describe(job)
    assert "one request to m (no key for it is set)" in shown
    assert "One fenced block." in shown
    with pytest.raises(UserError, match="agent=api needs the model `m`, and no key for it is set"):
        OneRequest(None).run(job)


# ---- the answer ----
def test_the_transcript(job: Job) -> None:
    """What was asked and answered, and what it took; the provider's response as it came."""
    play(job, says(ANSWER))
    events = list(read_events(job.transcript))
    assert ["Message", "Message", "Message", "MessageUsage", "Ended"] == [type(event).__name__ for event in events]
    roles = [event.role for event in events if isinstance(event, Message)]
    assert ["system", "user", "assistant"] == roles
    assert [ANSWER] == [event.text for event in events if isinstance(event, Message) and event.role == "assistant"]
    assert any(isinstance(event, MessageUsage) and event.output_tokens for event in events)
    assert any(isinstance(event, Ended) and event.how == "completed" for event in events)
    assert '"raw":{' in job.transcript.read_text()


def test_a_reply_without_a_block(job: Job) -> None:
    """It is the answer, and that is said."""
    ending = play(job, says("let answer = 42;"))
    assert ("the reply has no code block: all of it is the answer",) == ending.notes
    assert "let answer = 42;\n" == written(job)


def test_a_reply_that_holds_nothing(job: Job) -> None:
    """No file is written, and no fault is the harness's."""
    ending = play(job, says("```js\n```"))
    assert ("completed", ("the reply holds no answer",)) == (ending.status, ending.notes)
    assert [] == list(job.workspace.iterdir())


def test_a_case_without_an_answer(job: Job) -> None:
    """Its reply is in the transcript."""
    assert ("the case names no `answer`: the reply is in the transcript alone",) == play(
        unit(job, setup=setup()), says(ANSWER)).notes


def test_the_answer_stays_in_the_workspace(job: Job) -> None:
    """A link that a template has in its way is no way out; a file of its name is replaced."""
    outside = job.root / "outside"
    outside.mkdir()
    (outside / "main.js").write_text("mine")
    (job.workspace / "src").symlink_to(outside)
    play(job, says(ANSWER))
    assert "mine" == (outside / "main.js").read_text()
    assert "let answer = 42;\n" == written(job)
    assert not (job.workspace / "src").is_symlink()


def test_a_refusal_is_an_answer(job: Job) -> None:
    """Of the model's: it is noted, graded, and its words are no answer."""
    ending = play(job, says("I would rather not.", "refusal"))
    assert ("completed", "the model refused to answer", ("refused: refusal",)) == (
        ending.status, ending.detail, ending.notes)
    assert [] == list(job.workspace.iterdir())


@pytest.mark.parametrize(("reply", "stop"), [("```js\n```", "end_turn"), ("", "end_turn"), ("No.", "refusal")])
def test_what_a_template_has_is_no_answer(job: Job, reply: str, stop: str) -> None:
    """It would have been graded as the model's own; everything else stays."""
    (job.workspace / "src").mkdir()
    (job.workspace / "src/main.js").write_text("// start here\n")
    (job.workspace / "src/other.js").write_text("")
    play(job, says(reply, stop))
    assert ["other.js"] == [file.name for file in (job.workspace / "src").iterdir()]


def test_what_lies_behind_a_link_stays(job: Job) -> None:
    """Nothing outside of the workspace is removed."""
    outside = job.root / "outside"
    outside.mkdir()
    (outside / "main.js").write_text("mine")
    (job.workspace / "src").symlink_to(outside)
    play(job, says("No.", "refusal"))
    assert "mine" == (outside / "main.js").read_text()


# ---- limits ----
def test_a_reply_that_is_cut(job: Job) -> None:
    """What there is of it is the answer; it is capped, which is no fail by itself."""
    ending = play(job, says("```js\nlet answer", "max_tokens"))
    assert ("capped", "its answer reached the length that it may have",
            ("the answer's code block is not closed",)) == (ending.status, ending.detail, ending.notes)
    assert "let answer\n" == written(job)
    assert any(isinstance(event, Limit) and event.what == "tokens" for event in read_events(job.transcript))


@pytest.mark.parametrize(("limits", "longest", "detail"), [
    (Limits(tokens=5), 5, "reached its limit of 5 tokens"),
    (Limits(cost=0.0001), 50, "reached its cost limit of $0.0001"),
    (Limits(tokens=50_000, cost=0.05), 25_000, "answered"),
])
def test_limits_of_tokens_and_cost(job: Job, limits: Limits, longest: int, detail: str) -> None:
    """The answer may be no longer than they allow, and one that goes over them with its prompt is capped."""
    with provider(says(ANSWER)) as gateway:
        ending = run(unit(job, limits=limits), gateway)
        assert longest == body_of(gateway)["max_tokens"]
    assert detail == ending.detail


def test_a_cost_limit_where_no_price_is_known(job: Job) -> None:
    """Said, since nobody can keep to it."""
    of = evolve(unit(job, limits=Limits(cost=1.0)), prices=Prices())
    assert ("what it cost is not known, so its cost limit was not looked at",) == play(
        of, says(ANSWER)).notes


def test_what_it_cost(job: Job) -> None:
    """By the price that is known for the model that was asked for."""
    usage = play(job, says(ANSWER)).usage
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None
    assert (usage.input_tokens + 2 * usage.output_tokens) / 1_000_000 == pytest.approx(usage.cost)
    assert "the project's prices" == usage.cost_source


def test_the_time_limit(job: Job) -> None:
    """A model that does not answer in its time: a timeout, at a cost that nobody knows."""
    ending = play(unit(job, limits=Limits(time=1)), Hang(30))
    assert ("timeout", "ended after its 1 s", None) == (ending.status, ending.detail, ending.usage.cost)


# ---- failures ----
def attempt(job: Job, answer: Answer) -> AgentError:
    with pytest.raises(AgentError) as raised:
        play(job, answer)
    assert KEY not in f"{raised.value}"
    return raised.value


def test_a_rate_limit_passes(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked again, and that is counted."""
    monkeypatch.setattr("evalkit.execute.retry._sleep", lambda _: None)
    ending = play(job, Fault(429), Fault(529), says(ANSWER))
    assert ("completed", (), 2) == (ending.status, ending.notes, ending.retries)


def test_a_gateway_of_ours_asks_again_itself(job: Job) -> None:
    """What it gives up is given up: a failed attempt, for nothing."""
    with provider(Fault(429, retry_after=7)) as gateway:
        between = Endpoint(gateway.url, "AI_GATEWAY_API_KEY", "lease-token")
        with pytest.raises(AgentError, match="answered 429") as raised:
            OneRequest(Endpoint("http://127.0.0.1:1", "AI_GATEWAY_API_KEY", KEY)).run(evolve(job, endpoint=between))
    assert (True, 7.0, 0.0) == (raised.value.transient, raised.value.retry_after, raised.value.usage.cost)


def test_an_answer_that_was_lost(job: Job) -> None:
    """It may have been paid for: a failed attempt of its own, at a cost that is not known, which passes by itself."""
    error = attempt(job, CutStream(0))
    assert (True, Usage()) == (error.transient, error.usage)


def test_a_request_that_is_refused(job: Job) -> None:
    """Asking again does not help, and nothing was paid."""
    error = attempt(job, Fault(400))
    assert (False, 0.0) == (error.transient, error.usage.cost)
    assert "answered 400" in error.message


@pytest.mark.parametrize(("status", "message"), [
    (401, "refused the key in AI_GATEWAY_API_KEY"), (404, "has no model `m`")])
def test_what_the_person_has_to_mend(job: Job, status: int, message: str) -> None:
    """A key or a model: told with the variable or the choice to change, as the provider's refusal; nothing is kept."""
    error = attempt(job, Fault(status))
    assert message in error.message
    assert (False, 0.0) == (error.transient, error.usage.cost)


def test_a_run_that_is_stopped(job: Job) -> None:
    """It does not wait for the answer."""
    seen: list[float] = []

    def tick(seconds: float) -> None:
        seen.append(seconds)
        end_all()

    try:
        assert "being stopped" in attempt(evolve(job, tick=tick), Hang(30)).message
    finally:
        begin()
    assert seen
