"""A stand-in for the model's side of the Anthropic Messages API, for tests without a key or a network."""

from evalkit.gateway.script import Answer, CutStream, Fault, Hang, Recorded, Reply, Step, Text, ToolCall
from evalkit.gateway.scripted import ScriptedGateway

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
