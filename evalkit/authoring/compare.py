"""`evalkit compare A B`: two runs, subjects or arms, paired by case: what differs, how surely, and why."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.authoring.project import find_root
from evalkit.errors import Exit, UserError

if TYPE_CHECKING:
    from evalkit.report.compare import Comparison, Flip
    from evalkit.report.data import ComparisonData, FlipData
    from evalkit.report.rates import Line
    from evalkit.report.row import CheckRow
    from evalkit.report.sides import Pair, Side

__all__ = ["ABOUT", "arguments", "main", "read_points"]

ABOUT = "two runs, subjects or arms side by side, paired by case: what differs, how surely, and why"
_EPILOG = """\
examples:
  evalkit compare before latest                     two runs: each subject that is in both
  evalkit compare claude-sonnet-5 claude-opus-4.8   two subjects of the run `latest`
  evalkit compare +baseline +with-skill             two arms of the run `latest`
  evalkit compare before:sonnet+baseline latest:sonnet+baseline
  evalkit compare before latest --check own,loop    these checks alone
  evalkit compare before latest --detect 5pp        what it takes to see a difference of 5 points
  evalkit compare before latest --json | jq .comparisons[].verdict

A side is RUN, RUN:SUBJECT, RUN+ARM or RUN:SUBJECT+ARM; without RUN the run is `latest`. A subject is named by its
model, its agent or a part of them. Differences are B less A, over the cases that are on both sides; errors,
contaminated trials and what did not run are neither pass nor fail. Needs the extra evalkit[stats].
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("one", metavar="A", help="the side to compare with")
    parser.add_argument("other", metavar="B", help="the side that is compared")
    parser.add_argument("--suite", metavar="NAME", help="the cases of one suite")
    parser.add_argument("--check", metavar="IDS", default="", help="of all checks these (a comma list)")
    parser.add_argument("--detect", type=read_points, default=0.1, metavar="POINTS",
                        help="the difference of pass rates that is worth seeing, in points (10pp); default: 10")
    parser.add_argument("--json", action="store_true", help="plain data")


def read_points(text: str) -> float:
    """A difference of pass rates as a share: `10`, `10pp`, `10%`. Raises argparse's error for anything else."""
    match = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]+)?) ?(?:pp|%|points?)?", text.strip())
    if not match or not float(match[1]) > 0:
        raise argparse.ArgumentTypeError("points from above 0 to below 100, such as 10pp")
    return float(match[1]) / 100


def main(options: argparse.Namespace) -> int:
    """Print the comparison. Raises `UserError` where there are no such sides, or no statistics."""
    from evalkit.report.sides import pairs, read_side

    results = find_root() / "results"
    sides = tuple(_of_suite(read_side(text, results), options.suite) for text in (options.one, options.other))
    one, other = sides
    found, notes = pairs(one, other)
    done = [(pair, _compare(one, other, pair, options)) for pair in found]
    if options.json:
        from evalkit.report.data import CompareData, print_data

        print_data(CompareData(one.name, other.name, tuple(notes), tuple(
            [_data(one, other, pair, each, options.detect, results) for pair, each in done])))
    else:
        _print(one, other, done, notes, options.detect, results)
    return Exit.OK


def _of_suite(side: Side, suite: str | None) -> Side:
    from attrs import evolve

    if suite is None:
        return side
    lines = [line for line in side.lines if line["suite"] == suite]
    if not lines:
        there = ", ".join(dict.fromkeys(line["suite"] for line in side.lines))
        raise UserError(f"{side.name} has no trial of a suite `{suite}`", hint=f"it has: {there}")
    return evolve(side, lines=lines)


def _compare(one: Side, other: Side, pair: Pair, options: argparse.Namespace) -> Comparison:
    from evalkit.report.compare import compare_lines

    lines = one.of(pair.one), other.of(pair.other)
    if one.run == other.run and {line["place"] for line in lines[0]} == {line["place"] for line in lines[1]}:
        raise UserError(f"{one.name} and {other.name} are the same trials",
                        hint="name two runs, or two subjects or arms of a run; see evalkit compare --help")
    checks = [name.strip() for name in options.check.split(",") if name.strip()]
    known = {check for of_side in lines for line in of_side for check in line["checks"]}
    if unknown := [name for name in checks if name not in known]:
        raise UserError(f"there is no check `{unknown[0]}` in these trials",
                        hint=f"there are: {', '.join(sorted(known))}")
    return compare_lines(*lines, arms=pair.arms, checks=checks)


def _named(side: Side, subject: str) -> str:
    lanes = ", ".join(dict.fromkeys(line["lane"] for line in side.of(subject)))
    arm = f", arm {side.arm}" if side.arm else ""
    return f"run {side.run}, {subject}{arm}, {lanes} lane"


def _checks(side: Side, line: Line, results: Path) -> Sequence[CheckRow]:
    from evalkit.report.past import checks_at

    return checks_at(results / side.run, line["place"])


def _print(one: Side, other: Side, done: Sequence[tuple[Pair, Comparison]], notes: Sequence[str], detect: float,
           results: Path) -> None:
    from evalkit.report.compare_text import add_comparison
    from evalkit.report.layout import Page, coloured, styled, terminal_width

    def look(name: str, line: Line) -> tuple[Sequence[CheckRow], str]:
        side = one if name == "A" else other
        return _checks(side, line, results), f"results/{side.run}/{line['place']}/result.json"

    page = Page(terminal_width(sys.stdout), styled if coloured(sys.stdout) else lambda text, _: text)
    for number, (pair, found) in enumerate(done):
        if number:
            page.lines += ["", "=" * min(page.width, 80), ""]
        names = (_named(one, pair.one), _named(other, pair.other))
        add_comparison(page, found, names, look, detect)
    if notes:
        page.lines.append("")
    for note in notes:
        page.add(f"note: {note}")
    print("".join(f"{line}\n" for line in page.lines), end="")


# ---- for programs ----
def _data(one: Side, other: Side, pair: Pair, found: Comparison, detect: float, results: Path) -> ComparisonData:
    from evalkit.report.data import CheckDifferenceData, ComparisonData, PowerData, SideData
    from evalkit.report.verdict_line import evidence, verdict_line

    known = evidence(found.values, detect) if found.rate is not None else None
    power = None if known is None else PowerData(detect, known.cases, round(known.trials, 3), known.needed,
                                                 known.more_cases, known.enough)
    checks = [CheckDifferenceData(check.difference.to_data(), None if check.holm is None else round(check.holm, 6))
              for check in found.checks]
    return ComparisonData(
        SideData(one.run, pair.one, one.arm, dict(found.counts[0])),
        SideData(other.run, pair.other, other.arm, dict(found.counts[1])),
        found.rate.to_data() if found.rate else None, tuple([each.to_data() for each in found.measures]),
        tuple(checks), tuple([_flip(flip, one, other, results) for flip in found.flips]), dict(found.apart), power,
        verdict_line(found, detect))


def _flip(flip: Flip, one: Side, other: Side, results: Path) -> FlipData:
    from evalkit.report.data import CheckEvidence, FlipData, TrialData

    def told(side: Side, line: Line) -> TrialData:
        checks = [CheckEvidence(check.id, check.status, check.why or check.said, tuple(check.evidence))
                  for check in _checks(side, line, results)]
        return TrialData(f"{side.run}/{line['place']}", line["status"], line["reason"], tuple(checks))

    return FlipData(flip.unit, flip.one, flip.other, flip.better, told(one, flip.line_one),
                    told(other, flip.line_other))
