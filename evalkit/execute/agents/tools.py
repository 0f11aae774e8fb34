"""The agent `tools`: a model that calls the commands of an application, until its turn is over or a limit ends it.

The commands are the application's own (execute/commands), shown to the model and called as it ships them; what a call
comes to goes back to the model, a rejection too. A call that the application never sees, of a tool that is not there or
with arguments that are no JSON object, is answered here, as a rejection. What the application's state is in the end
lies in the final tree as `state.json`, where it tells one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
from attrs import define, field, frozen

from evalkit.analysis.model import AgentConfig, Case, Toolchain
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.commands import CommandLayer, open_layer
from evalkit.execute.models.chat import Chat, Reply, Tool, ToolOutput, ToolUse, Turn, UserTurn
from evalkit.execute.models.client import ProviderError, TimeUp, complete
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.transcripts.model import Ended, Limit, Message, MessageUsage, ToolCall, ToolResult
from evalkit.execute.transcripts.own import Writer
from evalkit.plan.trials import AgentTraits

__all__ = ["STATE_FILE", "ToolUser", "make"]

STATE_FILE = "state.json"
"""Where the state is in the final tree."""
CALL_LIMIT = 60.0
"""Seconds for one call of a command."""
LARGEST_OUTPUT = 200_000
"""Characters of a call's result that the model is shown."""
_TRAITS = AgentTraits("1", frozenset({"prompt", "model", "tools", "limits"}), sampled=True, builds=False)


def make(wanted: Wanted) -> ToolUser:
    return ToolUser(wanted.endpoint, wanted.root)


@frozen
class ToolUser:
    """The agent `tools`."""

    endpoint: Endpoint | None = field(repr=False)
    root: Path
    traits: AgentTraits = _TRAITS
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        asked = {"guidance": unit.setup.guidance, "contract": unit.setup.contract, "answer": unit.setup.answer,
                 "mcp": unit.agent.mcp}
        return [f"`{name}`" for name, given in asked.items() if given]

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        """The code of the application, as far as the project has it: what it does is part of what is measured."""
        found: dict[str, None] = {}
        for name in modules(unit.agent):
            top = name.partition(".")[0]
            for folder in (unit.suite.folder, "."):
                places = (f"{folder}/{top}", f"{folder}/{top}.py")
                if there := next((place for place in places if (self.root / place).exists()), None):
                    found[Path(there).as_posix()] = None
                    break
        return tuple((f"commands {path}", path) for path in found)

    def run(self, job: Job) -> Ending:
        endpoint = job.endpoint or self.endpoint
        if endpoint is None:
            raise UserError("agent=tools needs a model, and no key is set")
        case = job.trial.case
        with (job.transcript.open("wb") as sink,
              open_layer(case.agent, root=job.root, suite=job.root / case.suite.folder, env=job.env,
                         home=job.home) as layer):
            talk = _Talk(job, endpoint, layer, Writer(sink, job.redactor, "tools"))
            ending = talk.to_its_end()
            state = layer.state(CALL_LIMIT)
        if state is not None:
            data = orjson.dumps(state, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
            (job.workspace / STATE_FILE).write_bytes(job.redactor.clean(data) + b"\n")
        return ending

    def describe(self, job: Job) -> str:
        case = job.trial.case
        with open_layer(case.agent, root=job.root, suite=job.root / case.suite.folder, env=job.env,
                        home=job.home) as layer:
            tools = "\n".join(f"  {tool.name}: {tool.description}" for tool in layer.tools)
            parts = (f"asks {job.trial.subject.model} with {len(layer.tools)} tools", f"system prompt:\n{layer.system}",
                     f"tools:\n{tools}", f"prompt:\n{prompt(case)}")
            return "\n\n".join(parts)


def prompt(case: Case) -> str:
    return "\n\n".join(part.strip() for part in (case.prompt, case.agent.suffix) if part.strip())


def modules(agent: AgentConfig) -> list[str]:
    """The Python modules that an agent's registry and system prompt are from, as far as its words name them."""
    named = [name.partition(":")[0] for name in (agent.registry, agent.system_function) if name is not None]
    words = agent.registry_command.words if agent.registry_command is not None else ()
    named += [after for word, after in pairwise(words) if word == "-m"]
    return [*named, *(word.removesuffix(".py") for word in words if word.endswith(".py") and "/" not in word)]


@define
class _Talk:
    """One conversation."""

    job: Job
    endpoint: Endpoint
    layer: CommandLayer
    writer: Writer
    began: float = field(factory=time.monotonic)
    usage: Usage = field(factory=lambda: Usage(turns=0, cost=0.0))
    retries: int = 0
    notes: list[str] = field(factory=list)

    def to_its_end(self) -> Ending:
        """Ask, call, tell, until it is over. Raises AgentError where the provider or the application failed."""
        said = prompt(self.job.trial.case)
        if self.layer.system:
            self.writer.write(Message("system", self.layer.system))
        self.writer.write(Message("user", said))
        turns: list[Turn] = [UserTurn(said)]
        tools = {tool.name: tool for tool in self.layer.tools}
        while True:
            try:
                reply = self._ask(tuple(turns), tuple(tools.values()))
            except TimeUp:
                return self._over("timeout", "time", f"ended after its {self.job.trial.case.limits.time} s")
            if not reply.calls:
                return self._ended(reply)
            outputs = []
            for call in reply.calls:
                if self._left() <= 0:
                    return self._over("timeout", "time", f"ended after its {self.job.trial.case.limits.time} s")
                outputs.append(self._call(call, tools))
            turns += [reply.turn(), UserTurn(outputs=tuple(outputs))]
            if over := self._passed():
                return self._over("capped", *over)

    def _left(self) -> float:
        return self.job.trial.case.limits.time - (time.monotonic() - self.began)

    def _ask(self, turns: tuple[Turn, ...], tools: tuple[Tool, ...]) -> Reply:
        case, model = self.job.trial.case, self.job.trial.subject.model or ""
        chat = Chat(model, turns, self.layer.system, tools, temperature=case.agent.temperature, seed=case.agent.seed)
        self.job.tick(time.monotonic() - self.began)
        try:
            answer = complete(self.endpoint, chat, limit=max(0.1, self._left()))
        except TimeUp:
            raise
        except ProviderError as error:
            raise AgentError(error.message, hint=error.hint, transient=error.transient, usage=self.usage) from error
        reply = answer.reply
        self.retries += answer.retries
        self.notes += answer.notes
        used = reply.usage if reply.usage.cost is not None else self.job.prices.priced(model, reply.usage)
        self.usage = _sum(self.usage, used)
        number = str(self.usage.turns)
        self.writer.write(MessageUsage(
            number, used.input_tokens or 0, used.output_tokens or 0, used.cache_read_tokens or 0,
            used.cache_write_tokens or 0, model=reply.model, cost=used.cost), raw=reply.response)
        if reply.text:
            self.writer.write(Message("assistant", reply.text, id=number))
        return reply

    def _call(self, use: ToolUse, tools: Mapping[str, Tool]) -> ToolOutput:
        """Have the application do a call. Raises AgentError where it is gone, or does not answer."""
        readable = isinstance(use.arguments, Mapping)
        arguments: Mapping[str, Any] = use.arguments if isinstance(use.arguments, Mapping) else {"": use.arguments}
        call = ToolCall(f"{self.usage.turns}.{use.id}", use.name, arguments)
        self.writer.write(call)
        refused = ""
        if use.name not in tools:
            refused = f"there is no command {use.name!r}; the commands are: {', '.join(sorted(tools))}"
        elif not readable:
            refused = "the arguments are no JSON object"
        if refused:
            self.writer.write(ToolResult(call, "error", ran=False, text=refused))
            return ToolOutput(use.id, use.name, refused, failed=True)
        try:
            done = self.layer.call(use.name, arguments, min(CALL_LIMIT, max(0.1, self._left())))
        except HarnessError as error:
            raise AgentError(f"the application failed at `{use.name}`: {error.message}", usage=self.usage,
                             hint="run again: nothing was kept") from error
        text = done.text if len(done.text) <= LARGEST_OUTPUT else (
            f"{done.text[:LARGEST_OUTPUT]}\n… cut: {len(done.text) - LARGEST_OUTPUT} characters are not shown …")
        self.writer.write(ToolResult(call, "error" if done.rejected else "ok", ran=True, text=text))
        return ToolOutput(use.id, use.name, text, failed=done.rejected)

    def _passed(self) -> tuple[Any, str] | None:
        """The limit that the conversation has come to."""
        limits, usage = self.job.trial.case.limits, self.usage
        if (usage.turns or 0) >= limits.turns:
            return "turns", f"reached its {limits.turns} turns"
        if limits.tokens is not None and _tokens(usage) > limits.tokens:
            return "tokens", f"reached its limit of {limits.tokens} tokens"
        if limits.cost is not None and (usage.cost or 0.0) > limits.cost:
            return "cost", f"reached its cost limit of ${limits.cost:.2f}"
        return None

    def _over(self, status: Any, what: Any, detail: str) -> Ending:
        self.writer.write(Limit(what, detail))
        self.writer.write(Ended(str(what), turns=self.usage.turns, cost=self.usage.cost))
        return Ending(status, detail, self.usage, self._notes())

    def _ended(self, reply: Reply) -> Ending:
        self.writer.write(Ended(reply.stop, is_error=reply.stop == "refusal", text=reply.text, turns=self.usage.turns,
                                cost=self.usage.cost))
        said = {"end": "ended its turn", "tools": "ended its turn", "length": "the model's reply went over its length",
                "refusal": "the model refused to go on"}.get(reply.stop, f"stopped: {reply.detail}")
        return Ending("completed", self.job.redactor.text(said), self.usage, self._notes())

    def _notes(self) -> tuple[str, ...]:
        retries = (f"the provider was asked again {self.retries} times",) if self.retries else ()
        return tuple(self.job.redactor.text(note) for note in (*dict.fromkeys(self.notes), *retries))


def _tokens(usage: Usage) -> int:
    return sum(count or 0 for count in (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens,
                                        usage.cache_write_tokens))


def _sum(before: Usage, one: Usage) -> Usage:
    """What the conversation took so far, with one more reply; of what one reply does not tell nobody knows the sum."""
    def plus(name: str) -> Any:
        old, new = getattr(before, name), getattr(one, name)
        if before.turns == 0:
            return new
        return None if old is None or new is None else old + new

    sources = dict.fromkeys(filter(None, (before.cost_source, one.cost_source)))
    return Usage((before.turns or 0) + 1, plus("input_tokens"), plus("output_tokens"), plus("cache_read_tokens"),
                 plus("cache_write_tokens"), plus("cost"), " and ".join(sources))
