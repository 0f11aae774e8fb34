"""Verdicts: what a check came to, with the evidence."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

__all__ = ["EVIDENCE_LIMIT", "Grade", "Status", "Verdict", "excerpt"]

Status: TypeAlias = Literal["pass", "fail", "skipped", "error"]
EVIDENCE_LIMIT = 8_000
"""Characters of a verdict's evidence."""


@frozen
class Verdict:
    """skipped: not for this lane, or no key. error: the harness could not tell, so it is no fail of the agent's.

    summary: one line. evidence: what the summary rests on. score: a judge's, 0 to 10.
    """

    status: Status
    summary: str
    evidence: str = ""
    score: float | None = None
    details: dict[str, object] | None = None


@frozen
class Grade:
    """A verdict on disk, with what it was made from."""

    check: str
    kind: str
    verdict: Verdict
    key: str
    inputs: dict[str, str]
    seconds: float


def excerpt(output: str, limit: int = EVIDENCE_LIMIT) -> str:
    """The telling parts of a command's output: all of it where it is short, else its errors and its last lines.

    Compilers put their messages first and a summary last; the middle is what can be left out.
    """
    output = output.strip("\n")
    if len(output) <= limit:
        return output
    lines = [line[:400] for line in output.splitlines()]
    marks = ("error", "fail", "panic", "expected", "assert", "traceback", "exception")
    wanted: set[int] = set(range(max(0, len(lines) - 25), len(lines)))
    budget = limit - sum(len(lines[index]) + 1 for index in wanted)
    for index, line in enumerate(lines):
        if not any(mark in line.lower() for mark in marks):
            continue
        for near in range(max(0, index - 1), min(len(lines), index + 4)):
            if near not in wanted and budget > len(lines[near]):
                wanted.add(near)
                budget -= len(lines[near]) + 1
    parts, previous = [], -1
    for index in sorted(wanted):
        if index != previous + 1:
            parts.append(f"… {index - previous - 1} lines left out …")
        parts.append(lines[index])
        previous = index
    return "\n".join(parts)[: limit + 2_000]
