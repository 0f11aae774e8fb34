"""The agent `tools`: a model calls an application's commands, in the protocols of three providers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from evalkit.analysis.model import AgentConfig, Command, Limits
from evalkit.execute.agents.calling import modules
from evalkit.execute.agents.tools import ToolUser
from evalkit.execute.models.prices import Price, Prices
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import AgentError, Ending
from evalkit.execute.running import begin
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import read_events
from evalkit.execute.transcripts.model import Ended, Limit, Message, ToolResult
from evalkit.gateway import CutStream, Fault, Hang, Reply, ScriptedGateway, Step, Text, ToolCall
from evalkit.gateway.script import Garbage
from evalkit.values import evolve
from tests.unit.execute.make import ENV, a_job, case, setup, trial

APP = '''
import os, time
class Lamp:
    commands = [
        {"name": "switch", "description": "Turn it on or off.", "parameters":
         {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}},
        {"name": "look", "description": "Is it on?", "parameters": {"type": "object", "properties": {}}},
        {"name": "burn", "description": "", "parameters": {"type": "object", "properties": {}}},
        {"name": "long", "description": "", "parameters": {"type": "object", "properties": {}}},
        {"name": "slow", "description": "", "parameters": {"type": "object", "properties": {}}},
    ]
    def __init__(self, state): self.on = state["on"]
    def call(self, name, arguments):
        if name == "switch":
            if not isinstance(arguments.get("on"), bool): raise ValueError("`on` must be true or false")
            self.on = arguments["on"]
            return {"on": self.on}
        if name == "burn": os._exit(3)
        if name == "slow": time.sleep(2.5)
        return "y" * 300_000 if name == "long" else f"it is {'on' if self.on else 'off'}"
    def state(self): return {"on": self.on}
class Registry:
    commands = Lamp.commands
    def start(self, state): return Lamp(state)
lamp = Registry()
def prompt(state): return f"There is a lamp; on: {state['on']}."
'''
PROTOCOLS = pytest.mark.parametrize(("protocol", "version"), [("anthropic", ""), ("openai", "/v1"), ("gemini", "")])
MODELS = {"anthropic": "anthropic/claude-test", "openai": "vendor/m", "gemini": "google/gemini-test"}
ON, LOOK = ToolCall("switch", {"on": True}), ToolCall("look", {})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    begin()
    for name, text in {"cases/mini/lamp.py": APP, "cases/mini/state.json": '{"on": false}'}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    return tmp_path


def run(project: Path, script: Sequence[Step], protocol: Any = "anthropic", version: str = "",
        **changes: Any) -> tuple[Ending, list[dict[str, Any]], list[Any]]:
    """How it ended, what the model was sent, and the events of the transcript."""
    limits = changes.pop("limits", Limits(turns=10, time=30))
    agent = AgentConfig("tools", registry="lamp:lamp", system_function="lamp:prompt", state="cases/mini/state.json",
                        **changes)
    with ScriptedGateway(script) as gateway:
        endpoint = Endpoint(gateway.url + version, "SOME_API_KEY", "dummy-key-0123456789", "bearer", protocol)
        unit = case(agent=agent, limits=limits, prompt="Turn it on.")
        job = a_job(trial=trial(unit, "tools", MODELS[protocol]), root=project, workspace=project / "work",
                    home=project / "home", env=ENV, transcript=project / "transcript.jsonl", redactor=Redactor.of({}),
                    prices=Prices(dict.fromkeys(MODELS.values(), Price(1.0, 10.0, 0.1, 1.0))))
        ending = ToolUser(endpoint, project).run(job)
        return ending, gateway.main_requests, list(read_events(project / "transcript.jsonl"))


def results(events: list[Any]) -> list[tuple[str, str, bool, str]]:
    return [(event.call.name, event.status, event.ran, event.text) for event in events if isinstance(event, ToolResult)]


@PROTOCOLS
def test_a_model_calls_commands_until_its_turn_is_over(project: Path, protocol: str, version: str) -> None:
    """Parallel calls in one turn, in their order; what they come to goes back; the state is kept."""
    ending, asked, events = run(project, [Reply((Text("First."), LOOK, ON)), Reply((LOOK,)), Reply((Text("Done."),))],
                                protocol, version)
    assert ("completed", 3, 300, 60) == (ending.status, ending.usage.turns, ending.usage.input_tokens,
                                         ending.usage.output_tokens)
    assert 0.0009 == pytest.approx(ending.usage.cost)
    assert [("look", "ok", True, "it is off"), ("switch", "ok", True, '{"on": true}'),
            ("look", "ok", True, "it is on")] == results(events)
    assert ["There is a lamp; on: False.", "Turn it on.", "First.", "Done."] == [
        event.text for event in events if isinstance(event, Message)]
    assert Ended("completed", text="ended its turn", turns=3, cost=ending.usage.cost) == evolve(events[-1], line=0)
    assert {"on": True} == orjson.loads((project / "work/state.json").read_bytes())
    assert "There is a lamp; on: False." in str(asked[0])
    assert "Turn it on or off." in str(asked[0])
    assert "it is off" in str(asked[1])
    assert "it is on" in str(asked[2])
    assert len(asked[0]["tools"]) > 0


@PROTOCOLS
def test_rejections_go_back_to_the_model(project: Path, protocol: str, version: str) -> None:
    """Those of the application, of a command that is not there, and of arguments that are none."""
    ending, asked, events = run(project, [
        Reply((ToolCall("switch", {"on": "maybe"}),)), Reply((ToolCall("fly", {"high": 1}),)), Reply((Text("No."),)),
    ], protocol, version)
    assert "completed" == ending.status
    rejected = results(events)
    assert [("switch", "error", True), ("fly", "error", False)] == [each[:3] for each in rejected]
    assert "`on` must be true or false" == rejected[0][3]
    assert "there is no command 'fly'; the commands are: burn, long, look, slow, switch" == rejected[1][3]
    assert "`on` must be true or false" in str(asked[1])
    assert "there is no command" in str(asked[2])
    assert {"on": False} == orjson.loads((project / "work/state.json").read_bytes())


def test_arguments_that_are_no_object(project: Path) -> None:
    """A provider hands on what the model wrote, whatever it is."""
    call = {"id": "c1", "type": "function", "function": {"name": "switch", "arguments": '{"on": tr'}}
    message = {"role": "assistant", "tool_calls": [call]}
    body = orjson.dumps({"model": "m", "choices": [{"finish_reason": "tool_calls", "message": message}]})
    ending, asked, events = run(project, [Garbage(body), Reply((Text("Sorry."),))], "openai", "/v1")
    assert "completed" == ending.status
    assert [("switch", "error", False, "the arguments are no JSON object")] == results(events)
    assert "the arguments are no JSON object" in str(asked[1])


def test_the_turn_limit(project: Path) -> None:
    """Two hundred calls in a row end at the limit; what was called before it was done."""
    ending, asked, events = run(project, [Reply((LOOK,))] * 250, limits=Limits(turns=200, time=60))
    assert ("capped", "reached its 200 turns", 200) == (ending.status, ending.detail, ending.usage.turns)
    assert (200, 200) == (len(asked), len(results(events)))
    assert Limit("turns", "reached its 200 turns") == evolve(events[-2], line=0)


@pytest.mark.parametrize(("limits", "detail"), [
    (Limits(turns=9, time=30, tokens=200), "reached its limit of 200 tokens"),
    (Limits(turns=9, time=30, cost=0.0005), "reached its cost limit of $0.0005"),
])
def test_limits_of_tokens_and_cost(project: Path, limits: Limits, detail: str) -> None:
    ending, asked, _ = run(project, [Reply((LOOK,))] * 9, limits=limits)
    assert ("capped", detail, 2) == (ending.status, ending.detail, len(asked))


def test_the_time_limit(project: Path) -> None:
    ending, _, events = run(project, [Reply((ON,)), Hang(20)], limits=Limits(turns=9, time=2))
    assert ("timeout", "ended after its 2 s", 1) == (ending.status, ending.detail, ending.usage.turns)
    assert [("switch", "ok", True, '{"on": true}')] == results(events)


def test_a_reply_that_is_too_long_and_a_refusal(project: Path) -> None:
    ending, _, _ = run(project, [Reply((Text("And so on and"),), stop_reason="max_tokens")])
    assert ("completed", "the model's reply went over its length") == (ending.status, ending.detail)
    ending, _, _ = run(project, [Reply((Text("No."),), stop_reason="refusal")])
    assert ("completed", "the model refused to go on") == (ending.status, ending.detail)


def test_calls_of_a_cut_reply_are_not_run(project: Path) -> None:
    """Whatever is missing of them, nobody meant what is left."""
    ending, asked, events = run(project, [Reply((ON,), stop_reason="max_tokens"), Reply((LOOK,))])
    assert ("completed", "the model's reply went over its length", 1) == (ending.status, ending.detail, len(asked))
    assert [] == results(events)
    assert "they may be half written" in " ".join(ending.notes)


def test_a_call_in_a_reply_that_says_it_is_over(project: Path) -> None:
    """Gateways that translate say so of other vendors' calls: it is run, and the model is told what came of it."""
    ending, asked, events = run(project, [Reply((Text("Done."), ON), stop_reason="end_turn"), Reply((Text("Yes."),))])
    assert ("completed", 2) == (ending.status, len(asked))
    assert [("switch", "ok", True, '{"on": true}')] == results(events)


def test_a_long_result_is_cut(project: Path) -> None:
    _, asked, events = run(project, [Reply((ToolCall("long", {}),)), Reply((Text("Long."),))])
    [(_, _, _, text)] = results(events)
    assert text.endswith("… cut: 100000 characters are not shown …")
    assert len(str(asked[1])) < 250_000


def test_time_that_is_over_during_a_call_is_the_models(project: Path) -> None:
    """The application is let finish, and tells its state: it has not failed."""
    ending, asked, _ = run(project, [Reply((ON, ToolCall("slow", {})))], limits=Limits(turns=9, time=2))
    assert ("timeout", "ended after its 2 s", 1) == (ending.status, ending.detail, len(asked))
    assert '"on": true' in (project / "work/state.json").read_text()


def test_an_application_that_breaks_is_no_outcome(project: Path) -> None:
    with pytest.raises(AgentError, match="the application failed at `burn`") as raised:
        run(project, [Reply((ToolCall("burn", {}),))])
    assert 1 == raised.value.usage.turns


@pytest.mark.parametrize("step", [CutStream(1), Fault(400, message="no such thing")])
def test_a_provider_that_fails_is_no_outcome(project: Path, step: Step) -> None:
    with pytest.raises(AgentError) as raised:
        run(project, [Reply((LOOK,)), *[step] * 9], limits=Limits(turns=9, time=30))
    assert 1 == raised.value.usage.turns


def test_a_refused_key_names_its_variable(project: Path) -> None:
    with pytest.raises(AgentError, match="refused the key in SOME_API_KEY"):
        run(project, [Fault(401)])


def test_what_is_part_of_the_key(project: Path) -> None:
    """The application's code, wherever the words of the registry and of the prompt have it from."""
    user = ToolUser(None, project)
    (project / "cases/mini/pack/inner").mkdir(parents=True)
    (project / "shared.py").write_text("")
    unit = case(agent=AgentConfig("tools", registry="pack.inner.mod:r", system_function="shared:s"), setup=setup())
    assert (("commands cases/mini/pack", "cases/mini/pack"), ("commands shared.py", "shared.py")) == user.given(unit)
    server = AgentConfig("tools", registry_command=Command(("python", "-m", "pack.server", "--x", "lamp.py"), 9))
    assert ["pack.server", "lamp"] == modules(server)


def test_what_a_server_is_made_from(tmp_path: Path) -> None:
    """The files and folders that its command names, of any language; not what holds the suite, nor what is outside."""
    for name in ("cases/mini/srv/server.mjs", "cases/mini/lib/a.js", "tools/run", "cases/other.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path.parent / "outside.js").write_text("x")
    words = ("../../tools/run", "node", "./srv/server.mjs", "lib", "{state}", ".", "..", "../../../outside.js",
             str(tmp_path), "--x=lib", "gone.js", "", "x" * 5_000)
    unit = case(agent=AgentConfig("tools", registry_command=Command(words, 9)), setup=setup())
    user = ToolUser(None, tmp_path)
    wanted = ["tools/run", "cases/mini/srv/server.mjs", "cases/mini/lib"]
    assert [(f"commands {path}", path) for path in wanted] == list(user.given(unit))
