"""Events -> what they come to: counts, tokens, and how the run stood when its transcript ended."""

from __future__ import annotations

from collections import Counter

from attrs import Factory, define

from evalkit.execute.transcripts.model import (
    Ended,
    Event,
    Gap,
    Limit,
    LimitKind,
    MessageUsage,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)

__all__ = ["Totals"]


@define
class Totals:
    """Sums over the events that were added. replies: messages of the model whose usage is told. cost: dollars; None: of
    no message a cost is told."""

    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    calls: Counter[Tool] = Factory(Counter)
    results: Counter[Status] = Factory(Counter)
    limits: Counter[LimitKind] = Factory(Counter)
    gaps: int = 0
    ended: Ended | None = None
    """The last end; None where something was done after it."""

    def add(self, event: Event) -> None:
        match event:
            case MessageUsage():
                self.replies += 1
                self.input_tokens += event.input_tokens
                self.output_tokens += event.output_tokens
                self.cache_read_tokens += event.cache_read_tokens
                self.cache_write_tokens += event.cache_write_tokens
                if event.cost is not None:
                    self.cost = (self.cost or 0.0) + event.cost
            case ToolCall():
                self.calls[event.tool] += 1
                self.ended = None
            case ToolResult():
                self.results[event.status] += 1
            case Limit():
                self.limits[event.what] += 1
            case Gap():
                self.gaps += 1
            case Ended():
                self.ended = event

    @property
    def state(self) -> str:
        """How the run stood in the end, in a few words."""
        missing = self.results["missing"]
        open_ = f", {missing} {'call' if missing == 1 else 'calls'} without a result" if missing else ""
        if self.ended is None:
            return f"no end is told{open_}"
        return f"{'error: ' if self.ended.is_error else ''}{self.ended.how}{open_}"
