"""What the checks of a trial, or of all trials of a unit, came to: marks, counts, and lines that say why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from evalkit.report.layout import Page, chop, text_width
from evalkit.report.row import CheckRow, Row

__all__ = ["MARKS", "MARK_STYLES", "STYLES", "add_checks", "add_counts", "beside", "by_check", "counted",
           "mark_of", "mean_score"]

MARKS = {"pass": "✓", "fail": "✗", "skipped": "s", "error": "!"}
_SOMETIMES = "~"
"""The mark of a check that passed in some of a unit's trials and failed in others."""
STYLES = {"pass": "green", "fail": "red", "contaminated": "red", "error": "yellow",
          "not run": "yellow", "skipped": "dim"}
MARK_STYLES = {**{mark: STYLES[status] for status, mark in MARKS.items()}, _SOMETIMES: "yellow"}
_LONGEST_ID = 24


def counted(rows: Iterable[Row]) -> tuple[int, int]:
    """How many trials passed, and how many there are that count: those that passed or failed."""
    passed = failed = 0
    for row in rows:
        passed += row.status == "pass"
        failed += row.status == "fail"
    return passed, passed + failed


def beside(rows: Sequence[Row], *, why: bool = True) -> list[str]:
    """What is told apart from passes and fails: contaminated trials, errors, and what did not run.

    why: for which reason, and retries.
    """
    words = []
    if contaminated := sum(row.status == "contaminated" for row in rows):
        words.append(f"{contaminated} contaminated")
    if errors := sum(row.status == "error" for row in rows):
        words.append(f"{errors} in error")
    reasons = [row.reason for row in rows if row.status == "not run"]
    if reasons:
        words.append(f"{len(reasons)} not run{f' ({reasons[0]})' if why and len({*reasons}) == 1 else ''}")
    retries = sum(row.retries for row in rows)
    if why and retries:
        words.append(f"{retries} {'retry' if retries == 1 else 'retries'}")
    return words


def by_check(trials: Iterable[Row]) -> dict[str, list[CheckRow]]:
    """What each check came to in all trials that are not contaminated, in the order of the checks."""
    found: dict[str, list[CheckRow]] = {}
    for row in trials:
        if row.status == "contaminated":
            continue
        for check in row.checks:
            found.setdefault(check.id, []).append(check)
    return found


def mark_of(checks: Sequence[CheckRow]) -> str:
    """The mark of a check in all of a unit's trials: its own, where it always came to the same."""
    statuses = {check.status for check in checks}
    if len(statuses) > 1:
        statuses &= {"pass", "fail"}
    return MARKS[statuses.pop()] if len(statuses) == 1 else _SOMETIMES if statuses else MARKS["error"]


def mean_score(scores: Sequence[float]) -> str:
    return f"{sum(scores) / len(scores):.1f}" if scores else "-"


def add_counts(page: Page, trials: Sequence[Row], *, alone: bool = False) -> None:
    """How often each check passed in a unit's trials: of one among others where something is not as it should be."""
    checks = by_check(trials)
    if not checks or not (alone or any(row.amiss for row in trials)):
        return
    page.lines.append("")
    passed, of_all = counted(trials)
    said = ", ".join([f"{passed}/{of_all} trials passed", *beside(trials)])
    page.add(f"{trials[0].unit} ({trials[0].subject}): {said}")
    wide = min(_LONGEST_ID, max(map(len, checks)))
    counts = {name: f"{sum(check.status == 'pass' for check in of)}/"
                    f"{sum(check.status in ('pass', 'fail') for check in of)}" for name, of in checks.items()}
    room = max(map(len, counts.values()))
    for name, of in checks.items():
        apart = [f"{count} {word}" for status, word in (("error", "in error"), ("skipped", "skipped"))
                 if (count := sum(check.status == status for check in of))]
        if scores := [check.score for check in of if check.score is not None]:
            apart.append(f"mean score {mean_score(scores)}")
        odd = next((check for check in of if check.status != "pass"), of[0])
        said = odd.said if odd.why or odd.status == "pass" else ""  # else it is what came of one trial
        head = f" {counts[name]:>{room}}  " + (f"{name:<{wide}}  " if said else name)
        _add_marked(page, mark_of(of), head, said,
                    f"  ({', '.join(apart)})" if apart else "", advisory=of[0].advisory)


def add_checks(page: Page, row: Row, *, several: bool, results: str) -> None:
    """What each check of a trial came to; of a trial among several, only the checks that are amiss."""
    name = f"{row.unit} ({row.subject}, trial {row.trial})" if several else row.unit
    if not row.ended:
        page.add(f"{name}: {'not run' if row.status == 'not run' else 'no result'}: {row.reason}")
        if Path(failed := f"{results}/{row.place}/failed").is_dir():
            page.lines.append(f"  what it printed: {failed}")  # not folded: a path is to be copied
        return
    if several or (row.status == "error" and not any(check.status == "error" for check in row.checks)):
        page.add(f"{name}: {row.reason}")
    if row.note and not row.self_check:
        page.add(f"  {row.note}")
    if row.ended != "completed":
        page.add(f"  the agent's run: {row.ended}: {row.detail}")
    checks = [check for check in row.checks if check.amiss or not several]
    wide = min(_LONGEST_ID, max((len(check.id) for check in checks), default=0))
    for check in checks:
        _add_check(page, check, wide)
    for note in row.notes:
        page.add(f"  note: {note}")
    if any(check.amiss for check in checks):
        page.lines.append(f"  all evidence: {results}/{row.place}/result.json")  # not folded: a path is to be copied


def _add_check(page: Page, check: CheckRow, wide: int) -> None:
    """A line with the check's description, or what it came to; of one that is not just passed also why."""
    _add_marked(page, MARKS[check.status], f" {check.id:<{wide}}  ", check.said, advisory=check.advisory)
    if check.why:
        page.add(f"      {check.why}")
    for line in check.evidence:
        page.add(f"      | {line}", "dim")
    if check.more:
        page.add(f"      | … {check.more} more lines", "dim")


def _add_marked(page: Page, mark: str, head: str, said: str, tail: str = "", *, advisory: bool) -> None:
    """A mark and a text that is cut where the line ends; what follows it is not."""
    dim = "  (advisory)" if advisory else ""
    room = page.width - 2 - len(mark) - len(head) - len(tail) - len(dim)
    if text_width(said) > room:
        said = chop(said, max(1, room - 1))[0].rstrip() + "…"
    page.lines.append(f"  {page.paint(mark, MARK_STYLES[mark])}{head}{said}{tail}{page.paint(dim, 'dim')}".rstrip())
