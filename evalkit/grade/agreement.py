"""How far several votes agree: Krippendorff's alpha.

From Klaus Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section D, of which the tests have the
worked examples. Each unit (here a criterion) has the values that were given to it; who gave them does not matter, and
a unit may have fewer values than others. With d(v, w) the squared distance of two values, n all values of units that
have at least two, and m those of one unit:

    observed = 1/n * sum over units of (sum of d over the unit's ordered pairs of values) / (m - 1)
    expected = 1/(n (n - 1)) * (sum of d over the ordered pairs of all n values)
    alpha    = 1 - observed / expected

1: all agree. 0: no more than if the values had been dealt out by chance. Below 0: less than that. Where nothing can be
compared, or all values are equal so that nothing could have differed, it is not defined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from typing import TypeAlias

__all__ = ["alpha", "interval", "nominal"]

Distance: TypeAlias = Callable[[float, float], float]


def nominal(one: float, other: float) -> float:
    """The distance of values that are names: equal or not."""
    return float(one != other)


def interval(one: float, other: float) -> float:
    """The squared distance of values whose differences mean something, as those of scores do."""
    return (one - other) ** 2


def alpha(units: Iterable[Sequence[float]], distance: Distance = interval) -> float | None:
    """Krippendorff's alpha of the values that each unit was given, at most 1; None where it is not defined."""
    counted = [Counter(values) for values in units if len(values) > 1]
    every = sum(counted, Counter())
    n = every.total()
    among_all = _disagreement(every, distance)
    if not among_all:
        return None
    within = fsum(_disagreement(values, distance) / (values.total() - 1) for values in counted)
    return 1 - (n - 1) * within / among_all


def _disagreement(values: Counter[float], distance: Distance) -> float:
    """The sum of the distances of all ordered pairs of values."""
    kinds = list(values.items())
    return 2 * fsum(count * others * distance(value, other)
                    for place, (value, count) in enumerate(kinds) for other, others in kinds[place + 1 :])
