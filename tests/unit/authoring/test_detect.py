"""How many trials it takes: where the spread comes from, and what is told."""

from __future__ import annotations

import argparse

import pytest

from evalkit.authoring.compare import read_points
from evalkit.authoring.detect import Detected, detect_text, per_case, spread
from tests.unit.report.test_compare import line


def test_the_spread_of_several_trials() -> None:
    """The mean of the cases' unbiased variances: of pass, fail 1/2, of pass, pass 0. Single trials add nothing."""
    lines = [line("a"), line("a", "fail", 2), line("b"), line("b", number=2), line("c"), line("a", "error", 3)]
    assert (0.25, "4 earlier trials of 2 cases") == spread(lines)


def test_the_spread_of_single_trials() -> None:
    """That of trials with their pass rate, by Laplace's rule: of 2 of 3, 3/5 and 2/5."""
    found, basis = spread([line("a"), line("b"), line("c", "fail")])
    assert (0.24, "the pass rate of 3 earlier trials") == (round(found, 6), basis)
    agree, _ = spread([line("a"), line("a", number=2)])
    assert 0.1875 == agree, "trials that agree do not show that all would: 3/4 and 1/4"


def test_without_earlier_trials() -> None:
    """The largest that a pass and a fail can have."""
    assert (0.25, "no earlier trial: the largest there can be") == spread([line("a", "error")])


def test_a_case_of_several_units() -> None:
    """Its value is the mean over them: of each of three units it takes a third of the trials."""
    assert 1.0 == per_case(["a", "b"])
    assert 1 / 3 == pytest.approx(per_case(["a", "a", "a", "b", "b", "b"]))
    assert (1 + 1 / 2) / 2 == per_case(["a", "b", "b"])
    _, basis = spread([line("a", unit="a+with"), line("a", "fail", 2, unit="a+with")])
    assert "2 earlier trials of 1 unit" == basis
    told = detect_text([Detected("claude m", 8, 24, 0.2, "so", 1, 0.5, 15, 720, None)], 0.1)
    assert "  8 cases (24 units) would need about 15 trials of each unit on each side (720 agent runs)" in told


@pytest.mark.parametrize(("text", "share"), [("10", 0.1), ("10pp", 0.1), ("2.5 points", 0.025), ("5%", 0.05)])
def test_points(text: str, share: float) -> None:
    """A difference of pass rates is told in points."""
    assert share == pytest.approx(read_points(text))


@pytest.mark.parametrize("text", ["", "0", "0pp", "100", "-5", "ten", "nan", "1e1"])
def test_no_points(text: str) -> None:
    """Nothing else is."""
    with pytest.raises(argparse.ArgumentTypeError, match="such as 10pp"):
        read_points(text)


def test_what_is_told() -> None:
    """Trials, what they cost, and what those that are asked for would show."""
    found = Detected("claude m", 24, 24, 0.125, "72 earlier trials of 24 cases", 3, 0.172, 9, 432, 518.4)
    alone = Detected("claude n", 1, 1, 0.25, "no earlier trial", 1, None, None, None, None)
    assert detect_text([found, alone], 0.1) == [
        "", "to see a difference of 10 points between two sides", "(paired by case, 5 % two-sided, power 80 %):",
        "claude m", "  24 cases would need about 9 trials each on each side (432 agent runs, about $518.40)",
        "  asked for are 3, which would show 17 points",
        "  the spread of a trial is from 72 earlier trials of 24 cases",
        "claude n", "  one case says nothing of others: this wants several",
        "taken for alike in all cases; where it differs it takes more (`evalkit compare` tells)"]
