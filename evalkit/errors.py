"""The kinds of failure that must never look alike, and the exit status of each.

* a user's mistake: `UserError` (a bad case is a `UserError` made of diagnostics),
* an agent's failure: not an exception at all but an outcome or a verdict,
* a broken tool or provider: `HarnessError`,
* our own bug: any other exception, shown with a request to report it.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["EvalkitError", "Exit", "HarnessError", "UserError"]


class Exit(IntEnum):
    """Exit statuses of `doit run` (the order of severity is `Exit.worst`'s, not the numbers')."""

    OK = 0
    CASE_FAILED = 1
    USAGE = 2
    HARNESS = 3
    BUDGET = 4
    INTERRUPTED = 130


class EvalkitError(Exception):
    """An error with a message for a person: what happened, then what to do about it."""

    exit_status = Exit.HARNESS
    label = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UserError(EvalkitError):
    """Something that the person at the keyboard wrote or left out."""

    exit_status = Exit.USAGE


class HarnessError(EvalkitError):
    """A tool, a provider or the machine failed: the agent cannot be blamed, nothing is graded."""

    exit_status = Exit.HARNESS
    label = "harness error"
