"""What stands between programs and models on loopback: the server, scripted and recorded models, the live gateway.

Here are the names of a model that is scripted in Python, for tests; `evalkit.gateway.play.open_play` plays a file.
"""

from evalkit.gateway.script import (
    Answer,
    Close,
    CutStream,
    Fault,
    Garbage,
    Hang,
    Recorded,
    Reply,
    Step,
    Text,
    ToolCall,
)
from evalkit.gateway.scripted import ScriptedGateway

__all__ = [
    "Answer",
    "Close",
    "CutStream",
    "Fault",
    "Garbage",
    "Hang",
    "Recorded",
    "Reply",
    "ScriptedGateway",
    "Step",
    "Text",
    "ToolCall",
]
