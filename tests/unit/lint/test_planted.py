"""A set of commands with faults planted in it: `evalkit check` finds each, at its place, whoever has the commands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalkit.authoring.check import check_project

APP = """\
MODES = ["elevation", "intensity"]
POINT = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}

def tool(name, properties, required=(), **hints):
    return {"name": name, "description": "", "annotations": hints,
            "inputSchema": {"type": "object", "properties": properties, "required": list(required)}}

commands = [
    tool("setColorMode", {"mode": {"enum": MODES}}, ["mode"]),
    tool("setPointSize", {"px": {"type": "number", "minimum": 1, "maximum": 20}}, ["px"]),
    tool("selectBox", {"min": POINT, "max": POINT}, ["min", "max"]),
    tool("createFinding", {"kind": {"enum": ["crack", "spall"]}, "title": {"type": "string"}}, ["kind", "title"]),
    tool("deleteFinding", {"id": {"type": "string"}, "confirm": {"type": "string"}}, ["id"], destructiveHint=True),
    tool("queryFindings", {"kind": {"enum": ["crack", "spall"]},
                           "tags": {"type": "array", "items": {"type": "string"}}}, readOnlyHint=True),
]
"""
SERVER = """\
import anyio
from app import commands
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(
        name=one["name"], description="", input_schema=one["inputSchema"],
        annotations=types.ToolAnnotations(read_only_hint=one["annotations"].get("readOnlyHint"),
                                          destructive_hint=one["annotations"].get("destructiveHint")))
        for one in commands])

async def main():
    server = Server("viewer", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
SUITE = """\
suite viewer {
  agent tools { %s }
  tier flat    requires schema flat
  tier guarded requires confirmation
  tier read    requires read
  tier spatial requires one of selectBox, lookAlong
}
"""
PLANTED = """\
case a01 flat "do" { expect setColourMode(mode: "elevation") }  # E081 setColour
case a02 flat "do" { expect setColorMode(mode: "height") }  # E082 mode: "h
case a03 flat "do" { expect setColorMode(mod: "elevation") }  # E082 mod:
case a04 flat "do" { expect setColorMode(mode: 3) }  # E082 mode:
case a05 flat "do" { expect setPointSize(px: "3") }  # E082 px:
case a06 flat "do" { expect setPointSize(px > 20) }  # E082 px >
case a07 flat "do" { expect setPointSize(px in 30..40) }  # E082 px in
case a08 flat "do" { expect setPointSize(px string) }  # E082 px string
case a09 flat "do" { expect setPointSize(px absent) }  # E082 px absent
case a10 flat "do" { expect setPointSize(px > 5, px < 3) }  # E082 px < 3
case a11 flat "do" { expect setPointSize(px ~ /big/) }  # E082 px ~
case a12 spatial "do" { expect selectBox(min approx [0, 1] within 1) }  # E082 min approx
case a13 spatial "do" { expect selectBox(min.3 > 1, max: [1, 2, "3"]) }  # E082 max:
case a14 flat "do" { expect createFinding(kind: "crack") exact }  # E082 createFinding
case a15 flat "do" { expect createFinding(kind ~ /^corrosion/) }  # E082 kind ~
case a16 guarded "do" { expect createFinding(kind: "crack") confirmed }  # E083 guarded # E082 createFinding
case a17 flat "do" { expect selectBox }  # E083 selectBox
case a18 guarded "do" { expect queryFindings; never createFinding }  # E083 guarded
case a19 read "do" { expect queryFindings then createFinding }  # E083 createFinding
case a20 spatial "do" { expect queryFindings }  # E083 spatial
case a21 read "do" { expect queryFindings(tags includes 1) }  # E082 tags
case a22 guarded "do" { never deleteFindings(id any) }  # E081 deleteFindings
case a23 guarded "do" { expect queryFindings; never deleteFinding(id: 1) }  # E082 id: 1
case a24 flat "do" { expect either { setPointSize(px: 1) } or { setPointSise } }  # E081 setPointSise
case a25 guarded "do" { expect deleteFinding(id: "f") confirmed }
case a26 read "do" { expect queryFindings(kind one of "crack", "spall") }
"""
"""Behind each fault its code, and the text at whose start it is told."""


@pytest.mark.parametrize("registry", ['registry "app:commands"', f'registry mcp "{sys.executable} server.py"'],
                         ids=["python", "mcp"])
def test_each_planted_fault_is_found_at_its_place(registry: str, tmp_path: Path) -> None:
    """File, line, column and code of each, and of nothing else; of a Python registry and of an MCP server."""
    folder = tmp_path / "cases/viewer"
    folder.mkdir(parents=True)
    for name, text in {"app.py": APP, "server.py": SERVER, "suite.eval": SUITE % registry, "it.eval": PLANTED}.items():
        (folder / name).write_text(text)
    wanted = ["cases/viewer/suite.eval:6:43: E081"]
    for number, line in enumerate(PLANTED.splitlines(), 1):
        for expected in line.split("  # ")[1:]:
            for fault in expected.split(" # "):
                code, _, at = fault.partition(" ")
                wanted.append(f"cases/viewer/it.eval:{number}:{line.index(at) + 1}: {code}")
    found = [f"{finding.diagnostic.span}: {finding.diagnostic.code}"
             for finding in check_project(tmp_path, "cases").findings if finding.diagnostic.code.startswith("E08")]

    assert sorted(wanted) == sorted(found)


def test_a_server_that_cannot_be_asked(tmp_path: Path) -> None:
    """It is told where it is named."""
    folder = tmp_path / "cases/viewer"
    folder.mkdir(parents=True)
    (folder / "suite.eval").write_text(SUITE % 'registry mcp "no-such-server --stdio"')
    (folder / "it.eval").write_text('case it "do" { expect a }\n')
    found = [finding.diagnostic for finding in check_project(tmp_path, "cases").findings
             if finding.diagnostic.code == "E084"]

    assert ["cases/viewer/suite.eval:2:30"] == [str(one.span) for one in found]
    assert found[0].message.startswith("MCP server `no-such-server --stdio` cannot be asked: FileNotFoundError")


def test_what_a_server_said_before_it_ended_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "cases/viewer"
    folder.mkdir(parents=True)
    (folder / "server.py").write_text("import sys\nprint('loading')\nsys.exit('no licence \\x1b[31m')\n")
    (folder / "suite.eval").write_text(SUITE % f'registry mcp "{sys.executable} server.py"')
    (folder / "it.eval").write_text('case it "do" { expect a }\n')
    found = [finding.diagnostic for finding in check_project(tmp_path, "cases").findings
             if finding.diagnostic.code == "E084"]

    assert [True] == [one.message.endswith("; it said: no licence ?[31m") for one in found], found
