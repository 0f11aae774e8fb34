"""The command layer of a viewer for point clouds of civil structures.

`registry.start(state)` opens a session, `tool_definitions()` says what can be called, `build_system(state)` what a
model is told. `python -m viewer.mcp STATE` serves the same over stdio.
"""

from viewer.prompt import build_system
from viewer.registry import Session, registry, tool_definitions

__all__ = ["Session", "build_system", "registry", "tool_definitions"]
