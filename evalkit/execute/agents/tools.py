"""The agent `tools`: a model that calls the commands of an application, until its turn is over or a limit ends it.

The commands are the application's own (execute/commands), shown to the model and called as it ships them; what a call
comes to goes back to the model, a rejection too. A call that the application never sees, of a tool that is not there or
with arguments that are no JSON object, is answered here, as a rejection. What the application's state is in the end
lies in the final tree as `state.json`, where it tells one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
from attrs import define, field, frozen

from evalkit.analysis.model import AgentConfig, Case, Toolchain
from evalkit.errors import HarnessError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.conversation import Conversation, prompt_of
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.commands import CommandLayer, open_layer
from evalkit.execute.models.chat import Chat, Tool, ToolOutput, ToolUse, Turn, UserTurn
from evalkit.execute.models.client import TimeUp
from evalkit.execute.models.provider import Endpoint, missing_key
from evalkit.execute.outcome import AgentError, Ending
from evalkit.execute.transcripts.model import Message, ToolCall, ToolResult
from evalkit.execute.transcripts.own import Writer
from evalkit.plan.trials import AgentTraits

__all__ = ["STATE_FILE", "ToolUser", "make"]

STATE_FILE = "state.json"
"""Where the state is in the final tree."""
CALL_LIMIT = 60.0
"""Seconds for one call of a command."""
LARGEST_OUTPUT = 200_000
"""Characters of a call's result that the model is shown."""
_ENDS = {"end": "ended its turn", "tools": "ended its turn", "length": "the model's reply went over its length",
         "refusal": "the model refused to go on"}
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
                 "mcp": unit.agent.mcp, "skills": unit.setup.skills}
        found = [f"`{name}`" for name, given in asked.items() if given]
        if unit.agent.seed is not None and self.endpoint is not None and self.endpoint.protocol == "anthropic":
            found.append("`seed` (the Messages API has none)")
        return found

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
            raise missing_key("agent=tools", job.trial.subject.model)
        case = job.trial.case
        with (job.transcript.open("wb") as sink,
              open_layer(case.agent, root=job.root, suite=job.root / case.suite.folder, env=job.env,
                         home=job.home) as layer):
            ending = _Talk(Conversation(job, endpoint, Writer(sink, job.redactor, "tools")), layer).to_its_end()
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
                     f"tools:\n{tools}", f"prompt:\n{prompt_of(case)}")
            return "\n\n".join(parts)


def modules(agent: AgentConfig) -> list[str]:
    """The Python modules that an agent's registry and system prompt are from, as far as its words name them."""
    named = [name.partition(":")[0] for name in (agent.registry, agent.system_function) if name is not None]
    words = agent.registry_command.words if agent.registry_command is not None else ()
    named += [after for word, after in pairwise(words) if word == "-m"]
    return [*named, *(word.removesuffix(".py") for word in words if word.endswith(".py") and "/" not in word)]


@define
class _Talk:
    """The conversation of a model with an application."""

    model: Conversation
    layer: CommandLayer

    def to_its_end(self) -> Ending:
        """Ask, call, tell, until it is over. Raises AgentError where the provider or the application failed."""
        model, case = self.model, self.model.job.trial.case
        turns: list[Turn] = [UserTurn(prompt_of(case))]
        tools = {tool.name: tool for tool in self.layer.tools}
        if self.layer.system:
            model.writer.write(Message("system", self.layer.system))
        model.writer.write(Message("user", prompt_of(case)))
        while True:
            chat = Chat(model.job.trial.subject.model or "", tuple(turns), self.layer.system, tuple(tools.values()),
                        temperature=case.agent.temperature, seed=case.agent.seed)
            try:
                reply = model.ask(chat)
            except TimeUp:
                return model.timed_out()
            if not reply.calls:
                return model.ended("completed", _ENDS.get(reply.stop) or f"stopped: {reply.detail}")
            outputs = []
            for call in reply.calls:
                if model.left <= 0:
                    return model.timed_out()
                outputs.append(self._call(call, tools))
            turns += [reply.turn(), UserTurn(outputs=tuple(outputs))]
            if over := model.passed():
                return model.ended("capped", over[1], over[0])
            if (model.usage.turns or 0) >= case.limits.turns:
                return model.ended("capped", f"reached its {case.limits.turns} turns", "turns")

    def _call(self, use: ToolUse, tools: Mapping[str, Tool]) -> ToolOutput:
        """Have the application do a call. Raises AgentError where it is gone, or does not answer."""
        readable = isinstance(use.arguments, Mapping)
        arguments: Mapping[str, Any] = use.arguments if isinstance(use.arguments, Mapping) else {"": use.arguments}
        call = ToolCall(f"{self.model.usage.turns}.{use.id}", use.name, arguments)
        self.model.writer.write(call)
        refused = ""
        if use.name not in tools:
            refused = f"there is no command {use.name!r}; the commands are: {', '.join(sorted(tools))}"
        elif not readable:
            refused = "the arguments are no JSON object"
        if refused:
            self.model.writer.write(ToolResult(call, "error", ran=False, text=refused))
            return ToolOutput(use.id, use.name, refused, failed=True)
        try:
            done = self.layer.call(use.name, arguments, min(CALL_LIMIT, max(0.1, self.model.left)))
        except HarnessError as error:
            raise AgentError(f"the application failed at `{use.name}`: {error.message}", usage=self.model.usage,
                             hint="run again: nothing was kept") from error
        text = done.text if len(done.text) <= LARGEST_OUTPUT else (
            f"{done.text[:LARGEST_OUTPUT]}\n… cut: {len(done.text) - LARGEST_OUTPUT} characters are not shown …")
        self.model.writer.write(ToolResult(call, "error" if done.rejected else "ok", ran=True, text=text))
        return ToolOutput(use.id, use.name, text, failed=done.rejected)
