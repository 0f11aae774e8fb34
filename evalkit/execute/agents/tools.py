"""The agent `tools`: a model that calls the commands of an application, until its turn is over or a limit ends it.

The commands are the application's own (execute/commands), shown to the model and called as it ships them; what a call
comes to goes back to the model, a rejection too (calling.py). What the application's state is in the end lies in the
final tree as `state.json`, where it tells one.
"""

from __future__ import annotations

from pathlib import Path

from attrs import define, field, frozen

from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import HarnessError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.calling import Caller, application, calling
from evalkit.execute.agents.conversation import Conversation, prompt_of
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.commands import open_layer
from evalkit.execute.models.chat import Chat, ToolOutput, ToolUse, Turn, UserTurn
from evalkit.execute.models.client import TimeUp
from evalkit.execute.models.provider import Endpoint, missing_key
from evalkit.execute.outcome import AgentError, Ending
from evalkit.execute.transcripts.model import Message
from evalkit.plan.trials import AgentTraits

__all__ = ["ToolUser", "make"]

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
        return application(self.root, unit)

    def run(self, job: Job) -> Ending:
        endpoint = job.endpoint or self.endpoint
        if endpoint is None:
            raise missing_key("agent=tools", job.trial.subject.model)
        with calling(job, "tools") as caller:
            return _Talk(Conversation(job, endpoint, caller.writer), caller).to_its_end()

    def describe(self, job: Job) -> str:
        case = job.trial.case
        with open_layer(case.agent, root=job.root, suite=job.root / case.suite.folder, env=job.env,
                        home=job.home) as layer:
            tools = "\n".join(f"  {tool.name}: {tool.description}" for tool in layer.tools)
            parts = (f"asks {job.trial.subject.model} with {len(layer.tools)} tools", f"system prompt:\n{layer.system}",
                     f"tools:\n{tools}", f"prompt:\n{prompt_of(case)}")
            return "\n\n".join(parts)


@define
class _Talk:
    """The conversation of a model with an application."""

    model: Conversation
    caller: Caller

    def to_its_end(self) -> Ending:
        """Ask, call, tell, until it is over. Raises AgentError where the provider or the application failed."""
        model, case = self.model, self.model.job.trial.case
        turns: list[Turn] = [UserTurn(prompt_of(case))]
        layer = self.caller.layer
        if layer.system:
            model.writer.write(Message("system", layer.system))
        model.writer.write(Message("user", prompt_of(case)))
        while True:
            chat = Chat(model.job.trial.subject.model or "", tuple(turns), layer.system, layer.tools,
                        temperature=case.agent.temperature, seed=case.agent.seed)
            try:
                reply = model.ask(chat)
            except TimeUp:
                return model.timed_out()
            if reply.calls and reply.stop == "length":
                model.notes.append("its last calls were not run: the reply was cut, and they may be half written")
            if not reply.calls or reply.stop == "length":
                return model.ended("completed", _ENDS.get(reply.stop) or f"stopped: {reply.detail}")
            outputs = []
            for call in reply.calls:
                if model.left <= 0:
                    return model.timed_out()
                outputs.append(self._call(call))
            turns += [reply.turn(), UserTurn(outputs=tuple(outputs))]
            if over := model.passed():
                return model.ended("capped", over[1], over[0])
            if (model.usage.turns or 0) >= case.limits.turns:
                return model.ended("capped", f"reached its {case.limits.turns} turns", "turns")
            if model.left <= 0:  # nobody waits for a reply any more, and it would be paid for
                return model.timed_out()

    def _call(self, use: ToolUse) -> ToolOutput:
        """Have the application do a call. Raises AgentError where it is gone, or does not answer."""
        try:
            done = self.caller.call(f"{self.model.usage.turns}.{use.id}", use.name, use.arguments, self.model.left)
        except HarnessError as error:
            raise AgentError(f"the application failed at `{use.name}`: {error.message}", usage=self.model.usage,
                             hint="run again: nothing was kept") from error
        return ToolOutput(use.id, use.name, done.text, failed=done.rejected)
