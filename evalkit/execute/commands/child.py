"""A suite's own Python commands, in a process of their own: JSON lines in, JSON lines out.

It is run as a script and imports nothing of evalkit. What the commands print goes to standard error.

    {"do": "start", "folders": […], "registry": "package.module:name" or null, "system": the same or null,
     "state": a file or null}                      -> {"commands": definitions, "calls": true, "system": text or null}
    {"do": "call", "name": …, "arguments": {…}}    -> {"text": …, "rejected": false}
    {"do": "state"}                                -> {"state": …}

A request that cannot be answered gets {"problem": words}. With arguments it is a nursery (nursery.py).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

session: Any = None


def main() -> None:
    if len(sys.argv) > 1:
        nursery(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
        return
    wire_in, wire_out = os.fdopen(os.dup(0), encoding="utf-8"), writing(os.dup(1))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    serve(wire_in, wire_out)


def writing(file: int) -> IO[str]:
    """Half a surrogate pair, as is left where a text was cut, becomes a `?`: no JSON has one."""
    return os.fdopen(file, "w", encoding="utf-8", errors="replace")


def serve(wire_in: IO[str], wire_out: IO[str]) -> None:
    for line in wire_in:
        try:
            answer = answered(json.loads(line))
            said = json.dumps(answer, default=plain, ensure_ascii=False, allow_nan=False)
        except BaseException as error:  # noqa: BLE001 - whatever a suite's code raises
            said = json.dumps({"problem": words(error)})
        wire_out.write(said + "\n")
        wire_out.flush()


def nursery(control: int, registry: str, folders: list[str]) -> None:
    """Import a registry, and fork a session for each pair of files that comes: its socket, and its log.

    Answers `+` when it can. A session is told its environment first, and answers with its process's number.
    """
    wire = socket.socket(fileno=control)
    sys.path[:0] = folders
    found(registry)
    sys.path[:len(folders)] = []
    with contextlib.suppress(ImportError):
        importlib.import_module("yaml")  # each session reads a state
    if threading.active_count() > 1:
        return  # a fork would have only one of them
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    wire.sendall(b"+")
    while True:
        data, files, _, _ = socket.recv_fds(wire, 1, 2)
        if not data:
            return
        if os.fork() == 0:
            wire.close()
            os.setsid()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            talk, log = files
            for standard in (1, 2):
                os.dup2(log, standard)
            os.close(log)
            wire_in, wire_out = os.fdopen(talk, encoding="utf-8"), writing(os.dup(talk))
            os.environ.clear()
            os.environ.update(json.loads(wire_in.readline()))
            wire_out.write(json.dumps({"pid": os.getpid()}) + "\n")
            wire_out.flush()
            serve(wire_in, wire_out)
            os._exit(0)
        for file in files:
            os.close(file)


def answered(request: dict[str, Any]) -> dict[str, Any]:
    global session
    if request["do"] == "start":
        sys.path[:0] = request["folders"]
        state = read_state(request["state"])
        commands = None
        if request["registry"] is not None:
            registry = found(request["registry"])
            start = getattr(registry, "start", None)
            session = start(state) if callable(start) else registry
            commands = definitions(session if has_definitions(session) else registry)
        system = found(request["system"])(state) if request["system"] else None
        return {"commands": commands, "calls": callable(getattr(session, "call", None)),
                "system": None if system is None else str(system)}
    if request["do"] == "call":
        try:
            done = session.call(request["name"], request["arguments"])
        except Exception as error:  # noqa: BLE001 - rejections come as exceptions of any kind
            return {"text": str(error) or type(error).__name__, "rejected": True}
        return {"text": done if isinstance(done, str) else json.dumps(done, ensure_ascii=False, default=plain),
                "rejected": False}
    told = getattr(session, "state", None)
    return {"state": told() if callable(told) else told}


def found(target: str) -> Any:
    module, _, name = target.partition(":")
    value: Any = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def read_state(path: str | None) -> Any:
    """What a state file holds: JSON, YAML where the name says so and PyYAML is there, else its text."""
    if path is None:
        return None
    text = Path(path).read_text(encoding="utf-8")
    if path.endswith((".yaml", ".yml")):
        import yaml

        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return json.loads(text) if path.endswith(".json") else text


_DEFINITIONS = ("tool_definitions", "commands")


def has_definitions(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple) or any(hasattr(value, name) for name in _DEFINITIONS)


def definitions(value: Any) -> Any:
    """The commands of a registry: a mapping, or a list."""
    for name in _DEFINITIONS:
        value = getattr(value, name, value)
        value = value() if callable(value) else value
    return {str(key): one for key, one in value.items()} if isinstance(value, Mapping) else list(value)


def plain(value: Any) -> Any:
    """What JSON does not know."""
    return dict(value) if isinstance(value, Mapping) else str(value)


def words(error: BaseException) -> str:
    return (type(error).__name__ + ": " + " ".join(str(error).split()))[:500]


if __name__ == "__main__":
    main()
