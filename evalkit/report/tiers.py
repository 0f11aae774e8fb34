"""Pass rates per tier: how many of a tier's trials passed, by who was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evalkit.report.layout import Page, text_width
from evalkit.report.row import Row

__all__ = ["Rate", "add_tiers", "rates", "rates_of_rows", "with_sums"]

_GAP = "   "
_ALL = "all tiers"


class Rate(NamedTuple):
    """graded: trials that passed or failed. One in error, or that did not run, says nothing about who is measured."""

    passed: int
    graded: int

    @property
    def shown(self) -> str:
        share = f"{100 * self.passed / self.graded:.0f}%" if self.graded else "-"
        return f"{self.passed}/{self.graded} {share:>4}"


def rates(trials: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, Rate]]:
    """By tier, then by subject. trials: of each its tier, who was measured, and its status."""
    found: dict[str, dict[str, list[int]]] = {}
    for tier, subject, status in trials:
        counts = found.setdefault(tier, {}).setdefault(subject, [0, 0])
        counts[0] += status == "pass"
        counts[1] += status in ("pass", "fail")
    return {tier: {subject: Rate(*counts) for subject, counts in of_tier.items()} for tier, of_tier in found.items()}


def rates_of_rows(rows: Iterable[Row]) -> dict[str, dict[str, Rate]]:
    """Of trials whose case has a tier. Where several suites have tiers, these are called `SUITE TIER`."""
    tiered = [row for row in rows if row.tier]
    several = len({row.suite for row in tiered}) > 1
    return rates((f"{row.suite} {row.tier}" if several else row.tier, row.subject, row.status) for row in tiered)


def add_tiers(page: Page, rows: Iterable[Row]) -> None:
    """A line for each tier, the subjects side by side; below each other where there is not room for that."""
    found = with_sums(rates_of_rows(rows))
    if not found:
        return
    subjects = list(dict.fromkeys(subject for of_tier in found.values() for subject in of_tier))
    first = max(text_width(tier) for tier in (*found, "pass rate"))
    widths = [max(text_width(subject), *(len(of_tier[subject].shown) for of_tier in found.values()
                                         if subject in of_tier)) for subject in subjects]
    page.lines.append("")
    if first + sum(len(_GAP) + width for width in widths) > page.width and len(subjects) > 1:
        for subject in subjects:
            page.add(f"pass rate of {subject}", "bold")
            page.lines += [f"{_left(tier, first)}{_GAP}{of_tier[subject].shown}" for tier, of_tier in found.items()
                           if subject in of_tier]
        return
    page.add("".join([_left("pass rate", first), *(_GAP + _right(subject, width)
                                                   for subject, width in zip(subjects, widths, strict=True))]), "bold")
    for tier, of_tier in found.items():
        cells = [_GAP + (of_tier[subject].shown if subject in of_tier else "").rjust(width)
                 for subject, width in zip(subjects, widths, strict=True)]
        page.lines.append("".join([_left(tier, first), *cells]).rstrip())


def with_sums(found: Mapping[str, Mapping[str, Rate]]) -> dict[str, Mapping[str, Rate]]:
    """The same, and where there are several tiers a last line for all of them."""
    if len(found) < 2:
        return dict(found)
    every: dict[str, list[Rate]] = {}
    for of_tier in found.values():
        for subject, rate in of_tier.items():
            every.setdefault(subject, []).append(rate)
    sums = {subject: Rate(sum(rate.passed for rate in of_subject), sum(rate.graded for rate in of_subject))
            for subject, of_subject in every.items()}
    return {**found, _ALL: sums}


def _left(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def _right(text: str, width: int) -> str:
    return " " * (width - text_width(text)) + text
