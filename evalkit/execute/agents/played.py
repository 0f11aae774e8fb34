"""The reference answer of a case that expects calls and has no other: the expected calls, made with the real commands.

Each `expect` after the other, of an `either` the first branch. A call that is answered with the question for a
confirmation is made again with its token. What it does is told in a transcript, as the agent `tools` tells it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import orjson
from attrs import define, field

from evalkit.analysis.calls_shown import call_shown
from evalkit.analysis.model import AnyOrder, Call, CallsSpec, Either, Expected
from evalkit.diagnostics import did_you_mean
from evalkit.errors import HarnessError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.calling import Caller, calling
from evalkit.execute.agents.conversation import prompt_of
from evalkit.execute.agents.made_up import NoValue, Told, made_up
from evalkit.execute.commands.confirmation import CONFIRM, asked_token
from evalkit.execute.commands.layer import Outcome
from evalkit.execute.outcome import Ending, NoAnswer, Usage
from evalkit.execute.transcripts import Ended, Message

__all__ = ["play"]

_SAID = 300
"""Characters of a rejection that are told."""


def play(job: Job, spec: CallsSpec) -> Ending:
    """Make the expected calls. Raises NoAnswer where one cannot be made up, or the application rejects it."""
    with calling(job, "oracle", often=True) as caller:
        caller.writer.write(Message("user", prompt_of(job.trial.case)))
        playing = _Playing(caller)
        for sequence in spec.sequences:
            for call in _calls(sequence):
                playing.make(call)
        caller.writer.write(Ended("end"))
    return Ending("completed", f"played the expected calls ({playing.count})", Usage(turns=0, cost=0.0))


def _calls(sequence: tuple[Expected, ...]) -> Iterator[Call]:
    """The calls to make."""
    for expected in sequence:
        match expected:
            case Call():
                yield expected
            case Either(branches=branches):
                yield from _calls(branches[0])
            case AnyOrder(items=items):
                yield from _calls(items)


@define
class _Playing:
    caller: Caller
    told: Told = field(factory=Told)
    count: int = 0

    def make(self, call: Call) -> None:
        tool = self.caller.tools.get(call.name)
        if tool is None:
            raise NoAnswer(f"the application has no command `{call.name}` ({call.origin})",
                           hint=did_you_mean(call.name, self.caller.tools))
        try:
            arguments = made_up(call, tool.schema, self.told)
        except NoValue as error:
            raise NoAnswer(f"no value of `{error.key}` comes to mind for {call_shown(call)} ({call.origin})",
                           hint=f'give an example: `{error.key} ~ /…/ like "TEXT"`, or test it for a value') from None
        done = self._call(call, arguments)
        if (token := asked_token(done.text)) is not None:
            self._call(call, {**arguments, CONFIRM: token})

    def _call(self, call: Call, arguments: dict[str, object]) -> Outcome:
        self.count += 1
        try:
            done = self.caller.call(f"c{self.count}", call.name, arguments)
        except HarnessError as error:
            raise HarnessError(f"the application failed at `{call.name}`: {error.message} ({call.origin})") from error
        if done.rejected:
            given = orjson.dumps(arguments, option=orjson.OPT_NON_STR_KEYS).decode()
            raise NoAnswer(f"the application rejects the reference answer: {call.name} with {given}: "
                           f"{' '.join(done.text.split())[:_SAID]} ({call.origin})",
                           hint="`expect` the arguments that it needs, in an order that it takes")
        with contextlib.suppress(orjson.JSONDecodeError):
            self.told.add(orjson.loads(done.text))
        return done
