"""The adapter of Claude Code, with a program in its place that speaks the stream of a scenario.

The lines have the shape of the real ones (2.1.332); the real program is driven in tests/e2e.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from evalkit.analysis.model import AgentConfig, Limits
from evalkit.digest import digest_file
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents import claude_fence
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.claude import ClaudeCode
from evalkit.execute.models.prices import Price, Prices, price_date
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.secrets import Redactor
from evalkit.execute.toolchain import Installed
from evalkit.values import evolve

from .make import a_job, case, trial

KEY = "sk-secret-0123456789"
GATEWAY = Endpoint("https://gateway.invalid", "AI_GATEWAY_API_KEY", KEY)
MODEL = "claude-sonnet-4-5-20250929"
"""As the provider names it; 3 dollars a million tokens in, 15 out, 0.3 from the cache."""
PROGRAM = """\
#!{python} -IS
import json, os, sys, time, signal
here = os.path.dirname(os.path.abspath(__file__))
if "--version" in sys.argv:
    print("2.1.0 (Claude Code)")
    raise SystemExit
with open(here + "/seen.json", "w") as file:
    json.dump(dict(argv=sys.argv[1:], env=dict(os.environ), text=sys.stdin.read(), cwd=os.getcwd()), file)
for step in json.load(open(here + "/scenario.json")):
    for name, what in step.items():
        if name == "line":
            print(json.dumps(what), flush=True)
        elif name == "raw":
            print(what, flush=True)
        elif name == "error":
            print(what, file=sys.stderr, flush=True)
        elif name == "sleep":
            time.sleep(what)
        elif name == "kill":
            os.kill(os.getpid(), what)
        elif name == "exit":
            sys.exit(what)
"""
Step = dict[str, Any]


def reply(number: int = 1, text: str = "hi", model: str = "m", **usage: int) -> Step:
    """One content block of a message."""
    return {"line": {"type": "assistant", "message": {
        "id": f"msg_{number}", "model": model, "role": "assistant", "content": [{"type": "text", "text": text}],
        "stop_reason": None,
        "usage": {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 10, **usage}}}}


def shown_error(kind: str, **more: Any) -> Step:
    """An error in a reply's place."""
    return {"line": {"type": "assistant", "error": kind, "is_api_error_message": True, **more, "message": {
        "id": "made-up", "model": "<synthetic>", "content": [], "usage": {"input_tokens": 0, "output_tokens": 0}}}}


def begins(number: int = 1, model: str = MODEL, source: str | None = None, **usage: int) -> Step:
    """The provider's own event at the beginning of a reply."""
    return {"line": {"type": "stream_event", "parent_tool_use_id": source, "event": {
        "type": "message_start", "message": {"id": f"msg_{number}", "model": model, "usage": {
            "input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 10, **usage}}}}}


def ends(output: int = 50, source: str | None = None, reason: str = "tool_use") -> Step:
    """The one at its end, with the count of its output."""
    return {"line": {"type": "stream_event", "parent_tool_use_id": source, "event": {
        "type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": output}}}}


def turn(number: int = 1, output: int = 50) -> list[Step]:
    """A whole reply with its events."""
    return [begins(number), reply(number, model=MODEL), ends(output)]


def retry(status: int | None = None, error: str = "unknown") -> Step:
    return {"line": {"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": status, "error": error}}


def result(**changes: Any) -> Step:
    return {"line": {
        "type": "result", "subtype": "success", "is_error": False, "terminal_reason": "completed", "num_turns": 2,
        "api_error_status": None, "stop_reason": "end_turn", "total_cost_usd": 0.25, "session_id": "s",
        "permission_denials": [], "result": "done",
        "usage": {"input_tokens": 200, "output_tokens": 40, "cache_read_input_tokens": 20,
                  "cache_creation_input_tokens": 5}, **changes}}


@frozen
class Bench:
    """A job for the agent, and the program's scenario beside it."""

    folder: Path
    job: Job = field(init=False)

    def __attrs_post_init__(self) -> None:
        desk = self.folder / "work space/1-agent"
        for folder in (desk / "app", desk / "home", self.folder / "bin"):
            folder.mkdir(parents=True)
        program = self.folder / "bin/claude"
        program.write_text(PROGRAM.replace("{python}", sys.executable))
        program.chmod(0o755)
        root = self.folder / "project"
        object.__setattr__(self, "job", a_job(
            trial=trial(), root=root, workspace=desk / "app", home=desk / "home",
            env={"PATH": os.environ["PATH"], "HOME": str(desk / "home"), "TMPDIR": str(desk)},
            transcript=self.folder / "transcript.jsonl",
            off_limits=(root / "cases", root / "results", root / ".evalkit"),
            redactor=Redactor.of({"AI_GATEWAY_API_KEY": KEY})))

    def agent(self, endpoint: Endpoint | None = GATEWAY) -> ClaudeCode:
        return ClaudeCode.of(endpoint, str(self.folder / "bin/claude"))

    def run(self, *steps: Step, job: Job | None = None, endpoint: Endpoint | None = GATEWAY,
            time: int = 20, cost: float | None = None, tokens: int | None = None) -> Ending:
        (self.folder / "bin/scenario.json").write_text(json.dumps(steps))
        given = job or self.job
        limited = evolve(given.trial.case, limits=Limits(turns=7, time=time, cost=cost, tokens=tokens))
        return self.agent(endpoint).run(evolve(given, trial=evolve(given.trial, case=limited)))

    def fails(self, *steps: Step, time: int = 20) -> AgentError:
        with pytest.raises(AgentError) as raised:
            self.run(*steps, time=time)
        assert KEY not in str(raised.value)
        return raised.value

    @property
    def seen(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "bin/seen.json").read_text())
        return found

    @property
    def transcript(self) -> str:
        return self.job.transcript.read_text()

    @property
    def errors(self) -> str:
        return self.job.transcript.with_suffix(".stderr").read_text()

    def values(self, option: str) -> list[str]:
        """What follows an option on the command line, up to the next one."""
        argv: list[str] = self.seen["argv"]
        after = argv[argv.index(option) + 1 :]
        ends = next((number for number, word in enumerate(after) if word.startswith("--")), len(after))
        return after[:ends]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ---- how a run ends ----
def test_a_run_that_ends_by_itself(bench: Bench) -> None:
    """Completed, with the usage of the result line; blocks of one message are one turn."""
    ending = bench.run(reply(1), reply(1, "more"), reply(2), result())
    assert Ending("completed", "completed", Usage(2, 200, 40, 20, 5, 0.25, "Claude Code")) == ending
    assert 4 == len(bench.transcript.splitlines())


def test_the_turn_limit(bench: Bench) -> None:
    """Capped, although the program fails."""
    ending = bench.run(reply(), result(subtype="error_max_turns", is_error=True, terminal_reason="max_turns"),
                       {"exit": 1})
    assert ("capped", "reached its 7 turns") == (ending.status, ending.detail)
    assert 0.25 == ending.usage.cost


@pytest.mark.parametrize(("status", "kind", "transient"), [
    (429, "rate_limit", True), (529, "server_error", True), (500, "server_error", True), (503, "server_error", True),
    (400, "unknown", False), (402, "unknown", False), (413, "invalid_request", False)])
@pytest.mark.parametrize("code", [0, 1])
def test_a_provider_that_fails(status: int, kind: str, transient: bool, code: int, bench: Bench) -> None:
    """An error, whatever the subtype and the exit status say; what passes by itself is worth another attempt."""
    error = bench.fails(*turn(), shown_error(kind, api_error_status=status),
                        result(is_error=True, terminal_reason="api_error", api_error_status=status,
                               result=f"API Error: {status} {KEY}"), {"exit": code})
    assert (f"the provider failed the agent (status {status}): API Error: {status} [AI_GATEWAY_API_KEY redacted]"
            == error.message)
    assert (transient, None) == (error.transient, error.retry_after)
    assert (0.25, "Claude Code") == (error.usage.cost, error.usage.cost_source)
    assert "run again" in error.hint


def test_a_connection_that_is_lost_for_good(bench: Bench) -> None:
    """It has no status; the error that is shown tells what it was."""
    lost = result(is_error=True, terminal_reason="api_error", result="API Error: Connection to the API was lost")
    error = bench.fails(reply(), shown_error("server_error", api_error="connection_failed"), lost, {"exit": 1})
    assert ("the provider failed the agent: API Error: Connection to the API was lost", True) == (
        error.message, error.transient)
    assert not bench.fails(reply(), shown_error("server_error"), lost, {"exit": 1}).transient


def test_an_api_error_is_one_without_the_flag(bench: Bench) -> None:
    """`terminal_reason` alone is enough."""
    assert "the provider failed the agent" in bench.fails(reply(), result(terminal_reason="api_error")).message


def test_an_unknown_model(bench: Bench) -> None:
    """The person's to mend: another attempt would not find it either."""
    error = bench.fails(shown_error("model_not_found"),
                        result(is_error=True, terminal_reason="api_error", api_error_status=404), {"exit": 1})
    assert "https://gateway.invalid has no model `anthropic/claude-x-1.5`" == error.message
    assert ("choose another one: model=SLUG", False) == (error.hint, error.transient)


def test_a_prompt_that_never_reached_the_model(bench: Bench) -> None:
    """Claude Code takes `/help` for a command of its own, and calls that a success."""
    own = {"line": {"type": "assistant", "message": {"id": "x", "model": "<synthetic>", "content": [], "usage": {}}}}
    for steps in ([own, result()], [result()]):
        error = bench.fails(*steps)
        assert ("Claude Code ended without asking its model", False) == (error.message, error.transient)


def test_a_model_that_answers_nothing(bench: Bench) -> None:
    """It was asked, and paid for: its replies are no messages of the stream, but they have an end."""
    ending = bench.run(begins(1), ends(0, reason="end_turn"), begins(2), ends(0, reason="end_turn"), result())
    assert ("completed", 2) == (ending.status, ending.usage.turns)
    assert "its model answered nothing" in ending.notes
    assert "its model answered nothing" not in bench.run(*turn(), result()).notes
    error = bench.fails(begins(1), result())
    assert "Claude Code ended without asking its model" == error.message


def test_an_unknown_ending_is_an_error(bench: Bench) -> None:
    """A subtype that we do not know is neither a success nor the agent's failure."""
    error = bench.fails(reply(), result(subtype="error_during_execution", result=None))
    assert ("Claude Code failed: error_during_execution", False) == (error.message, error.transient)
    assert not bench.fails(reply(), result(subtype="error_max_budget_usd", is_error=True), {"exit": 1}).transient


def test_a_forbidden_key_is_final(bench: Bench) -> None:
    """A 403 ends the program after one request: told as a refused key."""
    error = bench.fails(result(is_error=True, terminal_reason="api_error", api_error_status=403), {"exit": 1})
    assert "https://gateway.invalid refused the key in AI_GATEWAY_API_KEY (status 403)" == error.message
    assert not error.transient


def test_a_refusal_is_the_models_doing(bench: Bench) -> None:
    """It comes as a provider's error, but it is what the model made of the task: kept and graded."""
    ending = bench.run(reply(), shown_error("invalid_request"),
                       result(is_error=True, terminal_reason="api_error", stop_reason="refusal"), {"exit": 1})
    assert ("completed", "the model refused to go on") == (ending.status, ending.detail)


def test_a_reply_that_is_too_long_is_the_models_doing(bench: Bench) -> None:
    """So is one that is cut again and again."""
    ending = bench.run(reply(), shown_error("max_output_tokens"),
                       result(is_error=True, terminal_reason="api_error", stop_reason="stop_sequence"), {"exit": 1})
    assert ("completed", "the model's reply went over its length") == (ending.status, ending.detail)


@pytest.mark.parametrize("line", [retry(401, "authentication_failed"), retry(401),
                                  retry(None, "authentication_failed")])
def test_a_refused_key_is_told_at_once(line: Step, bench: Bench) -> None:
    """The program would try again for minutes: it is ended at the first line that says so."""
    began = time.monotonic()
    error = bench.fails(line, {"sleep": 60})
    assert time.monotonic() - began < 30
    assert "refused the key in AI_GATEWAY_API_KEY" in error.message
    assert "set AI_GATEWAY_API_KEY" in error.hint
    assert (False, Usage(turns=0, cost=0.0)) == (error.transient, error.usage)


def test_a_provider_that_cannot_be_reached(bench: Bench) -> None:
    """Three retries without any connection, and no reply before: it is ended."""
    began = time.monotonic()
    error = bench.fails(retry(), retry(), retry(), {"sleep": 60})
    assert time.monotonic() - began < 30
    assert "https://gateway.invalid cannot be reached" == error.message
    assert (True, Usage(turns=0, cost=0.0)) == (error.transient, error.usage)


def test_retries_that_help(bench: Bench) -> None:
    """Overload is waited for; so is a connection that fails after it has worked. Both are noted."""
    ending = bench.run(retry(529), retry(529), retry(529), retry(529), reply(), retry(), retry(), retry(), retry(),
                       reply(2), result())
    assert ("completed", (), 8) == (ending.status, ending.notes, ending.retries)


def test_a_time_limit_with_replies(bench: Bench) -> None:
    """The agent's own timeout: kept, with the usage so far; nobody counted the output tokens or the cost."""
    ending = bench.run(reply(1), reply(2), {"sleep": 60}, time=1)
    assert ("timeout", "ended after its 1 s") == (ending.status, ending.detail)
    assert Usage(2, 200, None, 20, 0, None, "") == ending.usage


def test_a_time_limit_without_a_reply(bench: Bench) -> None:
    """The provider never answered: an error, nothing of the agent's."""
    busy = [retry(529), retry(529), shown_error("overloaded"), {"sleep": 60}]
    for steps, transient in (([{"sleep": 60}], False), (busy, True)):
        error = bench.fails(*steps, time=1)
        assert ("https://gateway.invalid gave no answer within 1 s", transient) == (error.message, error.transient)
        assert error.usage.cost is None


def test_a_time_limit_while_the_provider_is_down(bench: Bench) -> None:
    """An agent that was working when the provider went away did not run out of its time."""
    error = bench.fails(reply(), retry(529), retry(529), retry(529), {"sleep": 60}, time=1)
    assert "did not answer any more" in error.message
    assert error.transient


def test_a_program_that_does_not_exit_after_its_result(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended; the result stands."""
    monkeypatch.setattr("evalkit.execute.agents.claude_stream._AFTER_RESULT", 0.2)
    began = time.monotonic()
    assert "completed" == bench.run(reply(), result(), {"sleep": 60}).status
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(("steps", "how"), [
    ([reply(), {"exit": 0}], "exit status 0"),
    ([{"error": f"it broke {KEY}"}, {"exit": 3}], "exit status 3): it broke [AI_GATEWAY_API_KEY redacted]"),
    ([reply(), {"kill": 9}], "exit status -9"),
    ([reply(), {"exit": 143}], "exit status 143"),
])
def test_an_end_without_a_result(steps: list[Step], how: str, bench: Bench) -> None:
    """Killed, crashed or gone: an error with the program's last words. Nothing says that it was the provider's."""
    error = bench.fails(*steps)
    assert f"Claude Code ended without a result ({how}" in error.message
    assert not error.transient


def test_a_result_line_that_is_cut_off(bench: Bench) -> None:
    """A stream that breaks within its last line has no result, whatever the exit status."""
    whole = json.dumps(result()["line"])
    assert "without a result" in bench.fails(*turn(), {"raw": whole[:-20]}, {"exit": 0}).message


def test_what_a_failed_run_consumed(bench: Bench) -> None:
    """It was paid for: the replies are counted, the last one as far as it came."""
    error = bench.fails(*turn(1, output=1000), begins(2), {"kill": 9})
    assert (1, 200, 1001, 20) == (error.usage.turns, error.usage.input_tokens, error.usage.output_tokens,
                                  error.usage.cache_read_tokens)
    assert (200 * 3 + 1001 * 15 + 20 * 0.3) / 1e6 == pytest.approx(error.usage.cost)
    assert f"price list {price_date()}, without the end of the last reply" == error.usage.cost_source


def test_a_full_disk_is_told_with_what_was_consumed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness's error, and the cost of what ran until then."""

    def full(_: Path) -> None:
        raise HarnessError("the disk is full", hint="make room")

    monkeypatch.setattr("evalkit.execute.process._check_space", full)
    error = bench.fails(*turn(), {"exit": 1})
    assert ("the disk is full", "make room", False) == (error.message, error.hint, error.transient)
    assert error.usage.output_tokens == 50


# ---- limits of cost and tokens ----
def test_the_cost_limit(bench: Bench) -> None:
    """Claude Code keeps to it itself: capped, which is no fail. Without a limit it is not told of any."""
    ending = bench.run(*turn(), result(subtype="error_max_budget_usd", is_error=True, total_cost_usd=1.75,
                                       terminal_reason="budget_exhausted"), {"exit": 1}, cost=1.5)
    assert ("capped", "reached its cost limit of $1.50", 1.75) == (ending.status, ending.detail, ending.usage.cost)
    assert ["1.500000"] == bench.values("--max-budget-usd")
    bench.run(reply(), result())
    assert "--max-budget-usd" not in bench.seen["argv"]


def test_a_cost_limit_that_does_not_hold(bench: Bench) -> None:
    """Where it asks the model again although the limit was passed it is ended."""
    ending = bench.run(*turn(1, output=1000), *turn(2, output=100), begins(3), {"sleep": 60}, cost=0.016)
    assert ("capped", "reached its cost limit of $0.016") == (ending.status, ending.detail)
    assert 0.016 < (ending.usage.cost or 0.0) < 0.03
    assert bench.run(*turn(1, output=1000), *turn(2, output=100), begins(3), result(), cost=1.0).status == "completed"


def test_the_token_limit(bench: Bench) -> None:
    """All that is read and written counts, from the cache too; it is ended at once."""
    began = time.monotonic()
    ending = bench.run(*turn(1, output=50), *turn(2, output=50), {"sleep": 60}, tokens=300)
    assert time.monotonic() - began < 30
    assert ("capped", "reached its limit of 300 tokens") == (ending.status, ending.detail)
    assert (200, 100, 20) == (ending.usage.input_tokens, ending.usage.output_tokens, ending.usage.cache_read_tokens)
    assert bench.run(*turn(1, output=50), *turn(2, output=50), result(), tokens=320).status == "completed"


def test_the_token_limit_without_events(bench: Bench) -> None:
    """A program that tells no events is held to what it tells: what was read."""
    ending = bench.run(reply(1), reply(2), reply(3), {"sleep": 60}, tokens=300)
    assert ("capped", 3, None) == (ending.status, ending.usage.turns, ending.usage.output_tokens)


def test_subagents_count_too(bench: Bench) -> None:
    """Their replies come between those of the agent, and are told apart by who asked."""
    ending = bench.run(begins(1), begins(2, source="task"), ends(70, source="task"), reply(1), ends(30),
                       {"sleep": 60}, tokens=319)
    assert ("capped", 100) == (ending.status, ending.usage.output_tokens)


def test_the_last_reply_may_pass_the_limit(bench: Bench) -> None:
    """A run that ends by itself with it was not ended by the limit; one that would have gone on was."""
    for reason, status in (("end_turn", "completed"), ("tool_use", "capped")):
        assert status == bench.run(begins(), reply(), ends(500, reason=reason), result(), tokens=300).status


# ---- what a run consumed ----
def test_events_are_counted_and_not_written_down(bench: Bench) -> None:
    """The transcript holds whole messages; a timeout's output and cost come from the events."""
    requesting = {"line": {"type": "system", "subtype": "status", "status": "requesting"}}
    ending = bench.run(requesting, *turn(1, output=40), *turn(2, output=60), {"sleep": 60}, time=1)
    assert 2 == len(bench.transcript.splitlines())
    cost = (200 * 3 + 100 * 15 + 20 * 0.3) / 1e6
    assert Usage(2, 200, 100, 20, 0, ending.usage.cost, f"price list {price_date()}") == ending.usage
    assert cost == pytest.approx(ending.usage.cost)


def model_usage(**changes: Any) -> dict[str, Any]:
    return {"inputTokens": 1000, "outputTokens": 100, "cacheReadInputTokens": 10, "cacheCreationInputTokens": 1,
            "costUSD": 0.1, "costBasis": "list", **changes}


def test_all_models_count(bench: Bench) -> None:
    """`usage` of the result line lacks the last request where a limit ended the run, `modelUsage` lacks nothing."""
    ending = bench.run(*turn(), result(modelUsage={"a": model_usage(), "b": model_usage()}))
    assert Usage(1, 2000, 200, 20, 2, 0.25, "Claude Code") == ending.usage


def test_a_guessed_price_is_told_as_such(bench: Bench) -> None:
    """Claude Code guesses where it knows no price; a price of the project's is none."""
    guessed = result(modelUsage={"a": model_usage(), "vendor/x": model_usage(costBasis="unknown")})
    ending = bench.run(reply(), guessed)
    assert (0.25, "a guess of Claude Code's: no price of vendor/x") == (ending.usage.cost, ending.usage.cost_source)
    price = Price(1.0, 2.0, 3.0, 4.0)
    ending = bench.run(reply(), guessed, job=evolve(bench.job, prices=Prices({"a": price, "vendor/x": price})))
    assert "the project's prices" == ending.usage.cost_source
    assert 2 * (1000 + 200 + 30 + 4) / 1e6 == pytest.approx(ending.usage.cost)


def test_noise_between_the_lines(bench: Bench) -> None:
    """What is no JSON, no object, or an object of another shape is written down and says nothing."""
    noise = ["npm notice", "", "[1]", "{", "null", '{"type": "assistant"}', '{"type": "assistant", "message": "x"}',
             '{"type": "system", "subtype": "api_retry"}', '{"type": "result"', "\\ud800"]
    ending = bench.run(reply(), *({"raw": line} for line in noise), result(usage=None, permission_denials=None))
    assert "completed" == ending.status
    assert 100 == ending.usage.input_tokens
    assert all(line in bench.transcript.splitlines() for line in noise)


def test_a_text_cut_within_a_character(bench: Bench) -> None:
    """JavaScript writes half a surrogate pair; such a result line still counts, and its notes can be written."""
    denied = [{"tool_name": "Bash", "tool_input": {"command": "echo \ud83d"}}]
    ending = bench.run(reply(), result(result="\ud83d", permission_denials=denied))
    assert "completed" == ending.status
    ending.notes[0].encode()


def test_denials_are_noted(bench: Bench) -> None:
    """With what was asked, cut to a line; many are counted."""
    denied = [{"tool_name": "Bash", "tool_input": {"command": f"rm {KEY} {number}"}} for number in range(23)]
    notes = bench.run(reply(), result(permission_denials=denied)).notes
    assert ('denied: Bash {"command": "rm [AI_GATEWAY_API_KEY redacted] 0"}', 21, "and 3 more denied") == (
        notes[0], len(notes), notes[-1])


# ---- secrets ----
def test_keys_are_in_no_file(bench: Bench) -> None:
    """Neither in the transcript nor in what the program says beside it, whatever the agent printed."""
    bench.run(reply(1, f"the key is {KEY}"), {"error": f"debug {KEY}"}, {"raw": f"noise {KEY}"}, result())
    assert 2 == bench.transcript.count("[AI_GATEWAY_API_KEY redacted]")
    assert "debug [AI_GATEWAY_API_KEY redacted]\n" == bench.errors
    assert KEY not in bench.transcript + bench.errors


def test_the_transcript_grows_as_it_streams(bench: Bench) -> None:
    """Each line is on the disk before the next one comes."""
    sizes: list[int] = []
    job = evolve(bench.job, tick=lambda _: sizes.append(len(bench.transcript.splitlines())))
    bench.run(reply(1), {"sleep": 0.4}, reply(2), {"sleep": 0.4}, result(), job=job)
    assert {1, 2} <= set(sizes)


# ---- what it is started with ----
def test_the_command_line(bench: Bench) -> None:
    """Headless, its own MCP servers alone, edits accepted, the model and the turn limit."""
    bench.run(reply(), result())
    argv = bench.seen["argv"]
    assert ["-p", "--output-format", "stream-json", "--verbose"] == argv[:4]
    assert ["anthropic/claude-x-1.5"] == bench.values("--model")
    assert ["7"] == bench.values("--max-turns")
    assert ["acceptEdits"] == bench.values("--permission-mode")
    assert "--strict-mcp-config" in argv
    assert ['{"mcpServers": {}}'] == bench.values("--mcp-config")
    assert "--allowedTools" not in argv
    assert "--dangerously-skip-permissions" not in argv


@pytest.mark.parametrize(("lane", "walls"), [("local", None), ("sandbox", "1")])
def test_permissions_are_skipped_where_that_is_asked_for(lane: str, walls: str | None, bench: Bench,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    """No rule allows anything then, and what is denied stays denied; only a sandbox is told to be one."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    agent = AgentConfig("claude", allow=("Bash(ls *)",), deny=("WebFetch",), permissions="skip")
    bench.run(reply(), result(), job=evolve(bench.job, trial=trial(case(agent=agent), lane=lane)))
    argv = bench.seen["argv"]
    assert "--dangerously-skip-permissions" in argv
    assert [] == [word for word in argv if word in ("--permission-mode", "--allowedTools")]
    root = bench.job.root
    assert ["WebFetch", f"Read(/{root}/cases/**)", f"Edit(/{root}/cases/**)"] == bench.values("--disallowedTools")[:3]
    assert walls == bench.seen["env"].get("IS_SANDBOX")


def test_root_skips_no_permissions_outside_a_sandbox(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so before anything is made, and whatever the case's variables claim."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    agent = AgentConfig("claude", permissions="skip", env=(("IS_SANDBOX", "1"),))
    of = trial(case(agent=agent))
    with pytest.raises(UserError, match="does not run with `permissions skip` as root"):
        bench.agent().check(of)
    with pytest.raises(UserError, match="as root"):
        bench.run(reply(), result(), job=evolve(bench.job, trial=of))
    bench.agent().check(evolve(of, lane="sandbox"))
    bench.agent().check(trial())


@pytest.mark.parametrize("name", ["CLAUDE.md", "managed-settings.json", "managed-mcp.json"])
def test_what_an_administrator_gave_the_machine_is_an_error(name: str, bench: Bench, tmp_path: Path,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """It would reach the agent, whatever its HOME."""
    monkeypatch.setattr(claude_fence, "MANAGED", (tmp_path / "policy" / name,))
    bench.run(reply(), result())
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy" / name).write_text("{}")
    with pytest.raises(UserError, match=f"Claude Code would read .*{name}"):
        bench.run(reply(), result())


def test_the_harness_is_off_limits(bench: Bench) -> None:
    """Cases, results and state can be neither read nor edited: two slashes make a path absolute."""
    bench.run(reply(), result())
    root = bench.job.root
    assert [f"{tool}(/{root}/{name}/**)" for name in ("cases", "results", ".evalkit")
            for tool in ("Read", "Edit")] == bench.values("--disallowedTools")
    assert str(root).startswith("/")


def test_a_file_that_is_off_limits(bench: Bench, tmp_path: Path) -> None:
    """What a link among the cases leads to may be a file: nothing is below it."""
    (tmp_path / "hidden.txt").write_text("x")
    bench.run(reply(), result(), job=evolve(bench.job, off_limits=(tmp_path / "hidden.txt",)))
    assert [f"{tool}(/{tmp_path}/hidden.txt)" for tool in ("Read", "Edit")] == bench.values("--disallowedTools")


def test_a_rule_for_a_folder_with_brackets(bench: Bench) -> None:
    """A pattern's opening signs in a folder's name would make the rule match nothing: any character stands for them."""
    bench.run(reply(), result(), job=evolve(bench.job, off_limits=(Path("/my (x)/a [1]\\b*"),),
                                            readable=(Path("/sdk [2]"),)))
    assert ["Read(//my (x)/a ?1??b*/**)", "Edit(//my (x)/a ?1??b*/**)"] == bench.values("--disallowedTools")
    assert ["Read(//sdk ?2?/**)"] == bench.values("--allowedTools")


def test_a_rule_for_a_folder_whose_name_ends_in_a_blank(bench: Bench) -> None:
    """A blank at the end of a name is cut off a pattern; one within it is not."""
    bench.run(reply(), result(), job=evolve(bench.job, off_limits=(Path("/my  x /y "),)))
    assert ["Read(//my  x?/y?/**)", "Edit(//my  x?/y?/**)"] == bench.values("--disallowedTools")


def test_the_cases_own_rules(bench: Bench) -> None:
    """Its allow and deny lists come first; installed toolchains can be read."""
    agent = AgentConfig("claude", allow=("Bash(npm test:*)",), deny=("WebFetch",))
    job = evolve(bench.job, trial=trial(case(agent=agent)), readable=(Path("/cache/sdk"),))
    bench.run(reply(), result(), job=job)
    assert ["Bash(npm test:*)", "Read(//cache/sdk/**)"] == bench.values("--allowedTools")
    assert "WebFetch" == bench.values("--disallowedTools")[0]


def test_the_prompt_is_the_input(bench: Bench) -> None:
    """With the agent's suffix after it; it is on no command line."""
    job = evolve(bench.job, trial=trial(case(prompt="Say hello.\n", agent=AgentConfig("claude", suffix="Be brief."))))
    bench.run(reply(), result(), job=job)
    assert "Say hello.\n\nBe brief.\n" == bench.seen["text"]
    assert str(bench.job.workspace) == bench.seen["cwd"]


def test_the_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person's own Claude Code gets through; home, settings and git are the run's own."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN",
                 "CLAUDE_CONFIG_DIR", "CLAUDECODE", "AWS_PROFILE", "AI_GATEWAY_API_KEY"):
        monkeypatch.setenv(name, "the person's")
    job = evolve(bench.job, trial=trial(case(agent=AgentConfig("claude", env=(("CASE", "1"), ("HOME", "/elsewhere"))))))
    bench.run(reply(), result(), job=job)
    env = bench.seen["env"]
    assert "the person's" not in env.values()
    assert (GATEWAY.url, KEY, "") == tuple(
        env[name] for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"))
    assert str(bench.job.home) == env["HOME"]
    assert str(bench.job.home / "claude-config") == env["CLAUDE_CONFIG_DIR"]
    assert str(bench.job.workspace.parent) == env["GIT_CEILING_DIRECTORIES"]
    assert ("1", "1", "1", "1") == tuple(env[name] for name in (
        "CASE", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"))


def test_at_anthropic_the_key_is_the_api_key(bench: Bench) -> None:
    """Without a token, and with the model's own name."""
    bench.run(reply(), result(), endpoint=Endpoint("https://x.invalid", "ANTHROPIC_API_KEY", KEY, "x-api-key"))
    assert KEY == bench.seen["env"]["ANTHROPIC_API_KEY"]
    assert "ANTHROPIC_AUTH_TOKEN" not in bench.seen["env"]
    assert ["claude-x-1-5"] == bench.values("--model")


def test_instructions_above_the_workspace(bench: Bench) -> None:
    """A CLAUDE.md that anybody left above it would be read beside the prompt: no run."""
    (bench.job.workspace.parents[1] / "CLAUDE.md").touch()
    with pytest.raises(UserError, match="Claude Code would read") as raised:
        bench.run(result())
    assert "EVALKIT_WORK" in raised.value.hint
    assert not (bench.folder / "bin/seen.json").exists()


def test_what_would_run_is_described_without_keys(bench: Bench) -> None:
    """Environment, command line and prompt, for a dry run; also without a key."""
    text = bench.agent().describe(bench.job)
    assert KEY not in text
    assert "ANTHROPIC_AUTH_TOKEN=[AI_GATEWAY_API_KEY redacted]" in text
    assert "--max-turns 80" in text
    assert text.endswith("prompt on standard input:\nSay hello.\n")
    assert "ANTHROPIC_API_KEY=\n" in bench.agent(None).describe(bench.job)


# ---- the program ----
def test_without_a_key_nothing_runs(bench: Bench) -> None:
    """The error says which variables hold one."""
    with pytest.raises(UserError, match="agent=claude needs a model, and no key is set"):
        bench.run(result(), endpoint=None)


def test_another_program_tells_its_version(bench: Bench) -> None:
    """claude=PATH: it needs no toolchain, and its version and its bytes are the agent's version."""
    agent = bench.agent()
    assert agent.program is not None
    assert (f"2.1.0 {digest_file(Path(agent.program))[:12]}", None) == (agent.traits.version, agent.toolchain)


@pytest.mark.parametrize(("script", "message"), [
    (None, "there is no program that can be started at .*: No such file"),
    ("#!/bin/sh\necho 3.0 other\n", r"is not Claude Code \(--version gave exit status 0\)"),
    ("#!/bin/sh\nexit 4\n", r"is not Claude Code \(--version gave exit status 4\)"),
])
def test_a_program_that_is_no_claude_code(script: str | None, message: str, tmp_path: Path) -> None:
    """Told before any work."""
    if script is not None:
        (tmp_path / "claude").write_text(script)
        (tmp_path / "claude").chmod(0o755)
    with pytest.raises(UserError, match=message) as raised:
        ClaudeCode.of(GATEWAY, str(tmp_path / "claude"))
    assert "claude=PATH" in raised.value.hint


def test_a_program_that_disappears(bench: Bench) -> None:
    """The person's path is asked about; for the pinned one, its toolchain."""
    agent = bench.agent()
    (bench.folder / "bin/claude").unlink()
    with pytest.raises(UserError, match="cannot start") as raised:
        agent.run(bench.job)
    assert "claude=PATH" in raised.value.hint
    pinned = ClaudeCode.of(GATEWAY, None)
    installed = Installed(bench.folder / "toolchain", (), (), {})
    with pytest.raises(UserError, match="cannot start") as raised:
        pinned.run(evolve(bench.job, toolchain=installed))
    assert "installed again" in raised.value.hint


def test_the_pinned_program_is_the_platforms_own(bench: Bench) -> None:
    """The launcher comes from an install script that may not have run; the program is in the platform's package."""
    pinned = ClaudeCode.of(GATEWAY, None)
    modules = bench.folder / "toolchain/npm/node_modules"
    job = evolve(bench.job, toolchain=Installed(bench.folder / "toolchain", (), (), {}))
    assert f"{modules}/.bin/claude -p" in pinned.describe(job).replace("'", "")
    native = modules / "@anthropic-ai/claude-code-linux-x64/claude"
    native.parent.mkdir(parents=True)
    native.touch()
    assert f"{native} -p" in pinned.describe(job).replace("'", "")
    assert pinned.toolchain is not None
    assert pinned.toolchain.npm[0].endswith(pinned.traits.version)
