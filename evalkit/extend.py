"""What plug-ins import: the names that agents and graders of other distributions are written with (docs/plugins.md)."""

from __future__ import annotations

from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.asking import asking
from evalkit.execute.agents.base import Agent, Job
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.process import Finished, ProgramMissing, stream
from evalkit.execute.transcripts import Ended, Limit, Message, MessageUsage, ToolCall, ToolResult, Writer
from evalkit.grade.plugin import Files
from evalkit.grade.verdict import Verdict
from evalkit.plan.trials import AgentTraits, Trial

__all__ = ["Agent", "AgentError", "AgentTraits", "Case", "Ended", "Ending", "Files", "Finished", "HarnessError", "Job",
           "Limit", "Message", "MessageUsage", "ProgramMissing", "ToolCall", "ToolResult", "Toolchain", "Trial",
           "Usage", "UserError", "Verdict", "Wanted", "Writer", "asking", "stream"]
