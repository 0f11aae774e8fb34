"""`score code`: what an answer's source imports, uses, must not hold, and whether a command parses it; nothing is run.

The measures, each from 0 to 1: `import_match`, the share of the expected modules that are imported; `api_match`, the
share of the expected names that are used; `forbidden_clean`, 1 where no pattern is found outside comments; `parse_ok`,
1 where the command ends with 0. `composite` is the mean of those that the case has; an answer that is not there, or is
nothing that can be read, has 0 in all of them.
"""

from __future__ import annotations

import time
from fractions import Fraction

from evalkit.analysis.model import ScoreSpec, Toolchain
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.run import VERSION as RUN_VERSION
from evalkit.grade.run import CheckInCopy
from evalkit.grade.score_code import DISTRIBUTIONS, Slow, grammar_version, read_code
from evalkit.grade.search import TOTAL_LIMIT, search
from evalkit.grade.verdict import Measure, Verdict

__all__ = ["COMPOSITE", "MEASURES", "grade_score", "score_distributions", "score_version"]

VERSION = "score 3"
MEASURES = ("import_match", "api_match", "forbidden_clean", "parse_ok")
COMPOSITE = "composite"
_LARGEST = 200_000
"""Bytes of an answer."""


def score_version(spec: ScoreSpec) -> str:
    """The version of what scores: this code, the parser, the grammar, and what runs the command."""
    parses = [RUN_VERSION] if spec.parses is not None else []
    return ", ".join([VERSION, grammar_version(spec.language), *parses])


def score_distributions(spec: ScoreSpec) -> tuple[str, str]:
    """The distributions whose versions are part of that."""
    return "tree-sitter", DISTRIBUTIONS[spec.language]


def grade_score(spec: ScoreSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...]) -> Verdict:
    """Raises HarnessError where the parser is not installed, or the tree cannot be read."""
    data = tree.read([spec.answer], largest=_LARGEST).get(spec.answer, b"")
    if not data:
        why = "is not there, or is empty" if data is not None else f"is larger than {_LARGEST:,} bytes"
        return _nothing(spec, f"{spec.answer} {why}")
    text = data.decode("utf-8-sig", "replace")
    try:
        code = read_code(text, spec.language, jsx=spec.answer.endswith(("x", "X")))
    except Slow:
        return _nothing(spec, f"reading {spec.answer} took too long: counted as 0, since the answer decides how long")
    found: dict[str, Fraction] = {}
    amiss: list[str] = []
    fine: list[str] = []
    if spec.imports:
        there = [name for name in spec.imports if code.imports(name)]
        found["import_match"] = Fraction(len(there), len(spec.imports))
        amiss += [f'not imported: "{plain(name)}"' for name in spec.imports if name not in there]
        fine += [f'imported: "{plain(name)}"' for name in there]
    if spec.apis:
        there = [name for name in spec.apis if code.uses(name)]
        found["api_match"] = Fraction(len(there), len(spec.apis))
        amiss += [f'not used: "{plain(name)}"' for name in spec.apis if name not in there]
        fine += [f'used: "{plain(name)}"' for name in there]
    if spec.forbid:
        deadline = time.monotonic() + TOTAL_LIMIT
        findings = [search(pattern, {spec.answer: code.text}, deadline) for pattern in spec.forbid]
        bad = [finding.told for finding in findings if finding.outcome != "not found"]
        found["forbidden_clean"] = Fraction(not bad)
        amiss += [f"forbidden: {told}" for told in bad]
        fine += [finding.told for finding in findings if finding.outcome == "not found"]
    if spec.parses is not None:
        with tree.copy(toolchains, lane=tree.lane) as copy:
            check = CheckInCopy(tree, copy)
            values = {"answer": spec.answer}
            verdict = check.command(spec.parses, values, spec.parses.limit)
        if verdict is not None and verdict.status == "error":
            return verdict
        found["parse_ok"] = Fraction(verdict is None)
        if verdict is not None:
            amiss += [verdict.summary, *verdict.evidence.splitlines()[:20]]
        else:
            fine += check.said
    return _verdict(spec, found, [*amiss, *fine])


def _applying(spec: ScoreSpec) -> list[str]:
    """The measures that a case has."""
    given = (spec.imports, spec.apis, spec.forbid, spec.parses is not None)
    return [name for name, there in zip(MEASURES, given, strict=True) if there]


def _nothing(spec: ScoreSpec, why: str) -> Verdict:
    return _verdict(spec, dict.fromkeys(_applying(spec), Fraction(0)), [plain(why)])


def _verdict(spec: ScoreSpec, found: dict[str, Fraction], told: list[str]) -> Verdict:
    composite = sum(found.values(), Fraction(0)) / len(found)
    passed = spec.threshold is None or composite >= Fraction(str(spec.threshold))
    wanted = "" if spec.threshold is None else f" (wanted {spec.threshold:g})"
    parts = ", ".join(f"{name} {float(value):.2f}" for name, value in found.items())
    measures = tuple(Measure(name, round(float(value), 4)) for name, value in [(COMPOSITE, composite), *found.items()])
    return Verdict("pass" if passed else "fail", f"{float(composite):.2f} of 1{wanted}: {parts}", "\n".join(told),
                   measures=measures)
