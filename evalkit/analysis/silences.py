"""Findings of the linter that are silenced: `allow W012 "reason"`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evalkit.analysis import model as m
from evalkit.analysis.findings import Findings
from evalkit.diagnostics import did_you_mean
from evalkit.syntax import nodes as n

__all__ = ["resolve_silences"]


def resolve_silences(findings: Findings, nodes: Iterable[n.Silence]) -> tuple[m.Silence, ...]:
    return tuple(_silence(findings, node) for node in nodes)


def _silence(findings: Findings, node: n.Silence) -> m.Silence:
    from evalkit.diagnostics.catalogue import WARNINGS  # few cases silence anything

    code, reason = node.code.value, node.reason.value.strip()
    if re.fullmatch(r"E\d{3}", code):
        findings.report("E037", f"`{code}` is an error, which nothing silences", node.code.span,
                        help="only warnings can be meant so: `allow W001 \"reason\"`")
    elif code not in WARNINGS:
        findings.report("E037", f"there is no warning `{code}`", node.code.span, help=did_you_mean(code, WARNINGS))
    if not reason:
        findings.report("E037", "the reason is missing", node.reason.span,
                        help="say why it is meant so; who reads the case later wants to know")
    return m.Silence(code, reason, str(node.span))
