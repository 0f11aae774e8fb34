"""W008: a case without a reference answer, or without a wrong one.

A case that looks at nothing but the commands that were called, and the state that they leave, has neither: its calls
are its answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.diagnostics import Diagnostic
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject

__all__ = ["CODE", "find"]

CODE = "W008"
_CALLED = {"calls", "state"}


def find(subject: Subject) -> Iterator[Finding]:
    for view, case in subject.compiled():
        kinds = {check.kind for check in case.checks}
        if not case.judges and "calls" in kinds and kinds <= _CALLED:
            continue
        missing = [(said, statement) for there, said, statement in (
            (case.solution, "a right answer passes", '`solution "FOLDER"`'),
            (case.wrongs, "a wrong one fails", '`wrong "FOLDER" fails CHECK`')) if not there]
        if missing:
            track = f" on track `{case.track}`" if case.track else ""
            proofs = " and that ".join(said for said, _ in missing)
            yield Finding(Diagnostic(
                CODE, f"nothing proves that {proofs} in case `{case.name}`{track}", view.node.name.span,
                help=f"add {' and '.join(statement for _, statement in missing)}"), case)
