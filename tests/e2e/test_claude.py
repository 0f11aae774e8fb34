"""The real Claude Code on the real SDK, driven by a scripted gateway on loopback: no key, no model, no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.gateway import CutStream, Fault, Hang, Reply, ScriptedGateway, Step, Text, ToolCall
from tests.e2e.conftest import REPOSITORY, RealProject, workspace_of
from tests.feature.project import KEY, MiniProject, files_with
from tests.processes import proc_files

pytestmark = pytest.mark.slow

SOLUTION = REPOSITORY / "cases/native/kanban-board/solution"


def scores(request: dict[str, Any]) -> Reply:
    """The judge's answer: the last step of the script."""
    count = request["tools"][0]["input_schema"]["properties"]["scores"]["maxItems"]
    return Reply((ToolCall(request["tools"][0]["name"], {"scores": [
        {"criterion": number, "score": 9, "reason": "As asked."} for number in range(1, count + 1)]}),))


class Script:
    """A model that reads the skill, writes the reference answer's files, looks at its work and ends."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def read_skill(self, request: dict[str, Any]) -> Reply:
        path = f"{workspace_of(request)}/.claude/skills/native-ui/SKILL.md"
        return Reply((Text("First the skill."), ToolCall("Read", {"file_path": path, "limit": 40})))

    def read_old(self, request: dict[str, Any]) -> Reply:
        """Claude Code wants to have read a file that it overwrites."""
        return Reply(tuple(ToolCall("Read", {"file_path": f"{workspace_of(request)}/{name}"}) for name in self.files))

    def write(self, request: dict[str, Any]) -> Reply:
        return Reply(tuple(ToolCall("Write", {"file_path": f"{workspace_of(request)}/{name}", "content": text})
                           for name, text in self.files.items()))

    def check(self, request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Bash", {"command": "native markup check src/app.native"}),))


def test_claude_code_writes_the_answer_and_the_case_passes(real: RealProject) -> None:
    """From the prompt to the verdict with the real program: skill read, files written, own command run, judged."""
    files = {path.relative_to(SOLUTION).as_posix(): path.read_text() for path in sorted(SOLUTION.rglob("*"))
             if path.is_file()}
    script = Script(files)
    steps: list[Step] = [script.read_skill, script.read_old, script.write, script.check, Reply((Text("Done."),)),
                         scores]
    with ScriptedGateway(steps) as gateway:
        real.env |= {"AI_GATEWAY_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url}
        done = real.doit("run", "case:kanban-board", "agent=claude")
        requests = gateway.main_requests
        headers = [request.headers for request in gateway.requests]
    assert 0 == done.status, done.err + done.out
    assert "about to run claude" in done.err
    folder = next((real.root / "results/latest/claude").glob("*/kanban-board/trial-1"))
    result = json.loads((folder / "result.json").read_text())
    assert "pass" == result["status"]
    assert "completed" == result["ending"]["status"]
    assert 5 == result["ending"]["usage"]["turns"]
    statuses = {check["id"]: check["verdict"]["status"] for check in result["checks"]}
    assert "pass" == statuses["own-tests"]
    assert "pass" == statuses["quality"]
    transcript = (folder / "transcript.jsonl").read_text()
    assert "native-ui" in transcript
    assert '"type":"result"' in transcript.replace(": ", ":")
    # The tools that the model asked for really ran: their results came back to it without an error.
    tool_results = [block for request in requests for message in request["messages"] for block in message["content"]
                    if isinstance(block, dict) and block.get("type") == "tool_result"]
    assert tool_results
    assert not [block for block in tool_results if block.get("is_error")]
    assert all(header.get("authorization") == f"Bearer {KEY}" for header in headers if "authorization" in header)

    # The key reached the gateway, and nothing else.
    assert [] == files_with(real.root.parent, KEY)
    assert KEY not in done.out + done.err

    # Graded again without the agent: the transcript and the tree are in the store.
    real.env.pop("EVALKIT_GATEWAY")
    case = real.root / "cases/native/kanban-board/kanban-board.eval"
    kept = case.read_text()
    case.write_text(kept.replace("nothing opens on top of the board", "there is no dialog").replace(
        r"/<(dialog|sheet|drawer)\b/", r"/<(dialog|sheet|drawer)[ >]/"))
    try:
        again = real.doit("run", "case:kanban-board", "agent=claude")
    finally:
        case.write_text(kept)
    assert 0 == again.status, again.err
    assert {"grade no-dialog", "result", "report"} == set(again.ran)


def test_edits_of_grading_cost_no_request_of_the_agent(small: MiniProject) -> None:
    """After a real run an edited check asks nobody, an edited rubric the judge alone; an edited prompt asks the agent
    again, and going back to each earlier version asks nobody.
    """
    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"}),))

    done = Reply((Text("Done."),))
    case = "cases/mini/greeting/greeting.eval"
    with ScriptedGateway([write, done, scores, scores, write, done, scores]) as gateway:
        def run() -> tuple[set[str], list[str]]:
            """Run; the tasks that ran, and who asked: each request by the first of its tools."""
            before = len(gateway.requests)
            ran = small.doit("run", "case:greeting", "agent=claude", f"gateway={gateway.url}")
            assert 0 == ran.status, ran.err + ran.out
            return set(ran.ran), ["judge" if "scores" in str(request.body) and len((request.body or {})["tools"]) == 1
                                  else "agent" for request in gateway.requests[before:] if request.is_main]

        assert (["agent", "agent", "judge"], []) == (run()[1], run()[1])
        for old, new, ran, asked in (
            ("/hello/i", "/hell+o/i", {"grade greets", "result", "report"}, []),
            ("It is friendly.", "It is very friendly.", {"judge tone", "result", "report"}, ["judge"]),
            ("Write a greeting into", "Put a greeting into", {"agent", "judge tone", "result", "report"},
             ["agent", "agent", "judge"]),
        ):
            small.edit(case, old, new)
            assert (ran, asked) == run()
            small.edit(case, new, old)
            assert (ran, []) == run()
        assert 0 == gateway.remaining


def test_the_turn_limit_caps_a_run_which_is_graded(small: MiniProject) -> None:
    """Capped is an outcome: kept, graded, and no fail by itself."""
    def look(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Bash", {"command": "ls"}),))

    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"}),))

    with ScriptedGateway([write, *[look] * 10, scores]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 0 == done.status, done.err + done.out
    assert "capped: reached its 5 turns" in done.out
    with ScriptedGateway([]) as unused:
        again = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={unused.url}")
        assert [] == unused.requests
    assert {} == again.ran


def test_the_time_limit_ends_a_run_with_all_its_processes(small: MiniProject) -> None:
    """Timeout is a fail of the agent's, graded, with its transcript kept."""
    small.edit("cases/mini/suite.eval", "time 30s", "time 6s")
    small.edit("cases/mini/suite.eval", '"Bash(ls *)"', '"Bash(ls *)", "Bash(sh *)"')
    small.write("cases/mini/skeleton/linger.sh", "touch started; setsid sleep 61.25 & sleep 61.25\n")

    def linger(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Bash", {"command": "sh linger.sh"}),))

    with ScriptedGateway([linger]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 1 == done.status, done.err + done.out
    assert "timeout: ended after its 6 s" in done.out
    usage = json.loads(next(small.path("results").rglob("result.json")).read_text())["ending"]["usage"]
    assert (1, 100, 20) == (usage["turns"], usage["input_tokens"], usage["output_tokens"])
    assert usage["cost"] > 0
    lingering = [entry for entry in proc_files("cmdline") if _holds(entry, b"61.25")]
    assert [] == lingering
    kept = json.loads(next(small.path("results").rglob("result.json")).read_text())
    assert "timeout" == kept["ending"]["status"]
    transcript = next(small.path("results").rglob("transcript.jsonl")).read_text()
    assert "sh linger.sh" in transcript
    assert '"type":"result"' not in transcript


@pytest.mark.parametrize(("limit", "told"), [
    ("cost $0.05", "capped: reached its cost limit of $0.05"),
    ("tokens 25000", "capped: reached its limit of 25000 tokens"),
])
def test_limits_of_cost_and_tokens_cap_a_run_which_is_graded(limit: str, told: str, small: MiniProject) -> None:
    """The run is ended soon after it passed the limit; what it left is graded, and what it consumed is known."""
    small.edit("cases/mini/suite.eval", "time 30s", f"time 30s; {limit}")

    def write(request: dict[str, Any]) -> Reply:
        call = ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"})
        return Reply((call,), input_tokens=10_000, output_tokens=1_000)

    look = Reply((ToolCall("Bash", {"command": "ls"}),), input_tokens=10_000, output_tokens=1_000)
    with ScriptedGateway([write, *[look] * 10]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
        asked = len(gateway.main_requests)
    assert 0 == done.status, done.err + done.out
    assert told in done.out
    assert 2 <= asked <= 4
    result = json.loads(next(small.path("results").rglob("result.json")).read_text())
    usage = result["ending"]["usage"]
    assert usage["output_tokens"] >= 2_000
    assert 0.05 < usage["cost"] < 0.5
    assert usage["cost_source"]
    assert "stream_event" not in next(small.path("results").rglob("transcript.jsonl")).read_text()


def test_a_lost_connection_begins_the_run_again(small: MiniProject) -> None:
    """Nobody answers at first: that attempt is ended soon, and another one passes in a workspace of its own."""
    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"}),))

    with ScriptedGateway([*[Hang(0)] * 3, write, Reply((Text("Done."),))]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 0 == done.status, done.err + done.out
    assert "(retry 1 of 2)" in done.err
    result = json.loads(next(small.path("results").rglob("result.json")).read_text())
    lost = f"{gateway.url} cannot be reached: Server disconnected without sending a response. (asked 3 times)"
    assert [f"1 attempt before failed (for $0.00): {lost}"] == result["ending"]["notes"]


def test_a_rate_limit_that_passes_is_waited_for(small: MiniProject) -> None:
    """429 twice, with a pause that the provider names, and then it answers: a pass, and the tries are told."""
    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"}),))

    busy = Fault(429, "rate_limit_error", "slow down", retry_after=1)
    with ScriptedGateway([busy, write, busy, Reply((Text("Done."),))]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
        asked = len(gateway.main_requests)
    assert 0 == done.status, done.err + done.out
    assert 4 == asked
    assert 2 == done.err.count(f"greeting: {gateway.url} answered 429: slow down: again in 1.")
    result = json.loads(next(small.path("results").rglob("result.json")).read_text())
    assert ["the provider was asked again 2 times"] == result["ending"]["notes"]
    assert (2, []) == (result["ending"]["retries"], result["failed"])
    transcript = next(small.path("results").rglob("transcript.jsonl")).read_text()
    assert "api_retry" not in transcript  # the agent's program saw none of it


def test_streams_that_break_off_for_good_are_no_outcome(small: MiniProject) -> None:
    """Whatever is asked breaks off in the middle: soon an error, status 3, nothing kept, what was consumed is told."""
    with ScriptedGateway([CutStream(3)] * 50) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", "retries=0", f"gateway={gateway.url}")
        asked = len(gateway.main_requests)
    assert 3 == done.status, done.err + done.out
    assert f"{gateway.url} broke off its reply" in done.err
    assert 3 <= asked <= 4
    assert not list(small.path(".evalkit/store/agent").rglob("agent.json"))
    assert not list(small.path("results").rglob("result.json"))
    assert "spent" in done.err


def test_the_agent_never_holds_the_key(small: MiniProject) -> None:
    """Its environment, as its own shell shows it, has a token of evalkit's that opens nothing afterwards; the provider
    gets the key, and no file has it.
    """
    small.edit("cases/mini/suite.eval", '"Bash(ls *)"', '"Bash(env)"')
    shown: list[str] = []

    def environment(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Bash", {"command": "env"}),))

    def done_with(request: dict[str, Any]) -> Reply:
        shown.append(json.dumps(request["messages"]))
        return Reply((Text("Done."),))

    with ScriptedGateway([environment, done_with]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
        headers = [request.headers for request in gateway.requests]
    assert 1 == done.status, done.err + done.out
    assert "ANTHROPIC_AUTH_TOKEN=evalkit-" in shown[0]
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:" in shown[0]
    assert gateway.url not in shown[0]
    assert KEY not in shown[0]
    assert {f"Bearer {KEY}"} == {header["authorization"] for header in headers if "authorization" in header}
    assert [] == small.files_with(KEY)
    token = shown[0].partition("ANTHROPIC_AUTH_TOKEN=")[2].partition("\\")[0]
    assert token.startswith("evalkit-")
    assert [] == small.files_with(token)


def _holds(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:
        return False


def test_a_refused_key_is_told_at_once_and_nothing_is_kept(small: MiniProject) -> None:
    """401: a clear line that names the variable, status 3, no outcome; a good key the next time runs the agent."""
    with ScriptedGateway([Fault(401, "authentication_error", "invalid key")] * 20) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 3 == done.status, done.err + done.out
    assert "refused the key in AI_GATEWAY_API_KEY" in done.err
    assert not list(small.path(".evalkit/store/agent").rglob("agent.json"))


@pytest.mark.parametrize(("status", "kind", "said"), [
    (403, "permission_error", "refused the key in AI_GATEWAY_API_KEY (status 403)"),
    (404, "not_found_error", "has no model `")])
def test_what_the_provider_refuses(small: MiniProject, status: int, kind: str, said: str) -> None:
    """The same status and the same words as for the agents that ask by themselves, and for judges."""
    with ScriptedGateway([Fault(status, kind, "no")] * 20) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 3 == done.status, done.err + done.out
    assert said in done.err
    assert not list(small.path(".evalkit/store/agent").rglob("agent.json"))


def test_a_model_that_answers_nothing(small: MiniProject) -> None:
    """It was asked, and paid for: the run is graded, and says so."""
    with ScriptedGateway([Reply((Text(""),))] * 20) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
        asked = len(gateway.main_requests)
    assert 1 == done.status, done.err + done.out
    assert "its model answered nothing" in done.out
    result = json.loads(next(small.path("results").rglob("result.json")).read_text())
    assert ("fail", asked) == (result["status"], result["ending"]["usage"]["turns"])


def test_instructions_above_the_workspace(small: MiniProject) -> None:
    """The person's to take away: status 2, and no model is asked."""
    (small.root.parent / "work").mkdir(exist_ok=True)
    (small.root.parent / "work/CLAUDE.md").write_text("Be rude.\n")
    with ScriptedGateway([]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
        assert [] == gateway.main_requests
    assert 2 == done.status, done.err + done.out
    assert "work/CLAUDE.md: it is above the workspace" in done.err


def test_a_provider_that_gives_up_is_no_fail_of_the_agent(small: MiniProject) -> None:
    """A provider that refuses to serve ends in an error, status 3; the next run tries again and passes."""
    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"}),))

    with ScriptedGateway([Fault(403, "permission_error", "no credit")] * 20) as gateway:
        refused = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 3 == refused.status, refused.err + refused.out
    assert "error" in refused.out
    with ScriptedGateway([write, Reply((Text("Done."),))]) as gateway:
        done = small.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 0 == done.status, done.err + done.out


PLAYED = """\
script: 1
rules:
  - when: {tools: record_scores}
    reply:
      calls: [{name: record_scores, input: {scores: [{criterion: 1, score: 9, reason: It is.}]}}]
  - when: {tools: Write, turn: 1}
    reply:
      calls: [{name: Write, input: {file_path: "{{workspace}}/answer.txt", content: "Hello.\\n"}}]
  - reply: Done.
"""


def test_a_case_runs_offline_with_the_real_program(small: MiniProject) -> None:
    """Without any key a script plays model and judge; and so does what was recorded of such a run, in another
    workspace. Nothing of either is taken for a model's.
    """
    del small.env["AI_GATEWAY_API_KEY"]
    small.write("play.yaml", PLAYED)
    done = small.doit("run", "case:greeting", "gateway=play.yaml")
    assert 0 == done.status, done.err + done.out
    assert "claude anthropic/claude-sonnet-5 played from play.yaml" in done.out
    assert "spent" not in done.err
    assert "no answer" not in done.err
    result = json.loads(next(small.path("results").rglob("result.json")).read_text())
    assert ("pass", "play.yaml", 2) == (result["status"], result["played"], result["ending"]["usage"]["turns"])
    assert result["ending"]["usage"]["cost_source"].startswith("nothing was paid: Claude Code")

    def write(request: dict[str, Any]) -> Reply:
        return Reply((ToolCall("Write", {"file_path": f"{workspace_of(request)}/answer.txt", "content": "Hello.\n"}),))

    small.env["AI_GATEWAY_API_KEY"] = KEY
    with ScriptedGateway([write, Reply((Text("Done."),)), scores]) as gateway:
        kept = small.doit("run", "case:greeting", f"gateway=record:tape.jsonl@{gateway.url}")
        assert 0 == gateway.remaining
    assert 0 == kept.status, kept.err + kept.out
    assert "exchanges recorded in " in kept.err
    del small.env["AI_GATEWAY_API_KEY"]
    again = small.doit("run", "case:greeting", "gateway=tape.jsonl")
    assert 0 == again.status, again.err + again.out
    assert {"agent", "judge tone"} <= set(again.ran)
    assert "no answer" not in again.err
    assert [] == small.files_with(KEY)
