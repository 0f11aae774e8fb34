"""What `metrics` hold: what of a transcript tells how the work was done.

Few files have any: who lowers or resolves them imports this.
"""

from __future__ import annotations

from evalkit.diagnostics import Span
from evalkit.syntax.nodes_values import Name, Pattern, Regex, Str
from evalkit.values import Node

__all__ = ["MetricsCompliance", "MetricsDiagnostic", "MetricsProfiles", "MetricsShare", "MetricsSources"]


class MetricsProfiles(Node):
    names: tuple[Name, ...]
    span: Span


class MetricsCompliance(Node):
    patterns: tuple[Pattern, ...]
    span: Span


class MetricsSources(Node):
    globs: tuple[Str, ...]
    span: Span


class MetricsDiagnostic(Node):
    """What a compiler says. label: what it is counted as. teaching: whether it says how to do better."""

    teaching: bool
    pattern: Regex
    label: Str | None
    span: Span


class MetricsShare(Node):
    """The share of written lines that are in these files."""

    name: Name
    globs: tuple[Str, ...]
    span: Span
