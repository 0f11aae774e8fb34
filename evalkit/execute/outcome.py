"""What an agent run came to, as it is kept in the store."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from evalkit.errors import HarnessError
from evalkit.execute.tree import Manifest

__all__ = ["AgentError", "AgentRecord", "Ending", "Usage"]


class AgentError(HarnessError):
    """The harness or the provider failed the agent: not kept as an outcome, not graded, no fail of the agent's."""


@frozen
class Usage:
    """What a run consumed. None: the agent does not say. cost: US dollars, as `cost_source` reckons them."""

    turns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    cost_source: str = ""


@frozen
class Ending:
    """How an agent's run ended.

    status: completed; capped (by its turn limit: graded, never a fail by itself); timeout (its time limit: graded, and
    a fail).
    """

    status: Literal["completed", "capped", "timeout"]
    detail: str
    usage: Usage
    notes: tuple[str, ...] = ()


@frozen
class AgentRecord:
    """An agent run with its final tree. `seconds` is the agent's own time, without set-up and prewarm."""

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
