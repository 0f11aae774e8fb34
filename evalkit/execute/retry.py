"""When a provider that failed is asked again: one policy, for judges' calls and for agent runs.

Only what passes by itself is tried again: a rate limit, overload, a server's error, a lost connection. The pause is
what the provider asks for (Retry-After, in seconds or as a date), and on top of it a random part of a window that
doubles each time (full jitter), so that those who failed together do not come back together. Where the provider asks
for longer than anybody wants to wait, it is not asked again: an earlier try would fail, too. A pause ends at once when
evalkit is being stopped.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from evalkit.execute.running import check_going_on, stopping
from evalkit.values import State, Value, field

__all__ = ["Retries", "RetryPolicy", "passes_by_itself", "seconds_asked_for"]

_NAP = 0.05


def passes_by_itself(status: object) -> bool:
    """Whether an HTTP status is worth another try: a time-out, a rate limit, a server's error (529: overload)."""
    return isinstance(status, int) and (status in (408, 429) or 500 <= status < 600)


def _sleep(seconds: float) -> None:
    """Sleep, but wake up where evalkit is being stopped."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stopping():
        time.sleep(min(left, _NAP))


class RetryPolicy(Value):
    """How often, and with which pauses, in seconds.

    retries: tries after the first one. window: the first window of the jitter. longest: the longest window.
    patience: the longest pause that a provider may ask for.
    """

    retries: int = 3
    window: float = 1.0
    longest: float = 60.0
    patience: float = 300.0
    sleep: Callable[[float], None] = field(default=_sleep, repr=False)
    random: Callable[[], float] = field(default=random.random, repr=False)
    """A number from 0 to 1."""

    def pause(self, before: int, asked: float | None) -> float | None:
        """Seconds until the next try, after `before` retries; None where there is to be none."""
        if before >= self.retries or (asked or 0.0) > self.patience:
            return None
        return (asked or 0.0) + self.random() * min(self.longest, self.window * 2.0**before)


class Retries(State):
    """The retries of one piece of work. say: is told of each. count: how many there were."""

    policy: RetryPolicy
    say: Callable[[str], None] = field(default=lambda _: None, repr=False)
    count: int = 0

    def again(self, why: str, asked: float | None = None) -> bool:
        """Whether to try again after `why`; the pause has passed then. Raises HarnessError where all is stopped."""
        pause = self.policy.pause(self.count, asked)
        if pause is None:
            return False
        self.count += 1
        self.say(f"{why}: again in {pause:.1f} s (retry {self.count} of {self.policy.retries})")
        self.policy.sleep(pause)
        check_going_on()
        return True


def seconds_asked_for(header: str | None, now: Callable[[], float] = time.time) -> float | None:
    """The seconds of a Retry-After header (RFC 9110, 10.2.3): a number, or a date. None where it says nothing."""
    if header is None:
        return None
    text = header.strip()
    try:
        seconds = float(text)
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            seconds = parsedate_to_datetime(text).timestamp() - now()
        except (ValueError, OverflowError):
            return None
    return seconds if 0 < seconds < float("inf") else None
