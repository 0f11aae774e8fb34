"""`doit run` with the agent `api`: one request over each of three protocols, and the file that it makes is graded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evalkit.gateway import Fault, Reply, ScriptedGateway, Text
from evalkit.gateway.script import Answer, JsonObject
from tests.feature.project import MiniProject

KEY = "sk-a-dummy-key-that-must-not-show-up-anywhere"
SUITE = """\
suite answers {
  about "Files that a model writes without seeing any."
  use agent api
  limits { time 30s }
  model env ANSWERS_MODEL else "google/gemini-2.5-flash"
  arm with-guidance { about "As it is meant." }
  arm without       { guidance none; contract none }
  arm ablated       { ablate guidance by section }
}
"""
CASE = '''\
case hello {
  about "Says hello in JavaScript."
  prompt """
    Write main.js, which logs a greeting.
    """
  guidance "guide.md"
  contract "contract.md"
  answer "main.js" over template "template"
  temperature 0.2
  check grep "main.js" has "console.log" as logs "it logs"
  check exists "index.html" as page
}
'''
REPLY = "Here it is:\n\n```js\nconsole.log('hello');\n```\n"
SYSTEM = "Answer with one fenced block.\n\n# Guide\n\n## Logging\nUse console.log.\n\n## Style\nBe brief."
PROVIDERS = {
    "anthropic": ("ANTHROPIC_API_KEY", "anthropic/claude-test"),
    "openai": ("OPENAI_API_KEY", "openai/gpt-test"),
    "gemini": ("GEMINI_API_KEY", "google/gemini-2.5-flash"),
}


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    project = MiniProject.make(tmp_path)
    for name, text in {"suite.eval": SUITE, "hello/hello.eval": CASE, "hello/contract.md":
                       "Answer with one fenced block.\n", "hello/guide.md": SYSTEM.partition("\n\n")[2] + "\n",
                       "hello/template/index.html": "<script src=main.js></script>\n"}.items():
        project.write(f"cases/answers/{name}", text)
    return project


@contextmanager
def provider(*answers: Answer) -> Iterator[ScriptedGateway]:
    """Gives these answers in turn, the last one for good."""
    left = list(answers)

    def answer(_: JsonObject) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    with ScriptedGateway([], side=answer) as gateway:
        yield gateway


def bodies(gateway: ScriptedGateway) -> list[JsonObject]:
    return [request.body for request in gateway.requests if request.method == "POST" and request.body is not None]


def system(body: JsonObject) -> str:
    """The system prompt of a request, of whichever protocol."""
    if "systemInstruction" in body or "contents" in body:
        return str(body.get("systemInstruction", {"parts": [{"text": ""}]})["parts"][0]["text"])
    told = [message["content"] for message in body["messages"] if message["role"] == "system"]
    return str(body.get("system", told[0] if told else ""))


def result(project: MiniProject, unit: str = "hello") -> dict[str, Any]:
    (place,) = project.path("results/latest/api").glob(f"*/{unit}*/trial-1/result.json")
    read: dict[str, Any] = json.loads(place.read_text())
    return read


def temperature(body: JsonObject) -> object:
    return body.get("generationConfig", body).get("temperature")


@pytest.mark.parametrize("protocol", PROVIDERS)
def test_one_request_makes_a_file_that_is_graded(project: MiniProject, protocol: str) -> None:
    """With each vendor's own key: contract and guidance are its system prompt, the answer is in the tree beside the
    template, checks see it, nothing runs a second time, and the key is nowhere.
    """
    variable, model = PROVIDERS[protocol]
    with provider(Reply((Text(REPLY),))) as gateway:
        project.env |= {variable: KEY, "ANSWERS_MODEL": model}
        if protocol == "openai":
            project.env["OPENAI_BASE_URL"] = f"{gateway.url}/v1"
        else:
            project.env["EVALKIT_GATEWAY"] = gateway.url
        done = project.doit("run", "case:hello")
        assert 0 == done.status, done.err + done.out
        (body,) = bodies(gateway)
        assert {} == project.doit("run", "case:hello").ran
        assert 1 == len(bodies(gateway))
    assert (SYSTEM, 0.2) == (system(body), temperature(body))
    assert "Write main.js, which logs a greeting." in json.dumps(body)
    assert "tools" not in body
    assert f"api {model}" in done.err + done.out
    assert [] == project.files_with(KEY)


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("protocol", PROVIDERS)
def test_what_is_recorded_with_a_vendors_key_is_played_without(
    project: MiniProject, protocol: str, other: bool
) -> None:
    """Over the protocol of the recording, whatever is set now. other: with the key of another provider."""
    variable, model = PROVIDERS[protocol]
    project.env |= {variable: KEY, "ANSWERS_MODEL": model}
    with provider(Reply((Text(REPLY),))) as gateway:
        done = project.doit("run", "case:hello", f"gateway=record:c.jsonl@{gateway.url}")
    assert 0 == done.status, done.err + done.out
    del project.env[variable]
    project.env |= {"AI_GATEWAY_API_KEY": KEY, "ALL_PROXY": "socks5://127.0.0.1:9"} if other else {}
    again = project.doit("run", "case:hello", "gateway=c.jsonl", "run=again")
    assert 0 == again.status, again.err + again.out
    assert "no model was called: played from c.jsonl" in again.out
    assert "no answer" not in again.err


@pytest.mark.parametrize("protocol", PROVIDERS)
def test_a_script_without_an_answer_is_named_as_it_is_called(project: MiniProject, protocol: str) -> None:
    """Status 3, whichever protocol is asked in: with the file's own path, what was asked, and no word of a key."""
    project.write("s.yaml", "script: 1\nrules:\n  - {when: {user: nobody}, reply: hi}\n")
    project.env["ANSWERS_MODEL"] = PROVIDERS[protocol][1]
    done = project.doit("run", "case:hello", "gateway=s.yaml")
    assert 3 == done.status, done.err + done.out
    assert "harness error: s.yaml has no answer: no rule fits [" in done.err
    assert "main.js" in done.err
    assert "the key" not in done.err + done.out


def test_a_refused_key_names_the_file_that_plays(project: MiniProject) -> None:
    """A file that is there."""
    project.write("s.yaml", "script: 1\nrules:\n  - reply: {status: 401}\n")
    project.env["ANSWERS_MODEL"] = "openai/gpt-test"
    done = project.doit("run", "case:hello", "gateway=s.yaml")
    assert 3 == done.status, done.err + done.out
    assert "s.yaml refused the key in " in done.err
    assert "s.yaml/" not in done.err + done.out


def test_arms_differ_in_what_is_read(project: MiniProject) -> None:
    """Without guidance there is no system prompt; an ablated arm leaves out one section."""
    with provider(Reply((Text(REPLY),))) as gateway:
        project.env |= {"GEMINI_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url}
        assert 0 == project.doit("run", "case:hello", "arm=all").status
        asked = {system(body) for body in bodies(gateway)}
        assert 4 == len(bodies(gateway))
    assert {"", SYSTEM, SYSTEM.replace("## Logging\nUse console.log.\n\n", ""),
            SYSTEM.replace("\n\n## Style\nBe brief.", "")} == asked


def test_what_it_reads_makes_it_run_again(project: MiniProject) -> None:
    """The guidance by its contents; not what only other agents read."""
    with provider(Reply((Text(REPLY),))) as gateway:
        project.env |= {"GEMINI_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url}
        project.doit("run", "case:hello")
        project.edit("cases/answers/suite.eval", "time 30s", "time 30s; turns 7")
        assert "agent" not in project.doit("run", "case:hello").ran
        project.edit("cases/answers/hello/guide.md", "Be brief.", "Be very brief.")
        assert "guidance cases/answers/hello/guide.md changed" == project.doit("run", "case:hello").ran["agent"]
        assert 2 == len(bodies(gateway))


def test_an_answer_that_fails(project: MiniProject) -> None:
    """Exit status 1: the model's own."""
    with provider(Reply((Text("```js\nalert('hello');\n```"),))) as gateway:
        project.env |= {"GEMINI_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url}
        assert 1 == project.doit("run", "case:hello").status


@pytest.mark.parametrize("direct", [False, True], ids=["through the gateway", "direct"])
@pytest.mark.parametrize(("status", "said", "hint"), [
    (401, "refused the key in OPENAI_API_KEY (status 401)", "set OPENAI_API_KEY to a valid key"),
    (403, "refused the key in OPENAI_API_KEY (status 403)", "set OPENAI_API_KEY to a valid key"),
    (404, "has no model `", "choose another one: model=SLUG"),
])
def test_what_the_provider_refuses(project: MiniProject, status: int, said: str, hint: str, direct: bool) -> None:
    """Whoever asks: told with what to mend, status 3, and nothing is kept."""
    with provider(Fault(status)) as gateway:
        project.env |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{gateway.url}/v1", "ANSWERS_MODEL": "openai/gpt-x"}
        project.env |= {"EVALKIT_GATEWAY": "direct"} if direct else {}
        done = project.doit("run", "case:hello")
    assert 3 == done.status, done.err + done.out
    assert said in done.err
    assert hint in done.err
    assert [] == [*project.path(".evalkit/store").glob("agent/*/agent.json")]
    assert not project.path("results/latest/api").exists() or [] == [
        *project.path("results/latest/api").rglob("result.json")]


def test_without_a_key_for_its_model(project: MiniProject) -> None:
    """Another vendor's key opens nothing; the variables that would are named."""
    project.env["ANTHROPIC_API_KEY"] = KEY
    done = project.doit("run", "case:hello", "agent=api")
    assert 2 == done.status
    assert "agent=api needs the model `google/gemini-2.5-flash`, and no key for it is set" in done.err
    assert "GEMINI_API_KEY" in done.err
    assert "GEMINI_API_KEY" in project.doit("run", "case:hello").err  # nor is there a reference answer


@pytest.mark.parametrize("choice", ["agent=claude", "agent=auto"])
def test_a_model_that_claude_code_cannot_reach(project: MiniProject, choice: str) -> None:
    """Its vendor's key is there, but it speaks another protocol: told, and no reference answer is played instead."""
    project.env["OPENAI_API_KEY"] = KEY
    done = project.doit("run", "case:greeting", "model=openai/gpt-test", choice)
    assert 2 == done.status
    assert "agent=claude speaks Anthropic's Messages API only, and cannot reach `openai/gpt-test`" in done.err
    assert "export AI_GATEWAY_API_KEY=…: a gateway has any for it" in done.err


def test_models_of_two_vendors(project: MiniProject) -> None:
    """Each is asked with its own key, over its own protocol."""
    with provider(Reply((Text(REPLY),))) as gateway:
        project.env |= {"GEMINI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url}
        done = project.doit("run", "case:hello", "model=google/gemini-test,anthropic/claude-test")
        assert 0 == done.status, done.err
        paths = sorted(request.path for request in gateway.requests if request.method == "POST")
    assert ["/v1/messages", "/v1beta/models/gemini-test:generateContent"] == paths
    done = project.doit("run", "case:hello", "model=google/gemini-test,openai/gpt-test", "run=other")
    assert (2, True) == (done.status, "no key for it is set" in done.err)


def test_a_dry_run(project: MiniProject) -> None:
    """It shows the request, and asks nobody."""
    with provider(Reply((Text(REPLY),))) as gateway:
        project.env |= {"GEMINI_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url}
        done = project.doit("run", "case:hello", "dry=1")
        assert 0 == done.status, done.err
        assert [] == bodies(gateway)
    assert ":generateContent" in done.err + done.out
    assert "Use console.log." in done.err + done.out
    assert [] == project.files_with(KEY)
