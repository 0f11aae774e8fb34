"""What goes through one lease: replies counted once each, limits, and what the provider failed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from attrs import define, field

from evalkit.analysis.model import Limits
from evalkit.execute.budget import dollars
from evalkit.execute.leases import Traffic
from evalkit.execute.models.prices import Prices
from evalkit.execute.outcome import AgentError, Usage
from evalkit.values import evolve

__all__ = ["MOST_BROKEN", "Counted", "Ledger"]

MOST_BROKEN = 3
"""Replies in a row that may break off before no further request is served: agents' programs ask again by themselves."""
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@define(eq=False)
class Counted:
    """A reply, as far as it was counted. whole: its last count is in."""

    asked: str
    model: str = ""
    usage: Usage = field(factory=Usage)
    whole: bool = False


@define(eq=False)
class Ledger:
    """The count of a lease; any thread may write. model, limits, spent, say: as in `Gateway.lease`."""

    prices: Prices
    model: str
    limits: Limits | None = None
    spent: Callable[[float], None] = lambda _: None
    say: Callable[[str], None] = lambda _: None
    _lock: threading.RLock = field(factory=threading.RLock, init=False)
    _replies: list[Counted] = field(factory=list, init=False)
    _retries: int = field(default=0, init=False)
    _broken: int = field(default=0, init=False)
    _lost: int = field(default=0, init=False)
    _broken_in_a_row: int = field(default=0, init=False)
    _over: str = field(default="", init=False)
    _failure: AgentError | None = field(default=None, init=False)
    _tries: int = field(default=0, init=False)

    # ---- before a request ----
    def refusal(self) -> str:
        """For which limit a further request is refused, "" where it is not. From then on the lease is over it."""
        with self._lock:
            if self.limits is None:
                return ""
            tokens, cost = sum(map(_tokens, self._replies)), self.cost
            if self.limits.tokens is not None and tokens > self.limits.tokens:
                self._over = f"limit of {self.limits.tokens} tokens"
            elif self.limits.cost is not None and (cost or 0.0) > self.limits.cost:
                self._over = f"cost limit of {dollars(self.limits.cost)}"
            return self._over

    @property
    def is_empty(self) -> bool:
        """Whether no reply came yet."""
        return not self._replies

    @property
    def breaks_off(self) -> bool:
        """Whether the last replies all broke off: there is no use in asking for another one."""
        return self._broken_in_a_row >= MOST_BROKEN

    # ---- what came ----
    def begin(self, asked: str) -> Counted:
        """A reply begins. asked: the model that was asked for."""
        reply = Counted(asked)
        with self._lock:
            self._replies.append(reply)
        return reply

    def count(self, reply: Counted, model: str, usage: Usage) -> None:
        """What is known of a reply by now."""
        with self._lock:
            if usage == reply.usage and model == reply.model:
                return
            reply.model, reply.usage = model, usage
            cost = self.cost
        if cost is not None:
            self.spent(cost)

    def end(self, reply: Counted) -> None:
        """A reply came to its end: the provider answers."""
        with self._lock:
            reply.whole = True
            self._broken_in_a_row = self._tries = 0
            self._failure = None

    def lose(self, failure: AgentError, *, began: bool) -> None:
        """A reply broke off, or (where it had not begun) its connection was lost after the request was sent."""
        with self._lock:
            self._broken += 1
            self._lost += not began
            self._broken_in_a_row += 1
            self._failure = failure

    def fail(self, failure: AgentError, tries: int) -> None:
        """The provider failed a request, for the `tries`th time in a row; whether it is asked again or not."""
        with self._lock:
            self._failure, self._tries = failure, tries

    def ask_again(self, why: str, pause: float) -> None:
        """The provider is asked again, after a pause in seconds."""
        with self._lock:
            self._retries += 1
        self.say(f"{why}: again in {pause:.1f} s")

    # ---- the count ----
    @property
    def cost(self) -> float | None:
        """Dollars for the replies so far; None where there are none, or no price of any is known."""
        costs = [cost for cost in (self._priced(reply).cost for reply in self._replies) if cost is not None]
        return sum(costs) if costs else None

    def _priced(self, reply: Counted) -> Usage:
        """A reply's usage with its cost: the provider's own figure, else by the price of its model."""
        if reply.usage.cost is not None or reply.usage.input_tokens is None:
            return reply.usage
        counted = evolve(reply.usage, output_tokens=reply.usage.output_tokens or 0)
        names = (reply.model, reply.asked, self.model)
        return self.prices.priced(next((name for name in names if self.prices.of(name)), None), counted)

    def _usage(self) -> Usage:
        """The replies together. Their cost is not known where that of one is not."""
        replies = [self._priced(reply) for reply in self._replies]
        fresh, out, read, written = (_sum([getattr(usage, name) for usage in replies]) for name in _COUNTS)
        counted = Usage(len(replies), fresh, out, read, written)
        if not replies:
            return evolve(counted, cost=0.0)
        if any(usage.cost is None for usage in replies):
            return counted
        sources = " and ".join(dict.fromkeys(usage.cost_source for usage in replies))
        cut = sum(not reply.whole for reply in self._replies)
        part = f", without the end of {'a reply' if cut == 1 else f'{cut} replies'}" if cut else ""
        return evolve(counted, cost=sum(usage.cost or 0.0 for usage in replies), cost_source=sources + part)

    @property
    def traffic(self) -> Traffic:
        with self._lock:
            models = Counter(reply.model or reply.asked for reply in self._replies)
            return Traffic(self._usage(), dict(models), self._retries, self._broken, self._over, self._failure,
                           self._tries, self._lost)


def _tokens(reply: Counted) -> int:
    return sum(getattr(reply.usage, name) or 0 for name in _COUNTS)


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
