"""`evalkit history CASE`: what a case came to in all runs, the oldest first."""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.analysis.index import case_of
from evalkit.authoring.columns import columns, one_line
from evalkit.authoring.project import find_root
from evalkit.errors import Exit, UserError

if TYPE_CHECKING:
    from evalkit.report.data import HistoryEntry
    from evalkit.report.rates import Group, Line
    from evalkit.report.stats import Interval

__all__ = ["ABOUT", "arguments", "main"]

_WIDTH = 80
ABOUT = "what a case came to in all runs, the oldest first"
_EPILOG = """\
examples:
  evalkit history kanban-board                 all runs that are kept under results/
  evalkit history dual-feed-table@ts           one of its units
  evalkit history kanban-board --model sonnet  the models whose names hold this
  evalkit history kanban-board --all           known answers and dry runs too
  evalkit history kanban-board --json

A run keeps what its trials came to last: a label of its own (`run=NAME`) keeps them beside each other. Earlier agent
runs of a label are in the store (`evalkit store ls`). Intervals need the extra evalkit[stats].
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("case", metavar="CASE", help="a case, or a unit of it: case@track+arm")
    parser.add_argument("--model", metavar="PART", default="", help="only subjects whose names hold this")
    parser.add_argument("--all", action="store_true", help="known answers and dry runs too")
    parser.add_argument("--json", action="store_true", help="plain data")


def main(options: argparse.Namespace) -> int:
    """Print the history. Raises `UserError` where no run has the case."""
    from evalkit.report import stats

    entries = _entries(find_root() / "results", options)
    draw = stats.available()
    if options.json:
        from evalkit.report.data import HistoryData, print_data

        print_data(HistoryData(options.case, tuple([_data(entry, draw=draw) for entry in entries])))
    else:
        print("\n".join(_page(entries, draw=draw)))
    return Exit.OK


class _Entry:
    """The trials of a unit with a subject in a run, at least one."""

    def __init__(self, run: str, unit: str, group: Group, lines: Sequence[Line]) -> None:
        self.run = run
        self.unit = unit
        self.group = group
        self.lines = lines
        self.finished = max(str(line.get("finished_at") or "") for line in lines)
        self.versions = [*dict.fromkeys(version for line in lines if (version := line.get("agent_version")))]

    def rate(self, *, draw: bool) -> Interval | None:
        from evalkit.report.rates import unit_rate

        return unit_rate(self.lines, draw=draw)

    @property
    def beside(self) -> dict[str, int]:
        """Trials that neither passed nor failed, by status."""
        return dict(Counter(line["status"] for line in self.lines if line["status"] not in ("pass", "fail")))

    @property
    def failed(self) -> dict[str, int]:
        """How often each check failed."""
        return dict(Counter(check for line in self.lines for check, status in line["checks"].items()
                            if status == "fail" and line["status"] != "contaminated"))

    def total(self, name: str) -> float | None:
        known = [float(line[name]) for line in self.lines if line.get(name) is not None and line["ended"]]
        return sum(known) if known else None

    @property
    def score(self) -> float | None:
        scores = [score for line in self.lines if line["status"] != "contaminated" for score in line["judge"]]
        return sum(scores) / len(scores) if scores else None


def _entries(results: Path, options: argparse.Namespace) -> list[_Entry]:
    """Those of the case, the oldest first. Raises UserError where there is none."""
    from evalkit.report.past import lines_of_run, runs
    from evalkit.report.rates import group_of, is_known

    found: dict[tuple[str, str, Group], list[Line]] = {}
    names: dict[str, None] = {}
    for run in runs(results):
        with contextlib.suppress(UserError):  # a summary that cannot be read has no history
            for line in lines_of_run(results / run):
                names[line["case"]] = None
                group = group_of(line)
                if options.case in (line["case"], line["unit"]) and options.model in group.subject and (
                        options.all or not is_known(line)):
                    found.setdefault((run, line["unit"], group), []).append(line)
    if not found:
        raise _nothing(options, list(names))
    entries = [_Entry(run, unit, group, lines) for (run, unit, group), lines in found.items()]
    return sorted(entries, key=lambda entry: (entry.unit, entry.group.subject, entry.group.lane, entry.finished))


def _nothing(options: argparse.Namespace, names: Sequence[str]) -> UserError:
    case = case_of(options.case)
    if case in names:
        return UserError(f"no run has a trial of an agent on `{options.case}`",
                         hint="--all tells of known answers and dry runs too" if not options.all else
                         "evalkit list has the units of a case")
    near = get_close_matches(case, names, 1)
    return UserError(f"no run has a case `{options.case}`",
                     hint=f"do you mean `{near[0]}`?" if near else f"doit run case:{case} makes a trial of it")


# ---- for people ----
def _page(entries: Sequence[_Entry], *, draw: bool) -> list[str]:
    from evalkit.report.layout import duration, folded

    page: list[str] = []
    parts: dict[tuple[str, Group], list[_Entry]] = {}
    for entry in entries:
        parts.setdefault((entry.unit, entry.group), []).append(entry)
    for (unit, group), members in parts.items():
        page += [*([""] if page else []), *folded(one_line(f"{unit}, {group._replace(arm='').shown}"), _WIDTH)]
        rows = [("run", "finished", "passed", "judge", "turns", "cost", "time", "agent")]
        for entry in members:
            turns, cost, seconds = entry.total("turns"), entry.total("cost"), entry.total("seconds")
            rows.append((one_line(entry.run), entry.finished[:16].replace("T", " ") or "-", _passed(entry, draw=draw),
                         "-" if entry.score is None else f"{entry.score:.1f}",
                         "-" if turns is None else f"{turns:.0f}", "-" if cost is None else f"${cost:.2f}",
                         "-" if seconds is None else duration(seconds), one_line(", ".join(entry.versions))))
        lines = columns(rows, gap=2)
        below = max(map(len, lines)) > _WIDTH  # then the agents' versions stand below their lines
        head, *told = columns([row[:-1] for row in rows], gap=2) if below else lines
        page.append(head)
        for entry, line, row in zip(members, told, rows[1:], strict=True):
            page += [line, *([f"  agent: {row[-1]}"] if below and row[-1] else [])]
            if entry.failed:
                failed = "failed: " + ", ".join(
                    name + (f" ({number} of {len(entry.lines)})" if len(entry.lines) > 1 else "")
                    for name, number in entry.failed.items())
                page += ["  " + line for line in folded(failed, _WIDTH - 2)]
    several = any(len(entry.lines) > 1 for entry in entries)
    if several:
        page += ["", "passed: of the trials that passed or failed" + (
            ", with the 95 % Wilson interval" if draw else "; intervals need scipy:"),
            "no interval is drawn from one trial" if draw else "pip install 'evalkit[stats]'"]
    return page


def _passed(entry: _Entry, *, draw: bool) -> str:
    from evalkit.report.rates import passed_of

    rate = entry.rate(draw=draw)
    said = []
    if rate is not None:
        passed, graded = passed_of(entry.lines)
        interval = f" [{100 * rate.low:.0f} %, {100 * rate.high:.0f} %]" if rate.drawn else ""
        said.append(f"{passed}/{graded}{interval}")
    words = {"error": "in error"}
    return ", ".join([*said, *(f"{number} {words.get(status, status)}" for status, number in entry.beside.items())])


# ---- for programs ----
def _data(entry: _Entry, *, draw: bool) -> HistoryEntry:
    from evalkit.report.data import HistoryEntry, interval_data

    rate = entry.rate(draw=draw)
    return HistoryEntry(
        entry.run, entry.unit, *entry.group, entry.finished or None, len(entry.lines),
        None if rate is None else interval_data(rate), entry.beside, entry.failed, entry.score, entry.total("turns"),
        entry.total("cost"), entry.total("seconds"), tuple(entry.versions))
