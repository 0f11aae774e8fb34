"""Leases of the gateway: what an agent run, or a judge's call, holds to ask its model, and what went through it.

The gateway itself is a later stage (gateway/live.py); here is what stages before it know of it, and what an agent's
ending comes to with what the gateway saw: the gateway knows the provider's answers at first hand, where an agent's
program tells of them in its own words, or not at all.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from attrs import field, frozen

from evalkit.analysis.model import Limits
from evalkit.errors import HarnessError
from evalkit.execute.budget import dollars
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.values import evolve

__all__ = ["GIVE_UP_AFTER", "TOKEN", "Gateway", "Lease", "Traffic", "asked_again", "ended", "ended_by_failure"]

TOKEN = "EVALKIT_TOKEN"
"""What a lease's token is called where it is taken out of a text: it differs from run to run."""
GIVE_UP_AFTER = 3
"""Tries in a row that a provider failed, after which it is said not to answer."""
_FAR_APART = 0.1
"""A part of a cost by which two counts of it may differ without being told."""


@frozen
class Traffic:
    """What went through a lease.

    usage: of all replies; turns: how many these are. models: replies by model. retries: how often the provider was
    asked again. broken: replies that broke off, or were lost on the way: they may have been paid for; lost: those of
    them of which nothing came. over: the limit
    for which a request was refused, "" where none was. failure: what the provider failed the last request with; None
    where a reply came since. tries: how often in a row it had failed what was still being asked at the end.
    """

    usage: Usage = field(factory=Usage)
    models: dict[str, int] = field(factory=dict)
    retries: int = 0
    broken: int = 0
    over: str = ""
    failure: AgentError | None = None
    tries: int = 0
    lost: int = 0

    @property
    def replies(self) -> int:
        return self.usage.turns or 0

    def notes(self) -> tuple[str, ...]:
        """What a reader of a result should know."""
        notes = []
        if cut := self.broken - self.lost:
            notes.append(f"{cut} repl{'ies' if cut > 1 else 'y'} of the provider's broke off")
        if self.lost:
            notes.append(f"{self.lost} connection{'s' if self.lost > 1 else ''} to the provider ended before its reply")
        return tuple(notes)


class Lease(Protocol):
    """The right to ask through the gateway, until it is closed. token: what its holder shows."""

    @property
    def token(self) -> str: ...
    def endpoint(self, upstream: Endpoint) -> Endpoint:
        """The endpoint that its holder gets in the place of one that the lease was given for: the gateway's address,
        and a token that is good for this lease alone.
        """
        ...

    @property
    def traffic(self) -> Traffic:
        """What went through it so far."""
        ...

    def close(self) -> Traffic:
        """What went through it. No request is served any more; a second call tells the same."""
        ...


class Gateway(Protocol):
    """Through whom models are asked. url: where, on this machine."""

    @property
    def url(self) -> str: ...

    def serve(self, listener: socket.socket) -> AbstractContextManager[object]:
        """Serve on a listening socket of another network too, for the time of a `with`."""
        ...

    def lease(self, label: str, endpoints: Sequence[Endpoint], *, model: str, only: bool = False,
              limits: Limits | None = None,
              spent: Callable[[float], None] = lambda _: None,
              say: Callable[[str], None] = lambda _: None) -> AbstractContextManager[Lease]:
        """A lease for the time of a `with`.

        label: whose it is, for people. endpoints: at most one a protocol. model: whose price holds where a reply's
        model has none. only: no other model may be asked. limits: of cost and tokens. spent: told the dollars of all
        replies so far, as they come. say: told of each time that the provider is asked again. Both are called on
        threads of the gateway's.
        """
        ...


# ---- what an agent's ending comes to ----
def ended(ending: Ending, traffic: Traffic) -> Ending:
    """An agent's ending, with what the gateway knows of it. Raises AgentError where the provider failed the agent."""
    usage = _usage(ending.usage, traffic, told=ending.status == "completed")
    failure = traffic.failure
    if failure is not None and (not traffic.replies or (ending.status == "timeout" and traffic.tries >= GIVE_UP_AFTER)):
        raise _as_error(failure, usage)
    notes = (*ending.notes, *asked_again(traffic.retries, ending.retries), *traffic.notes(),
             *_second_count(ending.usage, traffic.usage))
    if traffic.over and ending.status == "completed":
        ending = Ending("capped", f"reached its {traffic.over}", usage, retries=ending.retries)
    return evolve(ending, usage=usage, notes=notes, retries=ending.retries + traffic.retries)


def asked_again(by_gateway: int, by_agent: int = 0) -> tuple[str, ...]:
    """The one note on how often the provider was asked again, by whomever."""
    if not (times := by_gateway + by_agent):
        return ()
    whom = f" ({by_gateway} by the gateway, {by_agent} by the agent's program)" if by_gateway and by_agent else ""
    return (f"the provider was asked again {times} time{'s' if times > 1 else ''}{whom}",)


def ended_by_failure(error: AgentError, traffic: Traffic) -> Ending:
    """The ending of an agent that failed because a limit was reached. Raises AgentError in all other cases: the
    provider's failure as the gateway saw it, else the agent's own.
    """
    usage = _usage(error.usage, traffic, told=False)
    if traffic.over:
        notes = (*asked_again(traffic.retries), *traffic.notes())
        return Ending("capped", f"reached its {traffic.over}", usage, notes, traffic.retries)
    if traffic.failure is not None:
        raise _as_error(traffic.failure, usage) from error
    error.usage = usage
    raise error


def _as_error(failure: HarnessError, usage: Usage) -> AgentError:
    transient, after = getattr(failure, "transient", False), getattr(failure, "retry_after", None)
    return AgentError(failure.message, hint=failure.hint, transient=transient, retry_after=after, usage=usage)


def _usage(own: Usage, traffic: Traffic, *, told: bool) -> Usage:
    """The agent's own figures, and the gateway's where it has none. told: it came to its end, and told all it used;
    else the larger count holds, as a whole.
    """
    counted = traffic.usage
    if own.output_tokens is None or (not told and _tokens(counted) > _tokens(own)):
        cost, source = (counted.cost, counted.cost_source) if own.cost is None or not told else (
            own.cost, own.cost_source)
        return evolve(counted, turns=own.turns or counted.turns, cost=cost, cost_source=source)
    return own if own.cost is not None else evolve(own, cost=counted.cost, cost_source=counted.cost_source)


def _tokens(usage: Usage) -> int:
    return sum(filter(None, (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens,
                             usage.cache_write_tokens)))


def _second_count(own: Usage, counted: Usage) -> list[str]:
    """A note where the agent's own figure of its cost and the gateway's are far apart."""
    if own.cost is None or counted.cost is None or not counted.turns:
        return []
    if abs(own.cost - counted.cost) <= max(0.01, _FAR_APART * max(own.cost, counted.cost)):
        return []
    return [f"the gateway counted {dollars(counted.cost)} ({counted.cost_source}), "
            f"and {own.cost_source or 'the agent'} {dollars(own.cost)}"]
