"""The metrics that a suite declares: what of a transcript tells how the work was done."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from evalkit.analysis import model as m
from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.values import Values
from evalkit.diagnostics import did_you_mean
from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_metrics as nm

__all__ = ["resolve_metrics"]


def resolve_metrics(findings: Findings, nodes: Iterable[n.Metrics], profiles: Collection[str]) -> tuple[m.Metrics, ...]:
    """The groups, in their order. A profile is in one of them."""
    names = Names(findings, "metric group")
    used: dict[str, n.Name] = {}
    found = []
    for node in nodes:
        names.add(node.name)
        for statement in node.body:
            for name in statement.names if isinstance(statement, nm.MetricsProfiles) else ():
                if name.value not in profiles:
                    findings.report("E020", f"there is no profile `{name.value}`", name.span,
                                    help=did_you_mean(name.value, profiles))
                elif used.setdefault(name.value, name) is not name:
                    findings.report("E030", f"the metrics of profile `{name.value}` stand in two places", name.span,
                                    notes=(("the other one is here", used[name.value].span),))
        found.append(_group(findings, node))
    return tuple(found)


def _group(findings: Findings, node: n.Metrics) -> m.Metrics:
    values = Values(findings)
    shares = Names(findings, "share")
    profiles: list[str] = []
    compliance: list[m.Pattern] = []
    sources: list[str] = []
    diagnostics: list[m.Diagnostics] = []
    parts: list[tuple[str, tuple[str, ...]]] = []
    for statement in node.body:
        match statement:
            case nm.MetricsProfiles(names=names):
                profiles += [name.value for name in names]
            case nm.MetricsCompliance(patterns=patterns):
                compliance += values.patterns(patterns)
            case nm.MetricsSources(globs=globs):
                sources += values.globs(globs)
            case nm.MetricsDiagnostic():
                diagnostics.append(_diagnostic(values, statement))
            case nm.MetricsShare(name=name, globs=globs):
                shares.add(name)
                parts.append((name.value, values.globs(globs)))
    for what, given, example in (("profiles", profiles, "profiles app"), ("sources", sources, 'sources "src/**"'),
                                 ("compliance", compliance, 'compliance "make test"')):
        if not given:
            values.report("E032", f"metrics `{node.name.value}` have no {what}", node.name.span,
                          help=f"add `{example}`")
    return m.Metrics(node.name.value, tuple(profiles), tuple(compliance), tuple(sources), tuple(diagnostics),
                     tuple(parts))


def _diagnostic(values: Values, node: nm.MetricsDiagnostic) -> m.Diagnostics:
    pattern, = values.patterns((node.pattern,))
    label = node.label.value if node.label else None
    if node.label is not None and "{" in node.label.value:
        values.placeholders(node.label, _groups(pattern))
    return m.Diagnostics(pattern, label, node.teaching)


def _groups(pattern: m.Pattern) -> list[str]:
    """The named groups of a regex; none of one that is told to be broken already."""
    import regex  # only here, as in dialect.py

    try:
        return list(compile_regex(pattern.text, pattern.flags).groupindex)
    except (regex.error, KeyError):
        return []
