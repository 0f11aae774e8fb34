"""The commands of an application, as its registry gives them: `registry "package.module:name"`.

The object is a mapping of names to JSON Schemas of the arguments, or to tool definitions that hold one, or a list of
tool definitions with their names; or it has such a thing as its `commands`. A schema may say with `annotations`, as
tools of MCP do, that its command only reads (`readOnlyHint`) or needs a confirmation (`destructiveHint`).

A suite's code does not run in this process: a Python of its own imports it, with a time limit, and prints JSON.
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
from typing import Any, Protocol, TypeAlias

from attrs import frozen

from evalkit.lint.schema import of_command

__all__ = ["FORMS", "Loader", "Loading", "Registry", "load_registry", "named_tools"]

LIMIT = 20.0
"""Seconds."""
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


def load_registry(name: str, folders: tuple[Path, ...]) -> Loading:
    """Load a registry in a process of its own."""
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, "-c", _SCRIPT, name, *map(str, folders)]
        process = subprocess.Popen(command, cwd=folders[-1], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return Loading(None, f"importing it took longer than {LIMIT:g} s")
        finally:
            with contextlib.suppress(OSError):  # what it started ends with it
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return _read(output.read(LARGEST), process.returncode)


def _read(data: bytes, status: int) -> Loading:
    try:
        found = json.loads(data)
        problem = found.get("problem")
    except (ValueError, RecursionError, AttributeError):
        return Loading(None, f"importing it ended with status {status}")
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
