"""What agents have in common that call the commands of an application: calls that are told, and the state in the end.

A call that the application never sees, of a command that is not there or with arguments that are no JSON object, is
answered here, as a rejection. Of a command that says it only reads the transcript tells that: its calls are of the kind
`read`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from evalkit.analysis.model import AgentConfig, Case
from evalkit.execute.agents.base import Job
from evalkit.execute.commands import CommandLayer, open_layer
from evalkit.execute.commands.layer import Outcome
from evalkit.execute.transcripts import ToolCall, ToolResult, Writer
from evalkit.plan.keys import STATE_FILE

__all__ = ["CALL_LIMIT", "Caller", "application", "calling", "modules"]

CALL_LIMIT = 60.0
"""Seconds for one call of a command."""
LEAST_LIMIT = 10.0
"""Seconds that a call has at least, also where the agent's own time is over before: who is late then is not known."""
LARGEST_OUTPUT = 200_000
"""Characters of a call's result that a model is shown."""


class Caller:
    """Calls an application's commands, and tells what comes of it."""

    def __init__(self, layer: CommandLayer, writer: Writer) -> None:
        self.layer = layer
        self.writer = writer
        self.tools = {tool.name: tool for tool in layer.tools}

    def call(self, identity: str, name: str, given: Mapping[str, Any] | str, limit: float = CALL_LIMIT) -> Outcome:
        """Have a command done, within `limit` seconds of the agent's time or somewhat more (`LEAST_LIMIT`).

        Raises HarnessError where the application is gone, or does not answer.
        """
        arguments: Mapping[str, Any] = given if isinstance(given, Mapping) else {"": given}
        call = ToolCall(identity, name, arguments, tool="read" if name in self.layer.reads else "other")
        self.writer.write(call)
        if name not in self.tools:
            known = ", ".join(sorted(self.tools))
            return self._refused(call, f"there is no command {name!r}; the commands are: {known}")
        if not isinstance(given, Mapping):
            return self._refused(call, "the arguments are no JSON object")
        done = self.layer.call(name, given, min(CALL_LIMIT, max(LEAST_LIMIT, limit)))
        text = done.text if len(done.text) <= LARGEST_OUTPUT else (
            f"{done.text[:LARGEST_OUTPUT]}\n… cut: {len(done.text) - LARGEST_OUTPUT} characters are not shown …")
        self.writer.write(ToolResult(call, "error" if done.rejected else "ok", ran=True, text=text))
        return Outcome(text, done.rejected)

    def _refused(self, call: ToolCall, why: str) -> Outcome:
        self.writer.write(ToolResult(call, "error", ran=False, text=why))
        return Outcome(why, rejected=True)


@contextmanager
def calling(job: Job, agent: str, *, often: bool = False) -> Iterator[Caller]:
    """Start a case's application for an agent; what its state is when the `with` ends lies in the final tree.

    often: of an agent that takes less time for a case than the application to start.
    """
    case = job.trial.case
    with (job.transcript.open("wb") as sink,
          open_layer(case.agent, root=job.root, suite=job.root / case.suite.folder, env=job.env,
                     home=job.home, often=often) as layer):
        yield Caller(layer, Writer(sink, job.redactor, agent))
        state = layer.state(CALL_LIMIT)
    if state is not None:
        data = orjson.dumps(state, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
        (job.workspace / STATE_FILE).write_bytes(job.redactor.clean(data) + b"\n")


def application(root: Path, unit: Case) -> tuple[tuple[str, str], ...]:
    """The code of the application, as far as the project has it: what it does is part of what is measured.

    Of an MCP server these are the modules, files and folders that its command names; it runs in the suite's folder.
    """
    found: dict[str, None] = {}
    for name in modules(unit.agent):
        top = name.partition(".")[0]
        for folder in (unit.suite.folder, "."):
            places = (f"{folder}/{top}", f"{folder}/{top}.py")
            if there := next((place for place in places if (root / place).exists()), None):
                found[Path(there).as_posix()] = None
                break
    for path in _named(root, unit):
        found.setdefault(path)
    return tuple((f"commands {path}", path) for path in found)


def _named(root: Path, unit: Case) -> Iterator[str]:
    """The files and folders of the project that the command of an MCP server names; none that holds the suite."""
    for word in unit.agent.registry_command.words if unit.agent.registry_command is not None else ():
        place = posixpath.normpath(posixpath.join(unit.suite.folder, word))
        outside = posixpath.isabs(word) or place.startswith("..") or "\0" in word
        holds_the_suite = place == "." or f"{unit.suite.folder}/".startswith(f"{place}/")
        if not outside and not holds_the_suite and _is_there(root / place):
            yield place


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no name that a file can have
        return False


def modules(agent: AgentConfig) -> list[str]:
    """The Python modules that an agent's registry and system prompt are from, as far as its words name them."""
    named = [name.partition(":")[0] for name in (agent.registry, agent.system_function) if name is not None]
    words = agent.registry_command.words if agent.registry_command is not None else ()
    named += [after for word, after in pairwise(words) if word == "-m"]
    return [*named, *(word.removesuffix(".py") for word in words if word.endswith(".py") and "/" not in word)]
