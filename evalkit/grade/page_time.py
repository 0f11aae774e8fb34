"""The time that a page had: seconds on the clock, less those in which its browser waited for a processor.

A page that needs 10 seconds needs 40 where three others are at work beside it, and is no worse for it. Linux counts of
each thread how long it ran and how long it stood ready and was not let, be it for other work or for the quota of a
container (`schedstat` in proc(5)). A page lost what its threads waited, but has at least the share of the time that
they got of what they asked for: many threads wait at once. One that waits for what never comes loses nothing. Where
nothing is counted (no Linux), all seconds are the page's. A page that had as many seconds of processors as its limit
has is not waited for any longer in the end: threads that it starts without end wait for each other, not for others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from evalkit.execute.marks import descendants

__all__ = ["LONGEST", "Busy", "PageTime"]

LONGEST = 8
"""How many times its limit a page gets on the clock at most: for one thing, and until the last thing is begun."""
_LOOKS = 0.5
"""Seconds between two looks: each reads a few hundred small files."""


class Busy(Exception):
    """The machine left the page so little time that nothing can be said of it."""


def _threads() -> dict[int, tuple[int, int]]:
    """Of each thread below this process, nanoseconds that it ran and that it waited for a processor."""
    found = {}
    for process in descendants():
        for counted in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with suppress(OSError, ValueError, IndexError):
                ran, waited = counted.read_text().split()[:2]
                found[int(counted.parent.name)] = (int(ran), int(waited))
    return found


class PageTime:
    """Counts the time that a page had since this was made. limit: seconds that a page may take for one thing."""

    def __init__(self, limit: float, threads: Callable[[], dict[int, tuple[int, int]]] = _threads,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._threads, self._clock = threads, clock
        self._began = self._looked = clock()
        self._counted = threads()
        self._had = self._ran = 0.0

    def had(self) -> float:
        """Seconds that the page had."""
        now = self._clock()
        if now - self._looked < _LOOKS:
            return self._had
        counted, before = self._threads(), self._counted
        ran, waited = (sum(max(0, of[which] - before.get(thread, (0, 0))[which]) for thread, of in counted.items())
                       for which in (0, 1))
        passed = now - self._looked
        self._had += max(passed - waited / 1e9, passed * ran / max(ran + waited, 1))
        self._looked, self._counted = now, counted
        self._ran += ran / 1e9
        return self._had

    def rest(self) -> float:
        """Seconds on the clock until nothing more is begun, whatever the page had."""
        return self._began + LONGEST * self.limit - self._clock()

    def within(self, does: Callable[[float], bool]) -> bool:
        """Whether the page does something within its limit. does: waits for it so many seconds. Raises Busy."""
        until, ran = self.had() + self.limit, self._ran
        ends = self._clock() + LONGEST * self.limit  # also of a thing that is begun late: what came before was in time
        while (left := until - self.had()) > 0:
            if (rest := ends - self._clock()) <= 0:
                if self._ran - ran >= self.limit:
                    return False
                raise Busy
            if does(max(min(left, rest), 1.0)):
                return True
        return False
