"""`python -m viewer.mcp STATE`: the viewer as an MCP server over stdio. STATE is a YAML or JSON file.

Besides the commands it has `evalkit_state`, by which a harness is told the whole state; it is no command of the viewer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import yaml
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from viewer.prompt import build_system
from viewer.registry import Session, registry

STATE_TOOL = "evalkit_state"


def tools(session: Session) -> list[types.Tool]:
    """The session's definitions in MCP's types."""
    shown = [types.Tool(name=one["name"], title=one["title"], description=one["description"],
                        input_schema=one["input_schema"],
                        annotations=types.ToolAnnotations(read_only_hint=one["annotations"]["readOnlyHint"],
                                                          destructive_hint=one["annotations"]["destructiveHint"]))
             for one in session.tool_definitions()]
    return [*shown, types.Tool(name=STATE_TOOL, description="The whole state, for a harness.",
                               input_schema={"type": "object"})]


def called(session: Session, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Do a command; a rejection is a result that says so."""
    try:
        done = session.state() if name == STATE_TOOL else session.call(name, arguments)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is told to who called
        return _result(str(error) or type(error).__name__, True)
    return _result(done if isinstance(done, str) else json.dumps(done, ensure_ascii=False), False)


def _result(words: str, failed: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)], is_error=failed)


async def serve(state: dict[str, Any]) -> None:
    session = registry.start(state)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools(session))

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return called(session, params.name, params.arguments or {})

    server = Server("viewer", instructions=build_system(state), on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python -m viewer.mcp STATE")
    asyncio.run(serve(yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))))
