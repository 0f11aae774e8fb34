"""The commands of an application, as its registry gives them: `registry "package.module:name"`.

The object is a mapping of names to JSON Schemas of the arguments, or to tool definitions that hold one, or a list of
tool definitions with their names; or it has such a thing as its `commands`. A schema may say with `annotations`, as
tools of MCP do, that its command only reads (`readOnlyHint`) or needs a confirmation (`destructiveHint`).

A suite's code does not run in this process: a Python of its own imports it, with a time limit, and prints JSON. So does
one that asks an MCP server (`registry mcp "COMMAND"`) for its tools.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

from attrs import frozen

from evalkit.analysis.placeholders import expand_all
from evalkit.lint.schema import of_command
from evalkit.values import evolve

__all__ = ["FORMS", "STATE_TOOL", "Loader", "Loading", "Registry", "ServerLoader", "load_registry", "load_server",
           "named_tools"]

LIMIT = 20.0
"""Seconds."""
STATE_TOOL = "evalkit_state"
"""The tool by which an MCP server tells its state."""
LARGEST = 20_000_000
"""Bytes of JSON that are read."""
FORMS = "a registry maps names to JSON Schemas (`type`, `properties`, …) or to tool definitions that hold one as " \
        "`parameters`, `inputSchema` or `input_schema`, or lists tool definitions, each with its `name`"

Schema: TypeAlias = Mapping[str, Any]


class Registry(Protocol):
    """What the rules need of a registry."""

    @property
    def commands(self) -> Mapping[str, Schema]: ...


@frozen
class Loaded:
    commands: Mapping[str, Schema]


@frozen
class Loading:
    """What came of loading a registry: the registry, or why there is none."""

    registry: Registry | None
    problem: str = ""


class Loader(Protocol):
    def __call__(self, name: str, folders: tuple[Path, ...]) -> Loading:
        """Load `package.module:name`; the folders are where modules are looked for first."""


class ServerLoader(Protocol):
    def __call__(self, words: tuple[str, ...], state: Path | None, folders: tuple[Path, ...]) -> Loading:
        """Ask an MCP server for its tools. words: its command, with `{state}`; it runs in the first folder."""


_SCRIPT = """\
import importlib, json, sys
from collections.abc import Mapping
out, sys.stdout = sys.stdout, sys.stderr
target, sys.path[:0] = sys.argv[1], sys.argv[2:]
try:
    module, _, name = target.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    commands = getattr(found, "commands", found)
    commands = commands() if callable(commands) else commands
    if isinstance(commands, Mapping) or hasattr(commands, "keys"):
        result = {"commands": {str(key): value for key, value in dict(commands).items()}}
    else:
        result = {"commands": list(commands) if isinstance(commands, (list, tuple)) else None}
except BaseException as error:
    result = {"problem": (type(error).__name__ + ": " + str(error))[:300]}
def plain(value):
    return dict(value) if isinstance(value, Mapping) else str(value)
out.write(json.dumps(result, default=plain))
out.flush()
"""


_SERVER_SCRIPT = """\
import json, logging, sys
logging.disable()  # of the client: what the server says is told
words = sys.argv[1:]
try:
    import anyio, mcp
    from mcp.client.stdio import stdio_client
except ImportError:
    print(json.dumps({"problem": "it needs the package `mcp`: pip install 'evalkit[mcp]'"}))
    sys.exit()
async def ask():
    tools, cursor = [], None
    server = mcp.StdioServerParameters(command=words[0], args=words[1:])
    async with stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
        await session.initialize()
        for _ in range(100):
            params = mcp.types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await session.list_tools(params=params)
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
    return tools
try:
    result = {"commands": anyio.run(ask)}
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    result = {"problem": (type(error).__name__ + ": " + str(error))[:300]}
print(json.dumps(result))
"""


def load_registry(name: str, folders: tuple[Path, ...]) -> Loading:
    """Load a registry in a process of its own."""
    return _told([sys.executable, "-c", _SCRIPT, name, *map(str, folders)], folders[-1], "importing it")


def load_server(words: tuple[str, ...], state: Path | None, folders: tuple[Path, ...]) -> Loading:
    """Ask an MCP server for its tools, in a process of its own. The tool that tells the state is no command."""
    filled = expand_all(words, {"state": "" if state is None else str(state)})
    with tempfile.TemporaryFile() as errors:
        loading = _told([sys.executable, "-c", _SERVER_SCRIPT, *filled], folders[0], "asking it", errors)
        if loading.registry is None:
            said = _last_line(errors)
            return evolve(loading, problem=f"{loading.problem}; it said: {said}") if said else loading
    commands = {name: schema for name, schema in loading.registry.commands.items() if name != STATE_TOOL}
    return Loading(Loaded(commands))


def _last_line(errors: IO[bytes]) -> str:
    """The last line that was written to a file, as far as it has room."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - 2_000))
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return "".join(char if char.isprintable() else "?" for char in lines[-1].strip()[:300]) if lines else ""


def _told(command: list[str], folder: Path, what: str, errors: IO[bytes] | None = None) -> Loading:
    """What a script prints, within the time limit. errors: where its standard error goes, if it is to be told."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.DEVNULL if errors is None else errors, start_new_session=True)
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return Loading(None, f"{what} took longer than {LIMIT:g} s")
        finally:
            with contextlib.suppress(OSError):  # what it started ends with it
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return _read(output.read(LARGEST), process.returncode, what)


def _read(data: bytes, status: int, what: str) -> Loading:
    try:
        found = json.loads(data)
        problem = found.get("problem")
    except (ValueError, RecursionError, AttributeError):
        return Loading(None, f"{what} ended with status {status}")
    return Loading(None, " ".join(str(problem).split())) if problem else _understood(found.get("commands"))


def _understood(found: Any) -> Loading:
    """The commands of an object, whichever of the forms it has."""
    pairs = named_tools(found)
    if pairs is None:
        return Loading(None, f"it is neither a mapping nor a list; {FORMS}")
    commands: dict[str, Schema] = {}
    for place, (name, given) in enumerate(pairs, 1):
        schema = of_command(given)
        if name is None:
            return Loading(None, f"item {place} of its list has no `name`; {FORMS}")
        if schema is None:
            return Loading(None, f"what it has for `{_shown(name)}` is no JSON Schema; {FORMS}")
        if name in commands:
            return Loading(None, f"its list has two tools `{_shown(name)}`")
        commands[name] = schema
    return Loading(Loaded(commands))


def named_tools(found: Any) -> list[tuple[str | None, Any]] | None:
    """The definitions of a registry with their names, in either form; None where it has neither."""
    if isinstance(found, list):
        return [(_name(tool), tool) for tool in found]
    return list(found.items()) if isinstance(found, dict) else None


def _name(tool: Any) -> str | None:
    """The name of a tool definition: beside its schema, or within its `function`."""
    for holder in (tool, tool.get("function")) if isinstance(tool, dict) else ():
        if isinstance(holder, dict) and isinstance(holder.get("name"), str):
            return str(holder["name"])
    return None


def _shown(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name[:80])
