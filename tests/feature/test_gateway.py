"""`gateway=`: all models are asked through evalkit's own gateway; played, recorded, or directly where that is said."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.gateway import Fault, Reply, ScriptedGateway, Text
from tests.feature.conftest import scores
from tests.feature.project import KEY, MiniProject, fake_claude, on_path
from tests.feature.stand_in import StandIn
from tests.feature.test_retries import QUICK

SCRIPT = """\
script: 1
rules:
  - when: {tools: record_scores}
    reply:
      calls: [{name: record_scores, input: {scores: [{criterion: 1, score: 9, reason: It is.}]}}]
  - when: {tools: Write}
    reply: {text: Done., usage: {input: 1000, output: 100}}
"""
MODEL = "anthropic%2Fclaude-sonnet-5"


@pytest.fixture
def played(tmp_path: Path) -> MiniProject:
    """A project with a script beside its cases, an agent that asks its model once, and no key."""
    project = MiniProject.make(tmp_path)
    project.write("scripts/hello.yaml", SCRIPT)
    project.env["EVALKIT_CLAUDE"] = str(StandIn.make(tmp_path / "agent", asks=True).program)
    return project


def result(project: MiniProject, pattern: str = "*/*") -> dict[str, Any]:
    found = next(project.path("results/latest").glob(f"{pattern}/greeting/trial-1/result.json"))
    data: dict[str, Any] = json.loads(found.read_text())
    return data


# ---- played ----
def test_a_script_plays_the_agent_and_the_judge(played: MiniProject) -> None:
    """No key is needed, the case's own agent is taken, and everything says that no model was called."""
    done = played.doit("run", "case:greeting", "gateway=scripts/hello.yaml", "budget=0.01")
    assert 0 == done.status, done.err + done.out
    assert "1 agent run is played from scripts/hello.yaml: no model is called, and nothing is paid" in done.err
    assert "claude anthropic/claude-sonnet-5 played from scripts/hello.yaml, local lane" in done.out
    assert "9.0 of 10" in done.out
    assert "spent" not in done.err
    found = result(played, f"claude/{MODEL}+played")
    assert "scripts/hello.yaml" == found["played"]
    assert "no model was called: played from scripts/hello.yaml" in found["ending"]["notes"]
    assert "nothing was paid" in found["ending"]["usage"]["cost_source"]
    judge = next(check for check in found["checks"] if check["id"] == "tone")
    assert "no model was called: played from scripts/hello.yaml" in str(judge["verdict"])
    summary = json.loads(played.read("results/latest/summary.json"))
    assert ["scripts/hello.yaml"] == [trial["played"] for trial in summary["trials"]]
    assert {} == played.doit("run", "case:greeting", "gateway=scripts/hello.yaml").ran


def test_what_was_played_is_never_a_models(played: MiniProject) -> None:
    """With a key and a model the agent runs, and its judge is asked; an edited script is another one; neither run hides
    the other's result, and what was played is no earlier cost.
    """
    assert 0 == played.doit("run", "case:greeting", "gateway=scripts/hello.yaml").status
    played.env["AI_GATEWAY_API_KEY"] = KEY
    with ScriptedGateway([Reply((Text("Done."),)), scores]) as gateway:
        real = played.doit("run", "case:greeting", f"gateway={gateway.url}")
        assert 0 == gateway.remaining
    assert 0 == real.status, real.err
    assert {"agent", "judge tone"} <= set(real.ran)
    assert "cost not known: there is no earlier run" in real.err
    assert "played" not in real.out
    assert {f"{MODEL}", f"{MODEL}+played"} == {path.name for path in played.path("results/latest/claude").iterdir()}
    assert "" == result(played, f"claude/{MODEL}")["played"]

    assert {} == played.doit("run", "case:greeting", "gateway=scripts/hello.yaml").ran
    played.edit("scripts/hello.yaml", "score: 9", "score: 2")
    again = played.doit("run", "case:greeting", "gateway=scripts/hello.yaml")
    assert {"agent", "judge tone"} <= set(again.ran), again.err
    assert "scripts/hello.yaml changed" in again.err or "played by" in again.ran["agent"]
    assert "2.0 of 10" in again.out


def test_a_known_answer_that_a_played_judge_judges_says_so(played: MiniProject) -> None:
    """judge=on with a script: its verdict is kept apart from a model's."""
    done = played.doit("run", "case:greeting", "agent=oracle", "judge=on", "gateway=scripts/hello.yaml")
    assert 0 == done.status, done.err
    judge = next(check for check in result(played, "oracle")["checks"] if check["id"] == "tone")
    assert "played from scripts/hello.yaml" in str(judge["verdict"])
    played.env["AI_GATEWAY_API_KEY"] = KEY
    with ScriptedGateway([scores]) as gateway:
        real = played.doit("run", "case:greeting", "agent=oracle", "judge=on", f"gateway={gateway.url}")
        assert 0 == gateway.remaining
    assert {"judge tone", "result", "report"} == set(real.ran), real.err


def test_what_the_script_has_no_answer_to_is_told(played: MiniProject) -> None:
    """Of a judge: an error, and in the end what was asked. No key was refused."""
    played.write("scripts/hello.yaml", SCRIPT.replace("record_scores}", "nothing}"))
    done = played.doit("run", "case:greeting", "gateway=scripts/hello.yaml")
    assert "scripts/hello.yaml has no answer: no rule fits [" in done.err
    judge = next(check for check in result(played)["checks"] if check["id"] == "tone")
    assert "error" == judge["verdict"]["status"]
    assert "scripts/hello.yaml has no answer: no rule fits [" in str(judge["verdict"])
    assert "the key" not in done.out + done.err + str(judge["verdict"])


@pytest.mark.parametrize("file", ["scripts/hello.yaml", "tapes/hello.jsonl"])
def test_an_agent_without_an_answer_is_an_error(file: str, played: MiniProject) -> None:
    """Status 3, with the file and what was asked; no key was refused."""
    if file.endswith(".jsonl"):
        played.env["AI_GATEWAY_API_KEY"] = KEY
        with ScriptedGateway([Reply((Text("Done."),))]) as gateway:
            done = played.doit("run", "case:greeting", "judge=off", f"gateway=record:{file}@{gateway.url}")
        assert 0 == done.status, done.err
        lines = played.read(file).splitlines(keepends=True)
        played.write(file, "".join(line.replace('"model":"m"', '"model":"n"') for line in lines))
    else:
        played.write(file, SCRIPT.replace("Write}", "nothing}"))
    done = played.doit("run", "case:greeting", "judge=off", f"gateway={file}")
    assert 3 == done.status, done.err + done.out
    assert f"harness error: {file} has no answer: " in done.err
    assert "[anthropic m; turn 1; " in done.err
    assert "the key" not in done.out + done.err


@pytest.mark.parametrize(("choice", "said"), [
    ("scripts/none.yaml", "cannot read"), ("scripts/wrong.yaml", "wrong.yaml"), ("dirct", "direct"),
    ("ftp://somewhere", "gateway is an address"), ("record:", "gateway is an address"),
    ("record:scripts/hello.yaml", "is there already"), ("record:scripts/new.jsonl", "no key is set")])
def test_mistakes_are_told_before_anything_runs(choice: str, said: str, played: MiniProject) -> None:
    """Status 2, with what is good."""
    played.write("scripts/wrong.yaml", "script: 1\nrules: 7\n")
    done = played.doit("run", "case:greeting", f"gateway={choice}")
    assert 2 == done.status, done.err
    assert said in done.err
    assert {} == done.ran
    assert not played.path("scripts/new.jsonl").exists()


# ---- recorded ----
@pytest.mark.parametrize("variable", ["AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY"])
def test_what_is_recorded_can_be_played(variable: str, played: MiniProject) -> None:
    """The cassette has all that was asked, and no key; without a key, and with another provider's, it plays the same
    run. A proxy of a kind that nobody can use is none of its business: all is on this machine.
    """
    played.env |= {variable: KEY, "ALL_PROXY": "socks5://127.0.0.1:9"}
    with ScriptedGateway([Reply((Text("Done."),)), scores]) as gateway:
        done = played.doit("run", "case:greeting", f"gateway=record:tapes/hello.jsonl@{gateway.url}")
        assert 0 == gateway.remaining
        headers = [request.headers for request in gateway.requests]
    assert 0 == done.status, done.err + done.out
    assert "2 exchanges recorded in " in done.err
    assert {KEY} == {header.get("authorization", header.get("x-api-key", "")).removeprefix("Bearer ")
                     for header in headers}
    assert "" == result(played, f"claude/{MODEL}")["played"]
    assert [] == played.files_with(KEY)

    del played.env[variable]
    for run, key in (("none", {}), ("other", {"AI_GATEWAY_API_KEY": KEY, "OPENAI_API_KEY": KEY})):
        played.env |= key
        again = played.doit("run", "case:greeting", "gateway=tapes/hello.jsonl", f"run={run}", "fresh=1")
        assert 0 == again.status, again.err + again.out
        assert "played from tapes/hello.jsonl" in again.out
        assert {"agent", "judge tone"} <= set(again.ran)
        assert "no answer" not in again.err


# ---- who holds the key ----
def test_agents_hold_a_token_and_never_the_key(tmp_path: Path) -> None:
    """What an agent prints of its environment is a token, taken out of its transcript; with `direct` it is the key,
    taken out too, and the result says that it was held.
    """
    project = MiniProject.make(tmp_path)
    project.env |= {"AI_GATEWAY_API_KEY": KEY, "EVALKIT_CLAUDE": str(fake_claude(tmp_path / "fake")[0])}
    done = project.doit("run", "case:greeting", "agent=claude", "judge=off")
    assert 0 == done.status, done.err
    transcript = next(project.path("results").rglob("transcript.jsonl"))
    assert "[EVALKIT_TOKEN redacted]" in transcript.read_text()
    assert [] == result(project)["ending"]["notes"]

    done = project.doit("run", "case:greeting", "agent=claude", "judge=off", "gateway=direct", "run=direct")
    assert 0 == done.status, done.err
    transcript = next(project.path("results/direct").rglob("transcript.jsonl"))
    assert "[AI_GATEWAY_API_KEY redacted]" in transcript.read_text()
    assert "gateway=direct: the key of the provider was not kept back" in done.out
    assert [] == project.files_with(KEY)


def test_a_run_with_nothing_to_ask_starts_no_gateway(played: MiniProject, tmp_path: Path) -> None:
    """A self-check, and a run that is up to date, import neither the gateway nor the HTTP library."""
    (tmp_path / "spy").mkdir()
    (tmp_path / "spy/sitecustomize.py").write_text(
        "import atexit, sys\n"
        "atexit.register(lambda: print('IMPORTED', sorted({'httpx', 'evalkit.gateway.live', 'evalkit.gateway.server'}\n"
        "                                                 & set(sys.modules)), file=sys.stderr))\n")
    played.env["PYTHONPATH"] = on_path(tmp_path / "spy")
    assert "IMPORTED []" in played.doit("run", "case:greeting", "agent=oracle").err
    first = played.doit("run", "case:greeting", "gateway=scripts/hello.yaml")
    assert "'evalkit.gateway.live'" in first.err
    assert "IMPORTED []" in played.doit("run", "case:greeting", "gateway=scripts/hello.yaml").err


# ---- a judge's provider ----
def test_a_judge_is_asked_again_through_the_gateway(tmp_path: Path) -> None:
    """529 twice, and then it answers: the tries are counted once, by the gateway alone, and are no fail."""
    project = MiniProject.make(tmp_path)
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick/sitecustomize.py").write_text(QUICK)
    project.env |= {"AI_GATEWAY_API_KEY": KEY, "PYTHONPATH": on_path(tmp_path / "quick")}
    with ScriptedGateway([Fault(529, "overloaded_error", "busy")] * 2 + [scores]) as gateway:
        done = project.doit("run", "case:greeting", "agent=oracle", "judge=on", f"gateway={gateway.url}")
        assert 0 == gateway.remaining
    assert 0 == done.status, done.err
    assert 2 == done.err.count(f"judge tone: {gateway.url} answered 529: busy: again in")
    judge = next(check for check in result(project, "oracle")["checks"] if check["id"] == "tone")
    assert 2 == judge["verdict"]["judging"]["retries"]


def test_a_judges_refused_key_names_the_variable(tmp_path: Path) -> None:
    """Not the token that was held, nor the gateway's address."""
    project = MiniProject.make(tmp_path)
    project.env["AI_GATEWAY_API_KEY"] = KEY
    with ScriptedGateway([Fault(401, "authentication_error", "no")] * 9) as gateway:
        done = project.doit("run", "case:greeting", "agent=oracle", "judge=on", f"gateway={gateway.url}")
        assert 1 == len(gateway.main_requests)
    assert 3 == done.status
    assert f"{gateway.url} refused the key in AI_GATEWAY_API_KEY (status 401)" in done.out
    assert "evalkit-" not in done.out + done.err
    shutil.rmtree(project.path("results"))


def test_what_is_played_is_planned_for_nothing(played: MiniProject) -> None:
    """`evalkit plan` expects no cost of it; a dry run shows what the agent would hold."""
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", "plan", "case:greeting", "gateway=scripts/hello.yaml"],
                          cwd=played.root, env=played.environ, text=True, capture_output=True, check=False)
    assert 0 == done.returncode, done.stderr
    assert "nothing of this calls a model that has to be paid for" in done.stdout
    dry = played.doit("run", "case:greeting", "gateway=scripts/hello.yaml", "dry=1")
    assert "ANTHROPIC_AUTH_TOKEN=[EVALKIT_TOKEN]" in dry.err


ASKER = """\
import json, os, sys, urllib.error, urllib.request
address = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
headers = {"Authorization": "Bearer " + os.environ["ANTHROPIC_AUTH_TOKEN"], "Content-Type": "application/json"}
body = json.dumps({"model": sys.argv[1], "tools": [{"name": "Write"}], "messages": [{"role": "user", "content": "go"}]})
open("answer.txt", "w").write("Hello.")
for number in range(50):
    try:
        urllib.request.urlopen(urllib.request.Request(address, body.encode(), headers)).read()
    except urllib.error.HTTPError as error:
        print(number, error.code, error.read().decode())
        sys.exit(0 if sys.argv[2] == "calm" else 1)
"""


@pytest.mark.parametrize("manner", ["calm", "upset"])
def test_limits_hold_for_any_program(manner: str, tmp_path: Path) -> None:
    """A program that asks and asks, and tells nothing of what it used: it is capped after the reply that passed the
    limit, whatever it makes of the refusal, is graded, and what it used is known.
    """
    project = MiniProject.make(tmp_path)
    project.write("agents/asker.py", ASKER)
    project.edit("cases/mini/suite.eval", "  limits { turns 5; time 30s }",
                 f'  agent command {{ command "python3 {{project}}/agents/asker.py {{model}} {manner}" }}\n'
                 "  limits { turns 5; time 30s; tokens 300 }")
    project.env["AI_GATEWAY_API_KEY"] = KEY
    with ScriptedGateway([Reply((Text("Go on."),))] * 50) as gateway:
        done = project.doit("run", "case:greeting", "agent=command", "judge=off", f"gateway={gateway.url}")
        asked = len(gateway.main_requests)
    assert 0 == done.status, done.err + done.out
    assert 3 == asked
    assert "capped: reached its limit of 300 tokens" in done.out
    usage = result(project, "command/*")["ending"]["usage"]
    assert (3, 300, 60) == (usage["turns"], usage["input_tokens"], usage["output_tokens"])
    assert "spent" in done.err
