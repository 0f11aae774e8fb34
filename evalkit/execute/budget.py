"""The budget of a run: what was really spent, and whether anything more that costs may start.

Only what costs asks: right before a model is called `check`, right after it `spend`, also where it failed. What an
agent consumes while it works counts as it is told (`so_far`), until its own figure takes its place. So a budget is
passed by what was already running when it was reached, and by no more. What is played from the store, or calls no
model, never comes here. A cost that nobody tells is counted apart: it is not zero, and it is said.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from evalkit.errors import EvalkitError, Exit

__all__ = ["Budget", "BudgetReached", "dollars"]


class BudgetReached(EvalkitError):
    """Nothing more that costs may start. What was running goes on; what is left is run the next time."""

    exit_status = Exit.BUDGET
    label = "budget"


class Budget:
    """Dollars spent by one run, of at most `limit` (None: no limit). Any thread may ask and spend.

    changed: called after each change, in the thread that spent. free: nothing costs anything in this run.
    """

    def __init__(self, limit: float | None = None, changed: Callable[[], None] = lambda: None, *,
                 free: bool = False) -> None:
        self.limit = limit
        self.changed = changed
        self._free = free
        self._lock = threading.Lock()
        self._spent = 0.0
        self._running: dict[int, float] = {}
        self._unknown: Counter[str] = Counter()

    @property
    def spent(self) -> float:
        """US dollars, without what is not known; with what runs has consumed by now."""
        with self._lock:
            return self._spent + sum(self._running.values())

    @property
    def unknown(self) -> dict[str, int]:
        """How many of what (`agent run`, `judge call`) had a cost that nobody told."""
        with self._lock:
            return dict(self._unknown)

    @property
    def reached(self) -> bool:
        return self.limit is not None and self.spent >= self.limit

    def spend(self, cost: float | None, what: str, who: object = None) -> None:
        """Count what one thing cost. what: its kind in the singular, for the sentence on unknown costs. who: as in
        `so_far`.
        """
        if self._free:
            return
        with self._lock:
            self._running.pop(id(who), None)
            if cost is None:
                self._unknown[what] += 1
            else:
                self._spent += cost
        self.changed()

    def so_far(self, who: object, cost: float) -> None:
        """How much something that runs has cost by now; `spend` takes it back for what it came to. who: known by
        identity.
        """
        if self._free:
            return
        with self._lock:
            self._running[id(who)] = cost
        self.changed()

    def check(self) -> None:
        """Raise BudgetReached where no more may be spent."""
        if self.reached:
            assert self.limit is not None
            raise BudgetReached(f"the budget of {dollars(self.limit)} is reached: {self.told()}",
                                hint="run again with a larger one (budget=…): what finished is kept")

    def told(self) -> str:
        """What was spent, in words: `$1.20 spent (the cost of 3 judge calls is not known)`."""
        spent = f"{dollars(self.spent)} spent"
        kinds = [f"{count} {what}{'s' if count > 1 else ''}" for what, count in sorted(self.unknown.items())]
        return spent + (f" (the cost of {' and '.join(kinds)} is not known)" if kinds else "")


def dollars(amount: float) -> str:
    """An amount for a person: in cents, and one under ten cents with two digits that tell something."""
    if amount == 0 or amount >= 0.1:
        return f"${amount:.2f}"
    return f"${amount:.2g}" if amount >= 0.0001 else "under $0.0001"
