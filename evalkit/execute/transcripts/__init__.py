"""Transcripts of all agents, read as one kind of events, and written in a format of our own."""

from evalkit.execute.transcripts.model import (
    Compacted,
    Ended,
    Event,
    Folder,
    Gap,
    Limit,
    LimitKind,
    Message,
    MessageUsage,
    Role,
    Status,
    SubAgent,
    Tool,
    ToolCall,
    ToolResult,
)
from evalkit.execute.transcripts.own import Writer, writer_of
from evalkit.execute.transcripts.reader import read_events

__all__ = ["Compacted", "Ended", "Event", "Folder", "Gap", "Limit", "LimitKind", "Message", "MessageUsage", "Role",
           "Status", "SubAgent", "Tool", "ToolCall", "ToolResult", "Writer", "read_events", "writer_of"]
