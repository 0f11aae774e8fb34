"""What an audit found, as results keep it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalkit.values import Value

__all__ = ["Audit", "Finding", "How", "Outcome"]

How: TypeAlias = Literal["path", "content", "git", "command"]
"""By what it was noticed. path: a call names it. content: what a call returned holds lines of it. git: its history.
command: the command that prints a skill."""
Outcome: TypeAlias = Literal["read", "unknown", "denied", "failed", "named"]
"""read: the call worked. unknown: it has no result. denied, failed: nothing was read. named: what
it printed has the name."""


class Finding(Value):
    """What an agent looked at, or tried to. what: the kind of thing (`the solution`). tool: the agent's word for it.

    line: of the transcript: a call's own, of content that of the result. path: of the thing, within the project where
    it is there. evidence: what the call named, or the line that it returned.
    """

    what: str
    how: How
    outcome: Outcome
    tool: str
    call: str
    line: int
    path: str
    evidence: str

    @property
    def told(self) -> str:
        """In a line, for people."""
        said = {"read": "read", "unknown": "may have read", "denied": "was refused",
                "failed": "tried in vain to read", "named": "named"}[self.outcome]
        return f"{said} {self.what}: {self.path} (by {self.tool}, line {self.line} of the transcript)"


class Audit(Value):
    """Whether an agent saw what it must not see. key: the digest of what the audit was made from.

    contaminated: it read something, or may have. findings: what; tries: what it was kept from. more: how many
    findings are not listed. gaps: places of the transcript that cannot be read: what happened there is not known.
    note: why there was nothing to audit, or not all; "". blind: the transcript does not tell what the agent did, only
    what it printed.
    """

    key: str
    contaminated: bool
    findings: tuple[Finding, ...] = ()
    tries: tuple[Finding, ...] = ()
    more: int = 0
    gaps: int = 0
    note: str = ""
    blind: bool = False

    @property
    def reason(self) -> str:
        """Why its trial is contaminated, in a line."""
        first = self.findings[0]
        others = len(self.findings) - 1
        more = f", and {others} more" if others else ""
        return f"contaminated: it {first.told}{more}"
