"""The order of arms, and of units, in reports: that in which their suites declare them."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from urllib.parse import unquote

from evalkit.analysis.index import case_of

__all__ = ["arm_order", "place_order"]


def place_order(declared: Mapping[str, int]) -> Callable[[str], tuple[object, ...]]:
    """What sorts places of trials (SUBJECT/UNIT/trial-N): by subject and case, a case's units as they are declared, and
    trials by number. declared: the places of units among those of their case. Others, such as those of a case that is
    gone, stand behind them as another case has them, else by name.
    """

    @cache
    def elsewhere() -> dict[str, int]:
        """The places of tracks and arms in a case that has them."""
        found: dict[str, int] = {}
        for unit, at in declared.items():
            found.setdefault(unit.removeprefix(case_of(unit)), at)
        return found

    def order(place: str) -> tuple[object, ...]:
        unit, _, trial = place.rpartition("/")
        subject, _, name = unit.rpartition("/")
        plain, number = unquote(name), re.search(r"trial-([0-9]+)", trial)
        case, last = case_of(plain), len(declared)
        at = declared.get(plain, last)
        like = elsewhere().get(plain.removeprefix(case), last) if at == last and plain != case else 0
        return subject.split("/"), case, at, like, name, int(number[1]) if number else 0

    return order


def arm_order(found: Iterable[tuple[Hashable, str]]) -> dict[str, int]:
    """The places of arms, from trials whose cases have them in order: as the cases on most of them have them.

    found: of each trial what it has in common with those of the same case on other arms, and its arm.
    """
    arms: dict[Hashable, dict[str, None]] = {}
    for common, arm in found:
        arms.setdefault(common, {})[arm] = None
    order: dict[str, int] = {}
    for of_case in sorted(arms.values(), key=len, reverse=True):
        for arm in of_case:
            order.setdefault(arm, len(order))
    return order
