"""Cases that expect calls, on the command line: who knows the answer, who does nothing, who guesses, and models.

The application is a small one with six commands, of which one asks back before it acts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.feature.project import PYPROJECT, Done, MiniProject

APP = '''\
KINDS = ["crack", "spall"]
POINT = {"type": "array", "items": {"type": "number"}, "minItems": 3}

def tool(name, description, properties, required=(), **hints):
    return {"name": name, "description": description, "annotations": hints,
            "input_schema": {"type": "object", "properties": properties, "required": list(required)}}

TOOLS = [
    tool("setColorMode", "How points are coloured.", {"mode": {"enum": ["elevation", "intensity"]}}, ["mode"]),
    tool("setPointSize", "The size of points, in pixels.", {"px": {"type": "number", "minimum": 1}}, ["px"]),
    tool("selectBox", "Selects what is in a box.", {"min": POINT, "max": POINT}, ["min", "max"]),
    tool("listFindings", "The findings there are.", {}, readOnlyHint=True),
    tool("createFinding", "Files a finding, as a draft.", {"kind": {"enum": KINDS}, "title": {"type": "string"}},
         ["kind", "title"]),
    tool("publishFinding", "Shows a finding to the client.", {"findingId": {"type": "string"},
         "confirm": {"type": "string"}}, ["findingId"], destructiveHint=True),
]

class Session:
    def __init__(self):
        self.view, self.findings, self.tokens = {"mode": "rgb", "px": 1}, [], {}

    def call(self, name, arguments):
        if name == "createFinding":
            if len(arguments.get("title", "")) < 3:
                raise ValueError("a title has at least 3 characters")
            self.findings.append({"id": f"f-{len(self.findings) + 1}", "status": "draft", **arguments})
            return self.findings[-1]
        if name == "publishFinding":
            found = next((one for one in self.findings if one["id"] == arguments["findingId"]), None)
            if found is None:
                raise ValueError("there is no such finding")
            if "confirm" not in arguments:
                token = f"t-{len(self.tokens) + 1}"
                self.tokens[token] = found["id"]
                return {"confirmation": {"token": token, "what": "publish " + found["id"]}}
            if self.tokens.pop(arguments["confirm"], None) != found["id"]:
                raise ValueError("the token was never given")
            found["status"] = "published"
            return found
        if name == "listFindings":
            return self.findings
        self.view |= arguments
        return self.view

    def state(self):
        return {"view": self.view, "findings": self.findings}

class Registry:
    commands = TOOLS
    def start(self, state):
        return Session()

registry = Registry()
'''
SUITE = """\
suite viewer {
  agent tools { registry "app:registry"; system "You operate a viewer." }
  model "anthropic/claude-haiku-4.5"
  limits { turns 8; time 30s }
  tier flat    requires schema flat
  tier read    requires read
  tier spatial requires one of selectBox
  tier guarded requires confirmation
}
"""
CASES = """\
case color   flat    "Color by elevation" {
  expect only setColorMode(mode: "elevation")
  check state view.mode = "elevation"
}
case bigger  flat    "Make the points 3 pixels in size" { expect setPointSize(px number, px > 1) exact }
case list    read    "Which findings are there?" { expect only listFindings }
case box     spatial "Select the deck" { expect selectBox(min approx [0, 0, 28] within 0.5, max any) }
case file    guarded "File a crack finding" {
  expect only createFinding(kind: "crack", title ~ /crack/i like "Crack at P1") succeeds
  never publishFinding
  check state findings has 1 where status = "draft" as filed
}
case publish guarded "File a crack and publish it" {
  expect createFinding(kind: "crack") then publishFinding(findingId any) confirmed
  check state findings has 1 where status = "published" as published
}
"""


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "input": arguments}]}


def script(*told: tuple[str, list[dict[str, Any]]]) -> str:
    """What a model does: for the case whose prompt has a text, a reply a turn, and then the end."""
    rules = [{"when": {"any": prompt, "turn": turn}, "reply": reply}
             for prompt, replies in told for turn, reply in enumerate([*replies, {"text": "Done."}], 1)]
    return json.dumps({"script": 1, "rules": rules})


CRACK = call("createFinding", kind="crack", title="Crack at P1")
GOOD = script(
    ("Color by", [call("listFindings"), call("setColorMode", mode="elevation")]),
    ("3 pixels", [call("setPointSize", px=3)]), ("Which findings", [call("listFindings")]),
    ("Select the deck", [call("selectBox", min=[0, 0.2, 28], max=[100, 8, 30])]),
    ("File a crack finding", [call("createFinding", kind="crack", title="x"), CRACK]),
    ("publish it", [CRACK, call("publishFinding", findingId="f-1"),
                    call("publishFinding", findingId="f-1", confirm="t-1")]))
RASH = script(
    ("Color by", [call("setColourMode", mode="elevation"), call("setColorMode", mode="height")]),
    ("3 pixels", [call("setPointSize", px=3, unit="px")]), ("Which findings", [call("setPointSize", px=2)]),
    ("Select the deck", [call("selectBox", min=[0, 0, 20], max=[1, 1, 1])]),
    ("File a crack finding", [CRACK, call("publishFinding", findingId="f-1")]),
    ("publish it", [CRACK, call("publishFinding", findingId="f-1", confirm="t-1")]))

SERVER = """
import asyncio, json, sys
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

state = json.load(open(sys.argv[1]))

async def list_tools(context, params):
    told = [("look", "Is it on?"), ("evalkit_state", "")]
    return types.ListToolsResult(tools=[types.Tool(name=name, description=words, input_schema={"type": "object"})
                                        for name, words in told])

async def call_tool(context, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(state))])

async def main():
    server = Server("lamp", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
"""


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    project = MiniProject(tmp_path / "project")
    for name, text in {"pyproject.toml": PYPROJECT, "dodo.py": '"""A project."""\n', "cases/viewer/suite.eval": SUITE,
                       "cases/viewer/all.eval": CASES, "cases/viewer/app.py": APP, "good.yaml": GOOD,
                       "rash.yaml": RASH}.items():
        project.write(name, text)
    return project


def run(project: MiniProject, *choices: str) -> tuple[Done, dict[str, str]]:
    """A run, and the status of each case."""
    done = project.doit("run", "suite:viewer", *choices)
    summary = json.loads(project.read("results/latest/summary.json"))
    agent = next(choice.partition("=")[2] for choice in choices if choice.startswith("agent="))
    return done, {trial["case"]: trial["status"] for trial in summary["trials"] if trial["agent"] == agent}


def evidence(project: MiniProject, agent: str, case: str, check: str = "calls") -> str:
    place = next(project.path("results/latest").glob(f"{agent}*/**/{case}/trial-1/grades/{check}.json"))
    return str(json.loads(place.read_text())["verdict"]["evidence"])


ALL = ("color", "bigger", "list", "box", "file", "publish")


def test_the_expected_calls_are_the_reference_answer(project: MiniProject) -> None:
    """They are played with the real commands, confirmations included; a second run has nothing to do."""
    done, statuses = run(project, "agent=oracle")
    assert 0 == done.status, done.err + done.out
    assert dict.fromkeys(ALL, "pass") == statuses
    assert "pass rate     oracle\n" in done.out
    place = next(project.path("results/latest/oracle/publish").rglob("transcript.jsonl"))
    calls = [json.loads(line) for line in place.read_text().splitlines() if '"tool_call"' in line]
    assert [("createFinding", {"kind": "crack", "title": "text"}), ("publishFinding", {"findingId": "f-1"}),
            ("publishFinding", {"findingId": "f-1", "confirm": "t-1"})] == [
        (one["name"], one["input"]) for one in calls]
    assert {} == run(project, "agent=oracle")[0].ran


def test_what_the_played_answer_hangs_on(project: MiniProject) -> None:
    """The expected calls, and the application's code; not the prompt."""
    run(project, "agent=oracle")
    project.edit("cases/viewer/all.eval", "Color by elevation", "Color it by elevation")
    assert {} == run(project, "agent=oracle")[0].ran
    project.edit("cases/viewer/all.eval", 'like "Crack at P1"', 'like "Crack at P2"')
    assert "expected calls changed" == run(project, "agent=oracle")[0].ran["agent"]
    project.edit("cases/viewer/app.py", "at least 3", "at least three")
    assert "commands cases/viewer/app.py changed" == run(project, "agent=oracle")[0].ran["agent"]


def test_a_server_that_is_given_the_state(project: MiniProject) -> None:
    """As the language says it: `{state}` is the path of the file; an edited server is another one."""
    project.write("cases/served/server.py", SERVER)
    project.write("cases/served/a state.json", '{"lamp": "off"}')
    project.write("cases/served/suite.eval", f"""suite served {{
  agent tools {{ registry mcp "{sys.executable} server.py {{state}}"; state "a state.json" }}
}}
""")
    project.write("cases/served/lamp.eval", """case lamp "Is it on?" {
  expect look
  check state lamp = "off"
}
""")
    choices = ("run", "case:lamp", "agent=oracle")
    done = project.doit(*choices)
    assert 0 == done.status, done.out + done.err
    assert "everything was up to date" in project.doit(*choices).err
    project.edit("cases/served/server.py", "Is it on?", "Is it on or off?")
    done = project.doit(*choices)
    assert "commands cases/served/server.py changed" in done.out + done.err


def test_a_call_that_is_rejected_proves_nothing(project: MiniProject) -> None:
    """The case is wrong then, or its order; it is said where."""
    project.edit("cases/viewer/all.eval", "expect createFinding(kind: \"crack\") then publishFinding(findingId any)",
                 "expect publishFinding(findingId: \"f-9\")")
    done = project.doit("run", "case:publish", "agent=oracle")
    assert 2 == done.status
    assert ('the application rejects the reference answer: publishFinding with {"findingId":"f-9"}: there is no such '
            "finding (cases/viewer/all.eval:14:10)") in done.err
    proof = subprocess.run([sys.executable, "-m", "evalkit.cli", "check", "--prove", "publish"], cwd=project.root,
                           env=project.environ, text=True, capture_output=True, check=False, timeout=120)
    assert 1 == proof.returncode, proof.stdout + proof.stderr
    assert "publish: not proven" in proof.stdout
    assert "not so: the application rejects the reference answer: publishFinding with" in proof.stdout


def test_doing_nothing_fails(project: MiniProject) -> None:
    """Without a transcript: it is known that nothing was called."""
    done, statuses = run(project, "agent=nop")
    assert (1, dict.fromkeys(ALL, "fail")) == (done.status, statuses)
    assert "nothing was called" in evidence(project, "nop", "color")
    assert "state.json" in evidence(project, "nop", "file", "filed")


def test_the_cases_are_proven(project: MiniProject) -> None:
    """The played calls pass, doing nothing does not."""
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", "check", "--prove"], cwd=project.root,
                          env=project.environ, text=True, capture_output=True, check=False, timeout=120)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_the_palette(project: MiniProject) -> None:
    """What words alone can do; its rates stand beside those of who ran before."""
    run(project, "agent=oracle")
    done, statuses = run(project, "agent=palette")
    assert 1 == done.status, done.err
    assert {"color": "pass", "bigger": "pass", "list": "pass", "box": "fail", "file": "fail",
            "publish": "fail"} == statuses
    assert ["flat        2/2 100%", "read        1/1 100%", "spatial     0/1   0%", "guarded     0/2   0%",
            "all tiers   3/6  50%"] == done.out.split("pass rate    palette\n")[1].splitlines()[:5]
    tiers = json.loads(project.read("results/latest/summary.json"))["tiers"]["viewer"]
    assert {"oracle": {"passed": 2, "graded": 2}, "palette": {"passed": 0, "graded": 2}} == tiers["guarded"]


def test_a_model_that_looks_first_and_confirms(project: MiniProject) -> None:
    """Reads in between cost nothing, a rejected try wrote nothing, the token that was told is used."""
    done, statuses = run(project, "agent=tools", "gateway=good.yaml")
    assert 0 == done.status, done.err + done.out
    assert dict.fromkeys(ALL, "pass") == statuses


def test_a_model_that_does_what_nobody_asked_for(project: MiniProject) -> None:
    """A wrong name, a wrong value, one argument too many, a write where only a read was asked for, a made-up token."""
    done, statuses = run(project, "agent=tools", "gateway=rash.yaml")
    assert 1 == done.status, done.err
    assert dict.fromkeys(ALL, "fail") == statuses
    told = {case: evidence(project, "tools", case).splitlines() for case in ALL}
    assert "    no  mode: \"elevation\", but: \"height\"" in told["color"]
    assert "    no  exact, but: also unit" in told["bigger"]
    assert "`listFindings` was not called" == told["list"][0]
    assert "    no  min approx [0, 0, 28] within 0.5, but: [0, 0, 20]" in told["box"]
    assert told["file"][0].startswith("never publishFinding: call 2")
    assert "    no  confirmed, but: rejected: the token was never given" in told["publish"]


def test_cases_by_the_beginnings_of_their_names(project: MiniProject) -> None:
    done, statuses = run(project, "agent=oracle", "case=col,p")
    assert (0, {"color": "pass", "publish": "pass"}) == (done.status, statuses)
    done = project.doit("run", "suite:viewer", "agent=oracle", "case=x")
    assert (2, True) == (done.status, "no case that is selected begins with `x`" in done.err)
