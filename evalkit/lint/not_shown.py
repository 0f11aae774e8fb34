"""W009: a `check snapshot` of a case that has no `live` block: it is skipped in every run, and nobody fails by it."""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.analysis import model as m
from evalkit.diagnostics import Diagnostic
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject
from evalkit.syntax import nodes as n

__all__ = ["CODE", "find"]

CODE = "W009"


def find(subject: Subject) -> Iterator[Finding]:
    for _, case in subject.compiled():
        if case.setup.live is not None:
            continue
        for check in case.checks:
            node = subject.node(check.origin, n.Check)
            if isinstance(check.spec, m.SnapshotSpec) and node is not None:
                yield Finding(Diagnostic(
                    CODE, f"check `{check.id}` of `{case.name}` is always skipped: nothing says how its app is started",
                    node.kind.span, help='add `live { launch "COMMAND"; snapshot "COMMAND" }` to the suite'), case)
