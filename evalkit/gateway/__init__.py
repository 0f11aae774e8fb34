"""A stand-in for the model's side of the Anthropic Messages API, for tests without a key or a network."""

from evalkit.gateway.scripted import (
    Answer,
    CutStream,
    Fault,
    Hang,
    Recorded,
    Reply,
    ScriptedGateway,
    Step,
    Text,
    ToolCall,
)

__all__ = [
    "Answer",
    "CutStream",
    "Fault",
    "Hang",
    "Recorded",
    "Reply",
    "ScriptedGateway",
    "Step",
    "Text",
    "ToolCall",
]
