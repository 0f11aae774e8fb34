"""The votes of a judge: each of its models is asked so many times, and each answer is kept by itself.

An answer is kept in the store under the digest of what was asked (which the model is part of) and the number of the
vote, so that more votes ask for the missing ones alone, a new rubric asks for all again, and one model's failure does
not lose what the others said. An answer that does not fit the form is not kept: the next run asks for that vote again.

Votes wait for models side by side, as many as there are free places; a judge's own thread does all the talking.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

from attrs import define, field, frozen

from evalkit.analysis.model import Judge
from evalkit.digest import digest
from evalkit.errors import EvalkitError, HarnessError, UserError
from evalkit.execute.budget import BudgetReached
from evalkit.execute.models.chat import Chat, Reply, ToolUse
from evalkit.execute.models.client import Answer, ProviderError, Refused, complete
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.running import check_going_on
from evalkit.execute.session import Session
from evalkit.grade.evidence import plain
from evalkit.grade.judge_answer import Score, read_scores
from evalkit.grade.judge_question import TOOL
from evalkit.grade.verdict import Judging, could_not_tell
from evalkit.plan.keys import Inputs, answer_inputs, question_inputs
from evalkit.records import read_json, read_record, write_json, write_record
from evalkit.values import evolve

__all__ = ["Answers", "Ballot", "Cast", "ballots", "kept"]

_ANSWER = "answer.json"
"""The arguments of the tool call, as the model gave them."""
_JUDGING = "judging.json"
_RESPONSE = "response.json"
"""The provider's response as it came. An entry of an earlier evalkit has its answer here alone."""
_CALL = "judge call"
_THREADS = 16
"""Threads that one judge's votes have at most."""
_NAP = 0.2
"""Seconds between two looks whether all is being stopped."""


@frozen
class Ballot:
    """A vote that a model is to give. key: of its answer in the store. question: the digest of what it is asked."""

    model: str
    number: int
    inputs: Inputs = field(repr=False)
    key: str
    question: str


@frozen
class Cast:
    """What came of a ballot: scores, or why there are none (the first line says it all; "" where there are scores)."""

    ballot: Ballot
    scores: tuple[Score, ...] = ()
    error: str = ""
    judging: Judging | None = None


def ballots(inputs: Inputs, models: Sequence[str], votes: int) -> list[Ballot]:
    """The ballots of a judge with these inputs: the first vote of each model, then the second, and so on."""
    questions = {model: digest(question_inputs(inputs, model)) for model in models}
    found = []
    for number in range(1, votes + 1):
        for model, question in questions.items():
            own = answer_inputs(inputs, model, number)
            found.append(Ballot(model, number, own, digest(own), question))
    return found


def kept(session: Session, ballot: Ballot, criteria: int) -> Cast | None:
    """The answer that the store has for a ballot."""
    entry = session.store.open("judge", ballot.key)
    if entry is None:
        return None
    calls, judging = _read(entry)
    return _counted(ballot, calls, "", judging, criteria)


@define
class Answers:
    """Gets the votes of one judge that the store has not.

    chats: what each model is asked. endpoint: where a model is reached; None without a key for it. places: how many
    models may be waited for at once, in the whole run.
    """

    session: Session
    judge: Judge
    chats: dict[str, Chat]
    endpoint: Callable[[str], Endpoint | None]
    places: threading.Semaphore
    _refused: dict[str, str] = field(factory=dict, init=False)

    def get(self, wanted: Sequence[Ballot]) -> list[Cast]:
        """Ask for all of these votes. Whatever becomes of one, the others are asked for and kept.

        Raises BudgetReached, when all is done, where a call was not made for it, and HarnessError where all is being
        stopped: then nobody else is asked, but who is at work on an answer may finish, since it is paid for.
        """
        said: SimpleQueue[Callable[[], None]] = SimpleQueue()
        found: dict[str, Cast | BaseException] = {}

        waiting = deque(wanted)

        def cast(ballot: Ballot) -> Cast | BaseException:
            try:
                return self._cast(ballot, lambda text: said.put(lambda: self.session.say(text)))
            except BaseException as error:  # noqa: BLE001 - raised below, in the judge's own thread
                return error

        def work() -> None:
            with suppress(IndexError):
                while True:
                    ballot = waiting.popleft()
                    said.put(partial(found.__setitem__, ballot.key, cast(ballot)))

        for _ in range(min(len(wanted), _THREADS)):
            # A daemon: a provider that hangs must not keep the process from ending.
            threading.Thread(target=work, name=f"judge {self.judge.id}", daemon=True).start()
        while len(found) < len(wanted):
            said.get()()
        failed = [outcome for outcome in found.values() if isinstance(outcome, BaseException)]
        for error in sorted(failed, key=lambda error: isinstance(error, BudgetReached)):  # what is worse goes first
            raise error
        return [outcome for ballot in wanted if isinstance(outcome := found[ballot.key], Cast)]

    def _cast(self, ballot: Ballot, say: Callable[[str], None]) -> Cast:
        """A vote, from the store or else from its model.

        Raises BudgetReached, and HarnessError where all is stopped.
        """
        try:
            with self.session.store.claim("judge", ballot.key):  # two that ask the same at once pay once
                found = kept(self.session, ballot, len(self.judge.criteria))
                return found if found is not None else self._asked(ballot, say)
        except BudgetReached:
            raise
        except EvalkitError as error:
            if isinstance(error, Refused | UserError):
                self._refused[ballot.model] = str(error)
            return Cast(ballot, error=could_not_tell(error).evidence)

    def _asked(self, ballot: Ballot, say: Callable[[str], None]) -> Cast:
        session, chat = self.session, self.chats[ballot.model]
        with self._place():
            if ballot.model in self._refused:  # its key, or its name: another vote would get the same words
                raise HarnessError(self._refused[ballot.model])
            endpoint = self.endpoint(ballot.model)
            if endpoint is None:
                raise HarnessError(f"its answer is not kept, and no key for the judge model `{ballot.model}` is set")
            session.budget.check()
            answer = self._answer(endpoint, chat, say)
            reply, usage = self._clean(answer.reply), answer.reply.usage
            if usage.cost is None:
                usage = session.prices.priced(ballot.model, usage)
            session.budget.spend(usage.cost, _CALL)  # before the place is free: who takes it asks the budget
        judging = Judging(plain(reply.model), usage, answer.retries, tuple(map(plain, answer.notes)))
        cast = _counted(ballot, reply.calls, f" (stop reason {_stop(reply)})", judging, len(self.judge.criteria))
        if not cast.error:
            self._keep(ballot, reply, judging)
        return cast

    def _answer(self, endpoint: Endpoint, chat: Chat, say: Callable[[str], None]) -> Answer:
        """The model's answer. One that was lost on the way may have been paid for: nobody knows its cost."""
        lost, label, models = 0, f"judge {self.judge.id}", self.session.models
        try:
            with models.asking(label, endpoint, chat.model, say) as lease:
                answer = complete(lease.endpoint(endpoint) if lease else endpoint, chat,
                                  say=lambda text: say(f"{label}: {text}"))
                if lease is not None:
                    traffic = lease.close()
                    answer = evolve(answer, retries=answer.retries + traffic.retries,
                                    lost=answer.lost + traffic.broken)
            answer = evolve(answer, notes=(*answer.notes, *models.notes))
            lost = answer.lost
        except ProviderError as error:
            lost = error.lost
            raise
        finally:
            for _ in range(lost):
                self.session.budget.spend(None, _CALL)
        return answer

    def _clean(self, reply: Reply) -> Reply:
        """A reply without keys, whatever a file that was shown, or a provider, made the model say."""
        data = self.session.redactor.plain_data
        return evolve(reply, response=data(reply.response),
                      calls=tuple(evolve(call, arguments=data(call.arguments)) for call in reply.calls))

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Wait for a place. Raises HarnessError where all is being stopped meanwhile."""
        while not self.places.acquire(timeout=_NAP):
            check_going_on()
        try:
            check_going_on()
            yield
        finally:
            self.places.release()

    def _keep(self, ballot: Ballot, reply: Reply, judging: Judging) -> None:
        with self.session.store.making("judge", ballot.key, inputs=ballot.inputs) as entry:
            write_json(entry / _ANSWER, reply.calls[0].arguments, sync=False)
            write_json(entry / _RESPONSE, reply.response, sync=False)
            write_record(entry / _JUDGING, judging, sync=False)


_Calls: TypeAlias = Sequence[ToolUse]


def _counted(ballot: Ballot, calls: _Calls, stopped: str, judging: Judging, criteria: int) -> Cast:
    """A vote by the calls of its answer. One that does not fit the form has no scores, and says why."""
    try:
        return Cast(ballot, read_scores(calls, criteria), "", judging)
    except ValueError as error:
        return Cast(ballot, (), plain(f"the judge's answer cannot be used: {error}{stopped}"), judging)


def _stop(reply: Reply) -> str:
    return reply.detail or reply.stop


def _read(entry: Path) -> tuple[_Calls, Judging]:
    """The calls of a kept answer, and what it took when it was given.

    An entry of an earlier evalkit tells the tokens alone, or has only a response of the Messages API.
    """
    try:
        calls: _Calls = [ToolUse("", TOOL, read_json(entry / _ANSWER))]
        return calls, read_record(entry / _JUDGING, Judging)
    except FileNotFoundError:
        reply = _earlier(read_json(entry / _RESPONSE))
    try:
        return reply.calls, read_record(entry / _JUDGING, Judging)
    except FileNotFoundError:
        return reply.calls, Judging(plain(reply.model), evolve(reply.usage, cost=None, cost_source=""))


def _earlier(response: Any) -> Reply:
    from evalkit.execute.models.anthropic import decode

    return decode(response)
