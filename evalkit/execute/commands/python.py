"""The commands of a Python object: `registry "package.module:name"`, in a process of their own (child.py).

The object, or what its `start(state)` returns, has the commands' definitions (`tool_definitions` or `commands`, values
or functions, in any of the forms of docs/language.md) and `call(name, arguments)`. What it returns goes to the model, a
text as it is and all else as JSON; what it raises is a rejection, and the model is told its message.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from evalkit.analysis.model import AgentConfig
from evalkit.errors import HarnessError, UserError
from evalkit.execute.commands.layer import CommandLayer, Outcome
from evalkit.execute.models.chat import Tool
from evalkit.execute.process import Dialogue, converse
from evalkit.lint.registry import FORMS, named_tools
from evalkit.lint.schema import hint, of_command

if TYPE_CHECKING:
    from evalkit.execute.commands.nursery import Socket

__all__ = ["START_LIMIT", "built_system", "last_words", "open_python"]

START_LIMIT = 60.0
"""Seconds for imports, and for what the application does when it starts."""
_CHILD = Path(__file__).with_name("child.py")


@contextmanager
def open_python(agent: AgentConfig, state: Path | None, *, folders: tuple[Path, ...], env: Mapping[str, str],
                home: Path, often: bool = False) -> Iterator[CommandLayer]:
    """Start the registry of an agent. Raises UserError where it cannot be started, or is none.

    often: it is started for many cases, so it is imported once for all of them, as far as that can be (nursery.py).
    """
    with _started(agent, state, folders=folders, env=env, home=home, registry=agent.registry,
                  often=often) as (talk, told):
        tools, reads = _tools(agent.registry or "", told.get("commands"))
        if told.get("calls") is not True:
            raise UserError(f"registry `{agent.registry}` has commands, and none of them can be called: the object, or "
                            "what its `start` returns, has no function `call(name, arguments)`",
                            hint="docs/language.md says under `registry` what an application has")
        titles = {name: title for name, given in named_tools(told.get("commands")) or ()
                  if name is not None and (title := _title(given))}
        yield _Layer(talk, tools, reads, titles, agent.system or told["system"] or "")


def built_system(agent: AgentConfig, state: Path | None, *, folders: tuple[Path, ...], env: Mapping[str, str],
                 home: Path) -> str:
    """What the function of `system "package.module:name"` makes of the state. Raises UserError."""
    with _started(agent, state, folders=folders, env=env, home=home, registry=None) as (_, told):
        return str(told["system"] or "")


@contextmanager
def _started(agent: AgentConfig, state: Path | None, *, folders: tuple[Path, ...], env: Mapping[str, str], home: Path,
             registry: str | None, often: bool = False) -> Iterator[tuple[Dialogue | Socket, dict[str, Any]]]:
    log = home / "commands.log"
    with ExitStack() as stack:
        talk: Dialogue | Socket | None = None
        if often and registry is not None:
            from evalkit.execute.commands.nursery import session

            talk = stack.enter_context(session(registry, folders=folders, env=env, log=log))
        if talk is None:
            argv = [sys.executable, "-B", str(_CHILD)]
            talk = stack.enter_context(converse(argv, cwd=folders[0], env={**env, "PYTHONSAFEPATH": "1"}, log=log))
        asked = {"do": "start", "folders": [str(folder) for folder in folders], "registry": registry,
                 "system": agent.system_function, "state": None if state is None else str(state)}
        what = f"registry `{registry}`" if registry else f"system prompt `{agent.system_function}`"
        try:
            told = _answer(talk, asked, START_LIMIT)
        except HarnessError as error:
            raise UserError(f"{what} cannot be started: {error.message}", hint=last_words(log)) from error
        if "problem" in told:
            raise UserError(f"{what} cannot be started: {told['problem']}",
                            hint="modules are looked for in the suite's folder, in the project's, and among what is "
                            "installed; the state is read as JSON or YAML by its name")
        yield talk, told


class _Layer:
    def __init__(self, talk: Dialogue | Socket, tools: tuple[Tool, ...], reads: frozenset[str],
                 titles: Mapping[str, str], system: str) -> None:
        self._talk = talk
        self.tools = tools
        self.reads = reads
        self.titles = titles
        self.system = system

    def call(self, name: str, arguments: Mapping[str, Any], limit: float) -> Outcome:
        told = _answer(self._talk, {"do": "call", "name": name, "arguments": arguments}, limit)
        if "problem" in told:
            raise HarnessError(str(told["problem"]))
        return Outcome(str(told.get("text")), told.get("rejected") is True)

    def state(self, limit: float) -> Any:
        try:
            told = _answer(self._talk, {"do": "state"}, limit)
        except HarnessError as error:
            raise HarnessError(f"the application does not tell its state: {error.message}") from error
        if "problem" in told:
            raise HarnessError(f"the application does not tell its state: {told['problem']}")
        return told.get("state")


def _answer(talk: Dialogue | Socket, asked: Mapping[str, Any], limit: float) -> dict[str, Any]:
    answer = talk.ask(orjson.dumps(asked), limit)
    try:
        told = orjson.loads(answer)
    except orjson.JSONDecodeError:
        told = None
    if not isinstance(told, dict):
        raise HarnessError("the commands' process answered something else than JSON")
    return told


def _tools(name: str, given: Any) -> tuple[tuple[Tool, ...], frozenset[str]]:
    """The definitions of a registry as a model is shown them, and the commands that only read. Raises UserError."""
    pairs = named_tools(given)
    if pairs is None:
        raise UserError(f"registry `{name}` is neither a mapping nor a list", hint=FORMS)
    tools: dict[str, Tool] = {}
    reads = set()
    for place, (said, definition) in enumerate(pairs, 1):
        schema = of_command(definition)
        if said is None or schema is None or said in tools:
            why = "has no `name`" if said is None else "is no JSON Schema" if schema is None else "comes twice"
            raise UserError(f"registry `{name}`: command {said or place} {why}", hint=FORMS)
        if hint(schema, "readOnlyHint"):
            reads.add(said)
        shown = {key: value for key, value in schema.items() if key not in ("annotations", "name", "title")}
        tools[said] = Tool(said, _description(definition), {"type": "object", "properties": {}, **shown})
    return tuple(tools.values()), frozenset(reads)


def _description(definition: Any) -> str:
    """A definition's own description; of a tool of OpenAI's form the one within."""
    for holder in (definition, definition.get("function")) if isinstance(definition, dict) else ():
        if isinstance(holder, dict) and isinstance(holder.get("description"), str):
            return str(holder["description"])
    return ""


def _title(definition: Any) -> str:
    """A definition's title, its own or that of its annotations."""
    notes = definition.get("annotations") if isinstance(definition, dict) else None
    for holder in (definition, notes):
        if isinstance(holder, dict) and isinstance(holder.get("title"), str):
            return str(holder["title"])
    return ""


def last_words(log: Path) -> str:
    """The last line that a process wrote to its log, as part of a hint."""
    lines = log.read_bytes()[-2_000:].decode("utf-8", "replace").strip().splitlines()
    return f"it said: {lines[-1][:300]}" if lines else "it said nothing"
