"""What an agent of ours asks its model: requests with the case's limits, what they took, and how the run ended.

What passes by itself is asked again, by evalkit's own gateway where that is between, else by the client. An answer that
was lost on the way is not: it may have been paid for, so it is a failed attempt of its own, at a cost that nobody
knows.
"""

from __future__ import annotations

import time
from typing import Literal

from attrs import define, field

from evalkit.analysis.model import Case
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.attended import attended
from evalkit.execute.budget import dollars
from evalkit.execute.models.chat import Chat, Reply
from evalkit.execute.models.client import POLICY, ProviderError, TimeUp, complete
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.transcripts import Ended, Limit, LimitKind, Message, MessageUsage, Writer
from evalkit.values import evolve

__all__ = ["Conversation", "prompt_of"]


def prompt_of(case: Case) -> str:
    """The user's message: the prompt, with the suffix."""
    return "\n\n".join(part.strip() for part in (case.prompt, case.agent.suffix) if part.strip())


@define
class Conversation:
    """One agent run. `usage`: what its replies took so far; of what one of them does not tell nobody knows the sum."""

    job: Job
    endpoint: Endpoint
    writer: Writer
    usage: Usage = field(factory=lambda: Usage(turns=0, cost=0.0))
    notes: list[str] = field(factory=list)
    _retries: int = 0
    _began: float = field(factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds of the case's time limit."""
        return self.job.trial.case.limits.time - (time.monotonic() - self._began)

    def ask(self, chat: Chat) -> Reply:
        """The model's reply, which is written down.

        Raises TimeUp where the case's time ran out, AgentError where the provider failed, UserError for what the person
        can mend.
        """
        policy = POLICY if self.job.endpoint is None else evolve(POLICY, retries=0)
        limit = max(0.1, self.left)
        try:
            answer = attended(lambda: complete(self.endpoint, chat, policy=policy, limit=limit, again_if_lost=False),
                              self.job.tick)
        except TimeUp as error:
            self._retries += error.retries
            self.usage = self._unknown()
            raise
        except ProviderError as error:
            usage = self.usage if not error.lost else self._unknown()
            raise AgentError(error.message, hint=error.hint, transient=error.transient, retry_after=error.wait,
                             usage=usage) from error
        except UserError:
            raise
        except HarnessError as error:  # all is being stopped: what was asked for may have been paid for
            raise AgentError(error.message, hint=error.hint, usage=self._unknown()) from error
        self._retries += answer.retries
        self.notes += answer.notes
        self._count(answer.reply)
        return answer.reply

    def _unknown(self) -> Usage:
        """The usage where a reply was lost: it may have been paid for."""
        return Usage(turns=self.usage.turns or None)

    def _count(self, reply: Reply) -> None:
        used = self.job.prices.priced(self.job.trial.subject.model, reply.usage)
        self.usage = _sum(self.usage, used)
        turn = str(self.usage.turns)
        if reply.text:
            self.writer.write(Message("assistant", reply.text, id=turn))
        self.writer.write(MessageUsage(turn, used.input_tokens or 0, used.output_tokens or 0,
                                       used.cache_read_tokens or 0, used.cache_write_tokens or 0, model=reply.model,
                                       cost=used.cost), raw=reply.response)

    def passed(self) -> tuple[LimitKind, str] | None:
        """The limit of cost or tokens that the replies came to, if any."""
        limits, usage = self.job.trial.case.limits, self.usage
        tokens = sum(count or 0 for count in (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens,
                                              usage.cache_write_tokens))
        if limits.cost is not None and (usage.cost or 0.0) > limits.cost:
            return "cost", f"reached its cost limit of {dollars(limits.cost)}"
        if limits.tokens is not None and tokens > limits.tokens:
            return "tokens", f"reached its limit of {limits.tokens} tokens"
        return None

    def timed_out(self) -> Ending:
        return self.ended("timeout", f"ended after its {self.job.trial.case.limits.time} s", "time")

    def ended(self, status: Literal["completed", "capped", "timeout"], detail: str,
              limit: LimitKind | None = None) -> Ending:
        """Write down how it ended. limit: the one that ended it."""
        if limit is not None:
            self.writer.write(Limit(limit, detail))
        self.writer.write(Ended(status, text=detail, turns=self.usage.turns, cost=self.usage.cost))
        notes = [self.job.redactor.text(note) for note in self.notes]
        if self.job.trial.case.limits.cost is not None and self.usage.cost is None and status == "completed":
            notes.append("what it cost is not known, so its cost limit was not looked at")
        return Ending(status, detail, self.usage, tuple(dict.fromkeys(notes)), self._retries)


def _sum(before: Usage, one: Usage) -> Usage:
    def plus(old: int | None, new: int | None) -> int | None:
        return new if before.turns == 0 else None if old is None or new is None else old + new

    cost = None if before.cost is None or one.cost is None else before.cost + one.cost
    sources = dict.fromkeys(filter(None, (before.cost_source, one.cost_source)))
    return Usage((before.turns or 0) + 1, plus(before.input_tokens, one.input_tokens),
                 plus(before.output_tokens, one.output_tokens), plus(before.cache_read_tokens, one.cache_read_tokens),
                 plus(before.cache_write_tokens, one.cache_write_tokens), cost, " and ".join(sources))
