"""Krippendorff's alpha, against the worked examples of his paper and against another implementation."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from evalkit.grade.agreement import alpha, interval, nominal

NONE = None
Row = Sequence[int | None]

BINARY: list[Row] = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0],
                     [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
"""Section A: two observers, ten units, two values."""
NAMES: list[Row] = [[1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1],
                    [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]]
"""Section B: two observers, twelve units, five names (a to e)."""
MISSING: list[Row] = [[1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
                      [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
                      [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
                      [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE]]
"""Sections C and D: four observers, twelve units, values that are missing."""


def units(rows: Sequence[Row]) -> list[list[float]]:
    """The values that each unit was given."""
    return [[value for value in column if value is not None] for column in zip(*rows, strict=True)]


def mid_ranks(values: list[list[float]]) -> list[list[float]]:
    """The values' ranks. The paper's distance of ordinal values is that of their mid-ranks, taken as an interval."""
    counts = Counter(value for unit in values if len(unit) > 1 for value in unit)
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = below + counts[value] / 2
        below += counts[value]
    return [[ranks[value] for value in unit] for unit in values if len(unit) > 1]


def test_binary_values() -> None:
    assert alpha(units(BINARY), nominal) == pytest.approx(0.095, abs=0.0005)
    assert alpha(units(BINARY), interval) == alpha(units(BINARY), nominal), "of two values any distance is the same"


def test_names() -> None:
    assert alpha(units(NAMES), nominal) == pytest.approx(0.692, abs=0.0005)


def test_any_number_of_observers_and_missing_values() -> None:
    """The paper's figures for its reliability data by each metric."""
    assert alpha(units(MISSING), nominal) == pytest.approx(0.743, abs=0.0005)
    assert alpha(units(MISSING), interval) == pytest.approx(0.849, abs=0.0005)
    assert alpha(mid_ranks(units(MISSING)), interval) == pytest.approx(0.815, abs=0.0005)
    assert alpha(units(MISSING), lambda one, other: ((one - other) / (one + other)) ** 2) == pytest.approx(
        0.797, abs=0.0005)


def test_a_unit_with_one_value_counts_nothing() -> None:
    """Nobody else valued it, so there is nothing to agree on."""
    assert alpha([[1, 2], [5, 5], [3]]) == alpha([[1, 2], [5, 5]])


def test_its_ends() -> None:
    """1 where all agree, below 0 where they disagree more than by chance."""
    assert 1.0 == alpha([[1, 1, 1], [9, 9, 9]])
    assert alpha([[0, 10], [10, 0]]) == pytest.approx(-0.5)


@pytest.mark.parametrize("values", [[], [[]], [[3], [4]], [[5, 5], [5, 5, 5]], [[7.5, 7.5]]])
def test_it_is_not_defined(values: list[list[float]]) -> None:
    """One vote, or no variation: that is neither agreement nor chance."""
    assert alpha(values) is None


def test_another_implementation_finds_the_same() -> None:
    """The package `krippendorff`, on random tables with gaps."""
    krippendorff = pytest.importorskip("krippendorff", reason="pip install krippendorff: another implementation")
    dice = random.Random(5)
    for level, distance in (("nominal", nominal), ("interval", interval)):
        for _table in range(30):
            wide = dice.randint(2, 12)
            rows: list[list[int | None]] = [
                [dice.choice([None, *range(11)]) for _column in range(wide)] for _row in range(dice.randint(2, 9))]
            found = alpha(units(rows), distance)
            if found is not None:
                table = [[float("nan") if value is None else float(value) for value in row] for row in rows]
                assert found == pytest.approx(krippendorff.alpha(reliability_data=table, level_of_measurement=level))
