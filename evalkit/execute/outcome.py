"""What an agent run came to, as it is kept in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evalkit.digest import GROWN
from evalkit.errors import HarnessError, UserError
from evalkit.execute.tree import Manifest
from evalkit.records import BadRecord, read_record
from evalkit.values import Value, field

if TYPE_CHECKING:
    from evalkit.execute.session import Session

__all__ = ["TRANSCRIPT", "TREE", "AgentError", "AgentRecord", "Ending", "NoAnswer", "Usage", "agent_record"]

TREE = "tree.tar.zst"
TRANSCRIPT = "transcript.jsonl"


class Usage(Value):
    """What a run consumed. None: the agent does not say. cost: US dollars, as `cost_source` reckons them."""

    turns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    cost_source: str = ""


class AgentError(HarnessError):
    """The harness or the provider failed the agent: not kept as an outcome, not graded, no fail of the agent's.

    transient: the provider's trouble, which passes by itself: it is worth another attempt, after `retry_after` seconds
    where the provider named a time. usage: what the attempt consumed, as far as anybody counted it. attempts: where no
    other one followed, what each one consumed, the last one included.
    """

    attempts: tuple[Usage, ...] = ()

    def __init__(self, message: str, *, hint: str = "", transient: bool = False, retry_after: float | None = None,
                 usage: Usage | None = None) -> None:
        super().__init__(message, hint=hint)
        self.transient = transient
        self.retry_after = retry_after
        self.usage = usage if usage is not None else Usage()


class NoAnswer(UserError):
    """What a case expects is no answer to it: a call that cannot be made up, or that the application rejects."""


class Ending(Value):
    """How an agent's run ended.

    status: completed; capped (by its limit of turns, cost or tokens: graded, never a fail by itself); timeout (its
    time limit: graded, and a fail). retries: how often the provider was asked again.
    """

    status: Literal["completed", "capped", "timeout"]
    detail: str
    usage: Usage
    notes: tuple[str, ...] = ()
    retries: int = field(default=0, metadata=GROWN)


class AgentRecord(Value):
    """An agent run with its final tree. `seconds` is the agent's own time, without set-up and prewarm.

    failed: what attempts consumed that the provider failed before this one: it was paid for, and is no part of the
    run's own usage.
    """

    key: str
    inputs: dict[str, str]
    agent: str
    agent_version: str
    model: str | None
    ending: Ending
    seconds: float
    prewarm_seconds: float
    tree: Manifest
    tree_digest: str
    versions: dict[str, str]
    finished_at: str
    failed: tuple[Usage, ...] = field(default=(), metadata=GROWN)

    @property
    def attempts(self) -> int:
        """How often the agent was started for this run."""
        return len(self.failed) + 1

    @property
    def paid(self) -> float | None:
        """Dollars for all attempts together; None where the cost of one is not known."""
        costs = [usage.cost for usage in (self.ending.usage, *self.failed)]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def agent_record(session: Session, key: str) -> AgentRecord | None:
    """The kept agent run of a key, or None, also where it was damaged and set aside.

    Raises HarnessError for one that this evalkit cannot read.
    """
    entry = session.store.open("agent", key, only=("agent.json",))
    if entry is None:
        return None
    try:
        return read_record(entry / "agent.json", AgentRecord)
    except FileNotFoundError:
        problem = "it has no agent.json"
    except BadRecord as error:
        problem = error.message
    raise HarnessError(f"a kept agent run is damaged: {problem}", hint=f"delete {entry}: the agent runs again")
