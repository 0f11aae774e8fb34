"""The commands of an application, as its registry gives them: `registry "package.module:name"`.

The object is a mapping of names to JSON Schemas of the arguments, or has one as its `commands`. A schema may say with
`annotations`, as tools of MCP do, that its command only reads (`readOnlyHint`) or needs a confirmation
(`destructiveHint`).

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

__all__ = ["Loader", "Loading", "Registry", "load_registry"]

LIMIT = 20.0
"""Seconds."""
LARGEST = 20_000_000
"""Bytes of JSON that are read."""

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
out, sys.stdout = sys.stdout, sys.stderr
target, sys.path[:0] = sys.argv[1], sys.argv[2:]
try:
    module, _, name = target.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    commands = getattr(found, "commands", found)
    commands = commands() if callable(commands) else commands
    result = {"commands": {str(key): dict(value) for key, value in dict(commands).items()}}
except BaseException as error:
    result = {"problem": (type(error).__name__ + ": " + str(error))[:300]}
out.write(json.dumps(result, default=str))
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
        commands = found.get("commands")
    except (ValueError, RecursionError, AttributeError):
        return Loading(None, f"importing it ended with status {status}")
    if not isinstance(commands, dict):
        return Loading(None, " ".join(str(found.get("problem")).split()))
    return Loading(Loaded(commands))
