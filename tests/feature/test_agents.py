"""`doit run` with agents that are no model's own: any program, an old transcript, and names that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.gateway import Reply, ScriptedGateway, Text
from tests.feature.project import KEY, Done, MiniProject

AGENT = """\
import pathlib, sys
prompt = pathlib.Path(sys.argv[1]).read_text()
pathlib.Path("answer.txt").write_text("Hello, " + prompt.split()[0] + ".\\n")
print("I greeted.")
"""
CASE = "cases/mini/greeting/greeting.eval"


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    project = MiniProject.make(tmp_path)
    project.write("agents/greeter.py", AGENT)
    command = "python3 {project}/agents/greeter.py {prompt_file}"
    project.edit("cases/mini/suite.eval", "  limits {", f'  agent command {{ command "{command}" }}\n  limits {{')
    return project


def result(project: MiniProject, agent: str) -> dict[str, object]:
    place = next(project.path("results/latest").glob(f"{agent}*/**/result.json"))
    read: dict[str, object] = json.loads(place.read_text())
    return read


def run(project: MiniProject, *choices: str) -> Done:
    return project.doit("run", "case:greeting", *choices)


def test_a_program_is_an_agent_without_code(project: MiniProject) -> None:
    """It is configured by its block where the command line names it, needs no key, and is graded like any other."""
    done = run(project, "agent=command")
    assert 0 == done.status, done.err + done.out
    assert "greeting" in done.out
    assert {} == run(project, "agent=command").ran
    place = next(project.path("results/latest/command").rglob("transcript.jsonl"))
    assert "I greeted." in place.read_text()


def test_its_own_file_is_its_version(project: MiniProject) -> None:
    """An edit of it runs it again, with its name in the reason; a time limit does too, a turn limit does not."""
    run(project, "agent=command")
    project.edit("agents/greeter.py", "Hello", "Hello again")
    done = run(project, "agent=command")
    assert "program agents/greeter.py changed" == done.ran["agent"]
    project.edit("cases/mini/suite.eval", "turns 5", "turns 6")
    assert {} == run(project, "agent=command").ran
    project.edit("cases/mini/suite.eval", "time 30s", "time 29s")
    assert "time limit 30 → 29" == run(project, "agent=command").ran["agent"]


def test_a_program_can_be_named_for_one_run(project: MiniProject) -> None:
    """What fails is its own: the checks say so."""
    done = run(project, "agent=command:sh -c 'echo Go away. >answer.txt; exit 3'")
    assert 1 == done.status, done.err + done.out
    kept = json.loads(next(project.path("results/latest").rglob("result.json")).read_text())
    assert ["it ended with exit status 3"] == kept["ending"]["notes"]


ASKING = """\
import json, os, pathlib, sys, urllib.request
address, token = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_AUTH_TOKEN"]
body = {"model": sys.argv[1], "max_tokens": 100, "tools": [{"name": "write", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": sys.stdin.read()}]}
asked = urllib.request.Request(address + "/v1/messages", json.dumps(body).encode(), {
    "authorization": "Bearer " + token, "content-type": "application/json", "anthropic-version": "2023-06-01"})
for _ in range(int(sys.argv[2])):
    answer = json.load(urllib.request.urlopen(asked))
    pathlib.Path("answer.txt").write_text(answer["content"][0]["text"])
print("my token was", token)
"""


@pytest.fixture
def asking(project: MiniProject) -> MiniProject:
    """Its program asks its model, over the address that it is told."""
    project.write("agents/asking.py", ASKING)
    project.edit("cases/mini/suite.eval", "greeter.py {prompt_file}", "asking.py {model} 1")
    project.env["AI_GATEWAY_API_KEY"] = KEY
    return project


def test_a_program_asks_its_model_through_the_gateway(asking: MiniProject) -> None:
    """It holds a token of its run and no key; what it used is counted for it."""
    with ScriptedGateway([Reply((Text("Hello."),), input_tokens=50, output_tokens=7)]) as provider:
        done = run(asking, "agent=command", "judge=off", f"gateway={provider.url}")
        headers = [request.headers for request in provider.requests]
    assert 0 == done.status, done.err + done.out
    assert [f"Bearer {KEY}"] == [header["authorization"] for header in headers]
    kept = result(asking, "command")
    ending = kept["ending"]
    assert isinstance(ending, dict)
    assert ("anthropic/claude-sonnet-5", 1, 50, 7) == (kept["model"], *(
        ending["usage"][name] for name in ("turns", "input_tokens", "output_tokens")))
    assert [] == asking.files_with(KEY)
    assert "my token was [" in next(asking.path("results").rglob("transcript.jsonl")).read_text()


def test_a_program_that_asks_more_than_its_limit_is_capped(asking: MiniProject) -> None:
    """The gateway refuses the next request: what it left is graded."""
    asking.edit("cases/mini/suite.eval", "{model} 1", "{model} 5")
    asking.edit("cases/mini/suite.eval", "time 30s", "time 30s; tokens 100")
    with ScriptedGateway([Reply((Text("Hello."),), input_tokens=90, output_tokens=20)] * 5) as provider:
        done = run(asking, "agent=command", "judge=off", f"gateway={provider.url}")
        asked = len(provider.requests)
    assert 0 == done.status, done.err + done.out
    assert "capped: reached its limit of 100 tokens" in done.out
    assert 1 == asked


def test_a_program_without_a_key_for_its_model(asking: MiniProject) -> None:
    """Its command line names the model, so a key must be there."""
    del asking.env["AI_GATEWAY_API_KEY"]
    done = run(asking, "agent=command")
    assert 2 == done.status
    assert "agent=command needs the model `anthropic/claude-sonnet-5`" in done.err


@pytest.mark.parametrize(("agent", "status", "said"), [
    ("command:no-such-agent", 2, "cannot start `no-such-agent`"),
    ("command:sh -c 'exit 75'", 3, "says that it was failed (exit status 75)"),
    ("comand", 2, "did you mean `command`?"),
    ("replay:nowhere", 2, "there is no such file or folder"),
    ("replay:pyproject.toml", 2, "pyproject.toml cannot be replayed"),
])
def test_who_is_to_blame_is_told_apart(agent: str, status: int, said: str, project: MiniProject) -> None:
    """A slip of the person's is 2, a provider's failure 3; nothing is kept of either."""
    done = run(project, f"agent={agent}", "retries=0")
    assert status == done.status, done.err + done.out
    assert said in done.err
    assert not list(project.path(".evalkit/store/agent").rglob("agent.json"))


def test_an_old_transcript_is_played_on_todays_case(project: MiniProject) -> None:
    """Its writes are graded by the checks as they stand; the run that it is from is not asked again."""
    folder = project.root / "results/latest/claude/m/greeting/trial-1"
    call = {"id": "c1", "type": "tool_use", "name": "Write",
            "input": {"file_path": "/w/answer.txt", "content": "Hello, there.\n"}}
    lines = [{"type": "system", "subtype": "init", "cwd": "/w"},
             {"type": "assistant", "message": {"id": "m1", "content": [call],
                                               "usage": {"input_tokens": 5, "output_tokens": 7}}},
             {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]}},
             {"type": "result", "subtype": "success"}]
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    agent = f"agent=replay:{folder.relative_to(project.root)}"
    done = run(project, agent)
    assert 0 == done.status, done.err + done.out
    kept = result(project, "replay")["ending"]
    assert isinstance(kept, dict)
    assert (1, 7, 0.0) == tuple(kept["usage"][name] for name in ("turns", "output_tokens", "cost"))
    assert {} == run(project, agent).ran
    for _ in range(2):  # the replay's own results are no trial to replay
        assert 0 == run(project, "agent=replay:results/latest").status

    text = (folder / "transcript.jsonl").read_text().replace("Hello, there", "Go away")
    (folder / "transcript.jsonl").write_text(text)
    again = run(project, agent)
    assert 1 == again.status
    assert "transcript changed" == again.ran["agent"]
