"""Command layers: a Python object and an MCP server with the same commands, which behave the same."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.model import AgentConfig, Command
from evalkit.errors import HarnessError, UserError
from evalkit.execute.commands import CommandLayer, open_layer
from evalkit.execute.commands.layer import Outcome
from evalkit.execute.marks import descendants
from evalkit.execute.running import begin

APP = '''
import json, os, sys, time, subprocess

MODES = ["rgb", "elevation"]

class Viewer:
    def __init__(self, state):
        self.shown = dict(state or {"mode": "rgb"})

    def tool_definitions(self):
        return [
            {"name": "setMode", "description": "How points are coloured.",
             "input_schema": {"type": "object", "properties": {"mode": {"enum": MODES}}, "required": ["mode"]}},
            {"name": "getMode", "description": "What is shown.", "annotations": {"readOnlyHint": True},
             "input_schema": {"type": "object", "properties": {}}},
            *({"name": name, "description": "", "input_schema": {"type": "object"}}
              for name in ("crash", "hang", "chatter", "leave", "nan")),
        ]

    def call(self, name, arguments):
        if name == "setMode":
            if arguments.get("mode") not in MODES:
                raise ValueError(f"there is no mode {arguments.get('mode')!r}")
            self.shown["mode"] = arguments["mode"]
            return {"mode": self.shown["mode"], "é": "ü"}
        if name == "getMode":
            return self.shown["mode"]
        if name == "crash":
            os._exit(7)
        if name == "hang":
            time.sleep(60)
        if name == "chatter":
            print("words that are no answer")
            sys.stdout.flush()
            return input() if False else "quiet"
        if name == "leave":
            subprocess.Popen(["sleep", "300"], start_new_session=True)
            return "left"
        raise KeyError("no such command")

    def state(self):
        return self.shown

class Registry:
    commands = Viewer(None).tool_definitions()
    def start(self, state):
        return Viewer(state)

viewer = Registry()
PLAIN = {"setMode": {"type": "object"}}

class Still:
    commands = PLAIN
    def start(self, state):
        return 5

still = Still()

def build_system(state):
    return f"You steer a viewer that shows {state['mode']}."

def broken(state):
    raise RuntimeError("the prompt cannot be built")
'''
SERVER = '''
import asyncio, json, sys
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from app import viewer

session = viewer.start(json.load(open(sys.argv[1])) if sys.argv[1:] not in ([], [""], ["twice"]) else None)

async def list_tools(ctx, params):
    tools = [types.Tool(name=one["name"], description=one["description"], input_schema=one["input_schema"])
             for one in session.tool_definitions()]
    tools += tools if sys.argv[1:] == ["twice"] else []
    return types.ListToolsResult(tools=[*tools, types.Tool(name="evalkit_state", input_schema={"type": "object"})])

async def call_tool(ctx, params):
    try:
        if params.name == "evalkit_state":
            done = session.state()
        else:
            done = session.call(params.name, params.arguments or {})
    except Exception as error:
        return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
    text = done if isinstance(done, str) else json.dumps(done, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

async def main():
    server = Server("viewer", instructions="A viewer.", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    begin()
    suite = tmp_path / "cases/s"
    suite.mkdir(parents=True)
    (suite / "app.py").write_text(APP)
    (suite / "server.py").write_text(SERVER)
    (suite / "state.json").write_text('{"mode": "elevation"}')
    (suite / "state.yaml").write_text("mode: elevation\n")
    (tmp_path / "home").mkdir()
    return tmp_path


@contextmanager
def opened(project: Path, **given: Any) -> Iterator[CommandLayer]:
    with open_layer(AgentConfig("tools", **given), root=project, suite=project / "cases/s",
                    env={"PATH": "/usr/bin:/bin"}, home=project / "home") as layer:
        yield layer


def mcp(*words: str) -> Command:
    return Command((sys.executable, "server.py", *words), 60)


BOTH = pytest.mark.parametrize("way", [{"registry": "app:viewer"}, {"registry_command": mcp("{state}")}],
                               ids=["python", "mcp"])


@BOTH
def test_commands_are_shown_and_called(project: Path, way: dict[str, Any]) -> None:
    """Definitions, results, rejections and the state are the same, whichever way the application is reached."""
    with opened(project, state="cases/s/state.json", **way) as layer:
        names = [tool.name for tool in layer.tools]
        assert ["setMode", "getMode", "crash", "hang", "chatter", "leave", "nan"] == names
        assert "How points are coloured." == layer.tools[0].description
        assert {"type": "object", "properties": {"mode": {"enum": ["rgb", "elevation"]}}, "required": ["mode"]} == dict(
            layer.tools[0].schema)
        assert Outcome("elevation") == layer.call("getMode", {}, 10)
        assert Outcome("there is no mode 'x'", rejected=True) == layer.call("setMode", {"mode": "x"}, 10)
        assert Outcome('{"mode": "rgb", "é": "ü"}') == layer.call("setMode", {"mode": "rgb"}, 10)
        assert layer.call("nan", {}, 10).rejected
        assert {"mode": "rgb"} == layer.state(10)


def test_what_an_application_prints_is_no_answer(project: Path) -> None:
    """(What an MCP server may print is its protocol's matter.)"""
    with opened(project, registry="app:viewer") as layer:
        assert Outcome("quiet") == layer.call("chatter", {}, 10)
        assert Outcome("rgb") == layer.call("getMode", {}, 10)
    assert "words that are no answer" in (project / "home/commands.log").read_text()


@BOTH
def test_an_application_that_ends_is_no_fault_of_the_model(project: Path, way: dict[str, Any]) -> None:
    with opened(project, **way) as layer, pytest.raises(HarnessError, match="ended"):
        layer.call("crash", {}, 10)


@BOTH
def test_an_application_that_hangs(project: Path, way: dict[str, Any]) -> None:
    with opened(project, **way) as layer, pytest.raises(HarnessError, match=r"not answer within 1 s|no answer in time"):
        layer.call("hang", {}, 1)


@BOTH
def test_nothing_is_left_running(project: Path, way: dict[str, Any]) -> None:
    """Not even what a command started in a session of its own."""
    before = set(descendants())
    with opened(project, **way) as layer:
        assert Outcome("left") == layer.call("leave", {}, 10)
    assert set() == set(descendants()) - before


@pytest.mark.parametrize("state", ["cases/s/state.json", "cases/s/state.yaml"])
def test_the_system_prompt_is_the_applications_own(project: Path, state: str) -> None:
    with opened(project, registry="app:viewer", system_function="app:build_system", state=state) as layer:
        assert "You steer a viewer that shows elevation." == layer.system
    with opened(project, registry_command=mcp(), system_function="app:build_system", state=state) as layer:
        assert "You steer a viewer that shows elevation." == layer.system


def test_a_system_prompt_as_text(project: Path) -> None:
    with opened(project, registry="app:viewer", system="Be brief.") as layer:
        assert "Be brief." == layer.system
    with opened(project, registry_command=mcp(), system="Be brief.") as layer:
        assert "Be brief." == layer.system


def test_a_servers_own_instructions(project: Path) -> None:
    with opened(project, registry_command=mcp()) as layer:
        assert "A viewer." == layer.system


@pytest.mark.parametrize(("given", "said"), [
    ({}, "has no registry"),
    ({"registry": "nowhere:viewer"}, "No module named 'nowhere'"),
    ({"registry": "app:nobody"}, "no attribute 'nobody'"),
    ({"registry": "app:MODES"}, "has no `name`"),
    ({"registry": "app:PLAIN"}, "none of them can be called"),
    ({"registry": "app:still"}, "none of them can be called"),
    ({"registry_command": mcp("twice")}, "it has two tools `setMode`"),
    ({"registry": "app:viewer", "system_function": "app:broken", "state": "cases/s/state.json"}, "cannot be built"),
    ({"registry": "app:viewer", "state": "cases/s/gone.json"}, "gone.json"),
    ({"registry_command": Command(("no-such-program",), 60)}, "cannot be started"),
    ({"registry_command": Command((sys.executable, "-c", "print('hello')"), 60)}, "cannot be started"),
    ({"registry_command": Command((sys.executable, "-c", "raise SystemExit('no licence')"), 60)}, "no licence"),
])
def test_what_cannot_be_started_is_the_persons_to_mend(project: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as raised, opened(project, **given):
        pass
    assert said in str(raised.value)


def test_what_no_json_has(project: Path) -> None:
    """Half a surrogate pair is told as `?`; a state with NaN is the application's failure, and says so."""
    (project / "cases/s/odd.py").write_text(textwrap.dedent("""
        class Odd:
            commands = {"half": {"type": "object"}, "end": {"type": "object"}}
            def call(self, name, arguments):
                if name == "end":
                    raise SystemExit(3)
                return {"cut": "a\\ud83d"}
            def state(self):
                return {"depth": float("nan")}
        odd = Odd()
    """))
    with opened(project, registry="odd:odd") as layer:
        assert Outcome('{"cut": "a?"}') == layer.call("half", {}, 10)
        with pytest.raises(HarnessError, match=r"does not tell its state: .*not JSON compliant"):
            layer.state(10)
        with pytest.raises(HarnessError, match=r"^SystemExit: 3$"):
            layer.call("end", {}, 10)


def test_nothing_of_the_persons_reaches_the_application(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither through a Python object nor through a server of any kind."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-dummy-1234567890")
    (project / "cases/s/tell.py").write_text(textwrap.dedent("""
        import os
        class Tell:
            commands = {"env": {"type": "object"}}
            def call(self, name, arguments):
                return " ".join(os.environ)
        tell = Tell()
    """))
    with opened(project, registry="tell:tell") as layer:
        assert "ANTHROPIC_API_KEY" not in layer.call("env", {}, 10).text
    (project / "cases/s/server.py").write_text(SERVER.replace("session.call(params.name, params.arguments or {})",
                                                              "str(dict(__import__('os').environ))"))
    with opened(project, registry_command=mcp()) as layer:
        said = layer.call("getMode", {}, 10).text
        assert "PATH" in said
        assert "sk-dummy" not in said
