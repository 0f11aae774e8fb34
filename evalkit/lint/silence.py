"""`allow W001 "reason"`: leaves out findings that are meant so, and finds those statements that silence nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from evalkit.analysis import model as m
from evalkit.diagnostics import Diagnostic, Span
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject
from evalkit.lint.walk import walk
from evalkit.syntax import nodes as n

__all__ = ["CODE", "idle", "silencers", "sort_out"]

CODE = "W007"


@frozen
class Silencer:
    """An `allow`, and the block or the check that it stands in."""

    code: str
    span: Span
    block: Any

    def covers(self, finding: Finding, blocks: Sequence[Any]) -> bool:
        """Whether it silences a finding; `blocks` are those that the finding's unit is made of."""
        if self.code != finding.diagnostic.code:
            return False
        places = [finding.diagnostic.span, *([finding.about] if finding.about else [])]
        return any(self.block is block for block in blocks) or any(_within(place, self.block.span) for place in places)


def silencers(subject: Subject) -> list[Silencer]:
    """All of a project."""
    return [Silencer(node.code.value, node.span, parent) for _, file in subject.files
            for node, parent in walk(file) if isinstance(node, n.Silence)]


def sort_out(subject: Subject, findings: Iterable[Finding],
             allowed: Sequence[Silencer]) -> tuple[list[Finding], list[Silencer]]:
    """The findings that nothing silences, and the silencers that silenced something."""
    left = []
    used: list[Silencer] = []
    codes = {silencer.code for silencer in allowed}
    for finding in findings:
        covering = []
        if finding.diagnostic.code in codes:
            blocks = _blocks(subject, finding.unit)
            covering = [silencer for silencer in allowed if silencer.covers(finding, blocks)]
        used += covering
        if not covering:
            left.append(finding)
    return left, used


def idle(allowed: Iterable[Silencer], used: Sequence[Silencer], steady: frozenset[str]) -> list[Finding]:
    """W007 for those that silenced nothing. `steady`: codes whose findings are the same on every machine."""
    return [Finding(Diagnostic(CODE, f"this silences nothing: there is no {silencer.code} here", silencer.span,
                               help="leave it out, so that it hides nothing later"))
            for silencer in allowed if silencer.code in steady and not any(silencer is one for one in used)]


def _blocks(subject: Subject, unit: m.Case | None) -> list[Any]:
    """The blocks that a unit is made of."""
    if unit is None:
        return []
    case, suite = subject.views[unit.name].node, subject.suite_of.get(unit.name)
    tracks = [item for item in case.body if isinstance(item, n.Track) and item.name.value == unit.track]
    blocks: list[Any] = [case, *tracks]
    if suite is not None:
        arm = (unit.arm or "").partition(".")[0]  # what is behind the dot is an ablation
        blocks += [suite.node, *suite.chain(unit.profile)]
        blocks += [item for item in suite.node.body if isinstance(item, n.Arm) and item.name.value in (unit.arm, arm)]
    return blocks


def _within(inner: Span, outer: Span) -> bool:
    return inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end
