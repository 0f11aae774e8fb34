"""The syntax nodes of metrics: what of a transcript tells how the work was done."""

from __future__ import annotations

from evalkit.diagnostics import Span
from evalkit.syntax.node import node
from evalkit.syntax.nodes_values import Name, Pattern, Regex, Str

__all__ = ["Metrics", "MetricsCompliance", "MetricsDiagnostic", "MetricsProfiles", "MetricsShare", "MetricsSources"]


@node
class MetricsProfiles:
    names: tuple[Name, ...]
    span: Span


@node
class MetricsCompliance:
    patterns: tuple[Pattern, ...]
    span: Span


@node
class MetricsSources:
    globs: tuple[Str, ...]
    span: Span


@node
class MetricsDiagnostic:
    """What a compiler says. label: what it is counted as. teaching: whether it says how to do better."""

    teaching: bool
    pattern: Regex
    label: Str | None
    span: Span


@node
class MetricsShare:
    """The share of written lines that are in these files."""

    name: Name
    globs: tuple[Str, ...]
    span: Span


@node
class Metrics:
    name: Name
    body: tuple[MetricsProfiles | MetricsCompliance | MetricsSources | MetricsDiagnostic | MetricsShare, ...]
    span: Span
