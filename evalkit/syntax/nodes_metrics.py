"""The syntax nodes of metrics: what of a transcript tells how the work was done."""

from __future__ import annotations

from evalkit.diagnostics import Span
from evalkit.syntax.nodes_values import Name, Pattern, Regex, Str
from evalkit.values import Node

__all__ = ["Metrics", "MetricsCompliance", "MetricsDiagnostic", "MetricsProfiles", "MetricsShare", "MetricsSources"]


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


class Metrics(Node):
    name: Name
    body: tuple[MetricsProfiles | MetricsCompliance | MetricsSources | MetricsDiagnostic | MetricsShare, ...]
    span: Span
