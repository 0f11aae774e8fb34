"""What `evalkit check --prove` prints: a table a case, its known answers across, and what that proves."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from evalkit.dag.progress import Progress
from evalkit.dag.prove import Proof, prove
from evalkit.errors import Exit
from evalkit.report.findings import MARKS

__all__ = ["print_proofs", "prove_cases"]

_ABSENT = "-"


def prove_cases(root: Path, cases: Collection[str] | None, *, full: bool = False) -> int:
    """Run the known answers of the cases (None: of all) and print what they prove. Returns the exit status.

    full: wrong answers are graded by all checks, not only by those that they name.
    """
    return print_proofs(prove(root, os.environ, None if cases is None else sorted(cases), Progress(), full=full))


def print_proofs(proofs: Sequence[Proof]) -> int:
    """0: every case is proven. 1: an answer is not taken as it should be. 3: one could not be run or graded."""
    status = Exit.OK
    for proof in proofs:
        print("\n".join(_table(proof)))
        print()
        if proof.broken:
            status = Exit.HARNESS
        elif proof.wrong and status is Exit.OK:
            status = Exit.CASE_FAILED
    proven = sum(not proof.wrong and not proof.broken for proof in proofs)
    print(f"{proven} of {len(proofs)} proven")
    return int(status)


def _table(proof: Proof) -> list[str]:
    answers = list(proof.statuses)
    must = {f"wrong:{wrong.name}": wrong.fails for wrong in proof.case.wrongs}
    checks = [check.id for check in proof.case.checks]
    wide = max([len(check) for check in checks], default=0)
    lines = [f"{proof.case.unit}: {_verdict(proof)}",
             "  " + " " * wide + "".join(f"  {answer}" for answer in answers)]
    for check in checks:
        cells = []
        for answer in answers:
            mark = MARKS.get(proof.statuses[answer].get(check, ""), _ABSENT)
            cells.append(f"  {mark + (' must fail' if check in must.get(answer, ()) else ''):<{len(answer)}}")
        lines.append(f"  {check:<{wide}}{''.join(cells)}".rstrip())
    lines += [f"  not so: {reason}" for reason in proof.wrong]
    lines += [f"  broken: {reason}" for reason in proof.broken]
    lines += [f"  remark: {reason}" for reason in proof.remarks]
    return lines


def _verdict(proof: Proof) -> str:
    if proof.broken:
        return "could not be proven here"
    return "not proven" if proof.wrong else "proven"
