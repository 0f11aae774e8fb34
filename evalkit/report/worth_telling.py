"""Which trials a table tells of where there are too many: each thing that went wrong once, before any again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from evalkit.report.layout import Page
from evalkit.report.row import Row

__all__ = ["add_untold", "worth_telling"]

_WORDS = {"pass": "passed", "fail": "failed", "error": "in error", "contaminated": "contaminated"}


def worth_telling(rows: Sequence[Row], most: int) -> set[int]:
    """Of trials in which something is amiss the places in `rows` of those to tell of, at most as many as `most`.

    First come those with a check that no earlier one had (a check has one name in all cases of a suite), then those
    with one that is new for their case, then the others, each in their order.
    """
    chosen: set[int] = set()
    by: tuple[Callable[[Row], Hashable], ...] = (lambda row: row.suite, lambda row: (row.suite, row.case))
    for whose in by:
        seen: set[Hashable] = {what for at in chosen for what in _amiss(rows[at], whose)}
        for at, row in enumerate(rows):
            if len(chosen) == most:
                return chosen
            if at not in chosen and not seen.issuperset(found := _amiss(row, whose)):
                chosen.add(at)
                seen.update(found)
    for at in range(len(rows)):
        if len(chosen) == most:
            break
        chosen.add(at)
    return chosen


def _amiss(row: Row, whose: Callable[[Row], Hashable]) -> list[Hashable]:
    """What is to be seen at a trial: its checks that are amiss, an end that is none, and why it has no verdict."""
    found: list[Hashable] = [(whose(row), check.id, check.status) for check in row.checks if check.amiss]
    if row.ended != "completed":
        found.append((whose(row), "", row.ended or row.reason))
    return found or [(whose(row), "", row.status)]


def add_untold(page: Page, rows: Sequence[Row], run: str, reports: Sequence[str]) -> None:
    """How many trials the table does not tell of, and what does. reports: paths of the run's reports that are there."""
    counts = {word: sum(row.status == status for row in rows) for status, word in _WORDS.items()}
    said = ", ".join([f"{count} {word}" for word, count in counts.items() if count])
    cases = len({(row.suite, row.case) for row in rows})
    page.lines.append("")
    page.add(f"… and {len(rows)} more trials like these ({said}), of {cases} case{'' if cases == 1 else 's'}.")
    page.add(f"`evalkit report {run} --all` tells of each.", "bold")
    page.lines += [f"  {path}" for path in reports]  # not folded: a path is to be copied
