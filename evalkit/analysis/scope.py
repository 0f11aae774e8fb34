"""What a unit is resolved from: its suite, its levels; and where each of its values came from."""

from __future__ import annotations

from evalkit.analysis.findings import Findings
from evalkit.analysis.levels import Levels
from evalkit.analysis.suites import Suite
from evalkit.analysis.values import Values
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n
from evalkit.values import Value, field

__all__ = ["Scope"]


class Scope(Value):
    """Of a unit; or of a suite or a profile alone, which is resolved to find what is wrong in it."""

    findings: Findings
    suite: Suite
    levels: Levels
    origins: dict[str, str] = field(factory=dict)

    @property
    def values(self) -> Values:
        return Values(self.findings)

    @property
    def expects_calls(self) -> bool:
        """Whether a statement says which commands an agent calls, or must not call."""
        return bool(self.levels.all(n.Expect) or self.levels.all(n.Never))

    def note(self, path: str, span: Span) -> None:
        """Note the place that a value is from, by its path in the unit."""
        self.origins[path] = str(span)

    def report(self, code: str, message: str, span: Span, help: str = "") -> None:
        self.findings.report(code, message, span, help=help)
