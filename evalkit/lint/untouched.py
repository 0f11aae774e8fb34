"""W002: a grep that says the same of every answer, as the results of the agent `nop` show, where there are any.

`nop` leaves the scaffold as it is. A `has` that passes there passes for an agent that does nothing. A grep whose globs
match no file there, nor one of the reference answer, can pass for nobody.

The results are read as plain JSON: they may be of another version, or of an older form of the case. What they say
counts only where their evidence is of the patterns and globs that the check has now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evalkit.analysis import model as m
from evalkit.analysis.globs import matching
from evalkit.diagnostics import Diagnostic
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject
from evalkit.lint.trees import files_below
from evalkit.syntax import nodes as n

__all__ = ["CODE", "find"]

CODE = "W002"
RUNS = ("prove", "latest")
"""The runs whose results are looked at; the first that has any of a case counts."""
LARGEST = 4_000_000
"""Bytes of a result that is read."""


def find(subject: Subject) -> Iterator[Finding]:
    results = _results(subject.root)
    for _, case in subject.compiled():
        for check in case.checks:
            verdicts = [units[check.id] for units in results.get(case.name, []) if check.id in units]
            verdicts = [verdict for verdict in verdicts if verdict.get("status") != "skipped"]
            node = subject.node(check.origin, n.Check)
            if not isinstance(check.spec, m.GrepSpec) or node is None or not verdicts or case.skips(check):
                continue
            found = partial(_finding, case, node)
            if all(_passes(verdict, check.spec) for verdict in verdicts):
                yield found(f"check `{check.id}` passes on the untouched scaffold of `{case.name}`",
                            "an agent that does nothing passes it: look for what only an answer has")
            elif (all(_no_file(verdict, check.spec) for verdict in verdicts)
                  and not _answered(subject, case, check.spec)):
                yield found(f"no file of the scaffold or the solution of `{case.name}` matches the globs of "
                            f"check `{check.id}`", "nobody can pass it: correct the globs")


def _finding(case: m.Case, node: n.Check, message: str, help_line: str) -> Finding:
    return Finding(Diagnostic(CODE, message, node.kind.span, help=help_line), case)


def _passes(verdict: dict[str, Any], spec: m.GrepSpec) -> bool:
    evidence = str(verdict.get("evidence"))
    return (spec.expect == "has" and verdict.get("status") == "pass"
            and all(_said(pattern) in evidence for pattern in spec.patterns))


def _said(pattern: m.Pattern) -> str:
    """A pattern as the evidence of the grader gives it."""
    return f"/{pattern.text}/{pattern.flags}: " if pattern.regex else f'"{pattern.text}": '


def _no_file(verdict: dict[str, Any], spec: m.GrepSpec) -> bool:
    return verdict.get("status") == "fail" and verdict.get("summary") == f"no file matches {', '.join(spec.globs)}"


def _answered(subject: Subject, case: m.Case, spec: m.GrepSpec) -> bool:
    """Whether the reference answer has such a file; without one nobody can tell."""
    if case.solution is None:
        return True
    return bool(matching(files_below(subject.root / case.solution), spec.globs))


def _results(root: Path) -> dict[str, list[dict[str, dict[str, Any]]]]:
    """The verdicts of `nop`: by case, for each of its units, by check."""
    found: dict[str, list[dict[str, dict[str, Any]]]] = {}
    for run in RUNS:
        of_run: dict[str, list[dict[str, dict[str, Any]]]] = {}
        for path in sorted((root / "results" / run / "nop").glob("*/trial-1/result.json")):
            result = _read(path)
            if isinstance(result, dict) and isinstance(result.get("checks"), list):
                verdicts = {check["id"]: check["verdict"] for check in result["checks"]
                            if isinstance(check, dict) and isinstance(check.get("id"), str)
                            and isinstance(check.get("verdict"), dict)}
                of_run.setdefault(str(result.get("case")), []).append(verdicts)
        found = {**of_run, **found}
    return found


def _read(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            return None
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
