"""The commands of an MCP server over stdio: `registry mcp "COMMAND"`, with the official `mcp` package.

The server is started as an application of any language ships it; `{state}` in its command is the state's file. A result
that says `isError` is a rejection. Where the case has no system prompt, the server's own instructions are it. A server
that has a tool `evalkit_state` tells its state by it; no model is shown that tool.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson
from attrs import frozen

from evalkit.analysis.model import AgentConfig
from evalkit.analysis.placeholders import expand_all
from evalkit.errors import HarnessError, UserError
from evalkit.execute.commands.layer import CommandLayer, Outcome
from evalkit.execute.commands.python import START_LIMIT, built_system, last_words
from evalkit.execute.models.chat import Tool
from evalkit.execute.process import tended
from evalkit.execute.running import check_going_on
from evalkit.lint.registry import STATE_TOOL

__all__ = ["open_mcp"]

_PAGES = 100
"""Pages of tools that are asked for."""
T = TypeVar("T")


@contextmanager
def open_mcp(agent: AgentConfig, state: Path | None, *, folders: tuple[Path, ...], env: Mapping[str, str],
             home: Path) -> Iterator[CommandLayer]:
    """Start the MCP server of an agent. Raises UserError where it cannot be started, or is none."""
    try:
        import mcp
        from anyio.from_thread import start_blocking_portal
        from mcp.client.stdio import stdio_client
    except ImportError:
        raise UserError("`registry mcp` needs the package `mcp`", hint="pip install 'evalkit[mcp]'") from None
    assert agent.registry_command is not None
    argv = expand_all(agent.registry_command.words, {"state": "" if state is None else str(state)})
    system = agent.system
    if agent.system_function is not None:
        system = built_system(agent, state, folders=folders, env=env, home=home)
    log = home / "commands.log"
    with (tended() as marks, log.open("a", encoding="utf-8") as errors, start_blocking_portal() as portal,
          _quiet_end() as stack):
        server = mcp.StdioServerParameters(command=argv[0], args=argv[1:], cwd=folders[0],
                                           env={"USER": "", "LOGNAME": "", "SHELL": "", **env, **marks})
        try:
            streams = stack.enter_context(portal.wrap_async_context_manager(stdio_client(server, errors)))
            session = stack.enter_context(portal.wrap_async_context_manager(mcp.ClientSession(*streams)))
            begun = portal.call(_within, session.initialize, START_LIMIT)
            listed = portal.call(_within, lambda: _tools(session), START_LIMIT)
        except Exception as error:  # its own errors, the system's, and groups of both
            check_going_on()
            raise UserError(f"MCP server `{argv[0]}` cannot be started: {_words(error)}",
                            hint=f"its command is run in the suite's folder; {last_words(log)}") from error
        yield _Layer(portal.call, session, listed, begun.instructions or "" if system is None else system)


@contextmanager
def _quiet_end() -> Iterator[ExitStack]:
    """Contexts that are told of no error, and whose own while they end are nobody's: the server is ended anyhow."""
    stack = ExitStack()
    try:
        yield stack
    finally:
        with contextlib.suppress(Exception):
            stack.close()


async def _within(ask: Callable[[], Awaitable[T]], limit: float) -> T:
    import anyio

    with anyio.fail_after(limit):
        return await ask()


@frozen
class _Listed:
    """What a server has: its tools, which of them only read, their titles, and whether it tells its state."""

    tools: tuple[Tool, ...]
    reads: frozenset[str]
    titles: Mapping[str, str]
    tells: bool


async def _tools(session: Any) -> _Listed:
    """All tools of a server, page by page."""
    from mcp.types import PaginatedRequestParams

    found: list[Any] = []
    cursor = None
    for _ in range(_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    shown = [tool for tool in found if tool.name != STATE_TOOL]
    if twice := [name for name, count in Counter(tool.name for tool in shown).items() if count > 1]:
        raise ValueError(f"it has two tools `{twice[0]}`")
    notes = {tool.name: tool.annotations for tool in shown if tool.annotations is not None}
    titles = {tool.name: tool.title or getattr(notes.get(tool.name), "title", None) for tool in shown}
    return _Listed(tuple(Tool(tool.name, tool.description or "", tool.input_schema) for tool in shown),
                   frozenset(name for name, note in notes.items() if note.read_only_hint),
                   {name: title for name, title in titles.items() if title}, len(shown) < len(found))


class _Layer:
    def __init__(self, wait: Callable[..., Any], session: Any, listed: _Listed, system: str) -> None:
        self._wait = wait
        self._session = session
        self._tells = listed.tells
        self.tools = listed.tools
        self.reads = listed.reads
        self.titles = listed.titles
        self.system = system

    def call(self, name: str, arguments: Mapping[str, Any], limit: float) -> Outcome:
        from mcp import MCPError

        try:
            result = self._wait(_within, lambda: self._session.call_tool(name, dict(arguments)), limit)
        except MCPError as error:  # the server refuses the call itself: an unknown tool, arguments of a wrong form
            check_going_on()
            if _closed(error):
                raise HarnessError("the MCP server ended") from error
            return Outcome(_words(error), rejected=True)
        except Exception as error:
            check_going_on()
            raise HarnessError(f"the MCP server did not do it: {_words(error)}") from error
        return Outcome(_text(result), rejected=bool(result.is_error))

    def state(self, limit: float) -> Any:
        if not self._tells:
            return None
        try:
            told = self.call(STATE_TOOL, {}, limit)
        except HarnessError as error:
            raise HarnessError(f"the application does not tell its state: {error.message}") from error
        if told.rejected:
            raise HarnessError(f"the MCP server does not tell its state: {told.text}")
        try:
            return orjson.loads(told.text)
        except orjson.JSONDecodeError:
            return told.text


def _closed(error: Any) -> bool:
    from mcp.types import CONNECTION_CLOSED

    return bool(error.code == CONNECTION_CLOSED)


def _text(result: Any) -> str:
    """What a result says: its texts, one after the other; of other content its kind."""
    parts = [part.text if part.type == "text" else f"[{part.type}]" for part in result.content]
    if not parts and result.structured_content is not None:
        return orjson.dumps(result.structured_content).decode()
    return "\n".join(parts)


def _words(error: BaseException) -> str:
    """The innermost words of an error or a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "it gave no answer in time"
    return (" ".join(str(error).split()) or type(error).__name__)[:500]
