"""A task that could not do its work: no verdict on the agent."""

from typing import NamedTuple

from evalkit.errors import EvalkitError

__all__ = ["Failure"]


class Failure(NamedTuple):
    """error: whose fault it is, in words; None for a bug of ours, with its traceback."""

    task: str
    error: EvalkitError | None
    bug: str = ""

    def __str__(self) -> str:
        return str(self.error) if self.error is not None else self.bug
