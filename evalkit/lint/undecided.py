"""W010: a unit of which no check and no judge decides: each of its trials is in error, as nothing was graded.

A score and a judge are advisory until they say from where on they pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalkit.analysis import model as m
from evalkit.diagnostics import Diagnostic
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject

__all__ = ["CODE", "find"]

CODE = "W010"


def find(subject: Subject) -> Iterator[Finding]:
    for view, case in subject.compiled():
        graded = [check for check in case.checks if not case.skips(check)]
        if any(not check.advisory for check in graded) or any(not judge.advisory for judge in case.judges):
            continue
        where = "".join([f" on {kind} `{name}`" for kind, name in (("track", case.track), ("arm", case.arm)) if name])
        yield Finding(Diagnostic(
            CODE, f"nothing decides whether a trial of case `{case.name}`{where} passes: all of it is advisory",
            view.node.name.span, help=_help(case, graded)), case)


def _help(case: m.Case, graded: Sequence[m.Check]) -> str:
    """What to write at the first of those that could decide; a unit without any is an error (E032)."""
    for check in sorted(graded, key=lambda check: check.kind != "score"):
        if isinstance(check.spec, m.ScoreSpec) and check.spec.threshold is None:
            return f"write from where on score `{check.id}` passes: `pass at 0.8`"
        return f"leave out `advisory` at {'score' if check.kind == 'score' else 'check'} `{check.id}`"
    judge = case.judges[0]
    if judge.threshold is None:
        return f"write from where on judge `{judge.id}` passes: `pass at 6`"
    return f"leave out `advisory` at judge `{judge.id}`, or add a check"
