"""The metrics of units, tracks and pairs of tracks, with figures that are reckoned by hand."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit.report.data import DifferenceData, IntervalData
from evalkit.report.layout import Page
from evalkit.report.metrics import group_metrics
from evalkit.report.metrics_data import PairMetrics, RunMetrics, TrackMetrics
from evalkit.report.metrics_text import add_metrics
from evalkit.report.rates import Group
from tests.unit.report.metrics_trials import told

NEVER: dict[str, Any] = {"first_pass": False, "failed": 2, "runs": 2, "retries_to_green": None, "turns_to_green": None,
                         "tail": None}
LATE: dict[str, Any] = {"first_pass": False, "failed": 2, "runs": 3, "retries_to_green": 2, "turns_to_green": 6,
                        "tail": 4, "turns": 10}


def track_of(*trials: Any, draw: bool = True) -> TrackMetrics:
    group, = group_metrics(trials, ("ts", "zig"), draw=draw)
    track, = group.tracks
    return track


def test_a_unit_of_three_trials() -> None:
    """One green at once, one after two retries, one never."""
    track = track_of(
        told("ts", number=1, tokens=100, teaching=0), told("ts", number=2, tokens=200, teaching=2, **LATE,
                                                           violations={"NS1004": 3, "TS2322": 1}),
        told("ts", number=3, tokens=None, cost=None, status="fail", teaching=1, **NEVER, violations={"NS1004": 2},
             lines=200, dropped={"refused": 1}))
    unit, = track.units
    figures = unit.figures
    # Wilson for 2 of 3, z = 1.96: centre (2/3 + z²/6) / (1 + z²/3) = 0.5731, half of the width 0.3654
    assert figures.success is not None
    assert (2 / 3, 0.2077, 0.9385, 3) == pytest.approx(
        (figures.success.value, figures.success.low, figures.success.high, figures.success.count), abs=1e-4)
    assert figures.first_pass is not None
    assert (0.333333, 3) == (figures.first_pass.value, figures.first_pass.count)
    # of the two that got green: 0 and 2 retries, mean 1, standard error 1, t(1 degree) = 12.7062; nothing is below 0
    assert IntervalData(1.0, 0.0, 13.706205, 2, "t interval") == figures.retries_to_green
    assert (4.0, 2.5) == (figures.turns_to_green and figures.turns_to_green.value, figures.tail and figures.tail.value)
    assert (1.0, 150.0, 0.5) == (figures.teaching and figures.teaching.value, figures.tokens and figures.tokens.value,
                                 figures.cost and figures.cost.value)
    assert (3, 1, 0, 400) == (figures.trials, figures.never_green, figures.unchecked, figures.lines)
    assert {"NS1004": 5, "TS2322": 1} == figures.violations
    assert {"NS1004": 12.5, "TS2322": 2.5} == figures.per_1000  # of 100 + 100 + 200 lines
    assert (15.0, {"markup": 0.15}, {"refused": 1}) == (figures.all_per_1000, figures.shares, figures.dropped)


def test_a_track_counts_each_case_alike() -> None:
    """Case a: two of two passed at once; case b: one trial, which failed. The means: 1 and 0."""
    track = track_of(told("ts", "a", 1), told("ts", "a", 2), told("ts", "b", 1, status="fail", **NEVER))
    found = track.figures.success
    assert found is not None
    assert (0.5, 0.0, 1.0, 2, "t interval") == (found.value, found.low, found.high, found.count, found.method)
    assert (2, 3) == (track.cases, track.figures.trials)


def test_single_trials_of_cases_are_told_by_wilson() -> None:
    found = track_of(told("ts", "a"), told("ts", "b"), told("ts", "c", status="fail")).figures.success
    assert found is not None
    assert (3, "Wilson interval") == (found.count, found.method)


def test_nothing_is_drawn_from_one_trial_or_known_answers() -> None:
    for trials in ([told("ts")], [told("ts", number=1, known=True), told("ts", number=2, status="fail", known=True)]):
        found = track_of(*trials).figures.success
        assert found is not None
        assert (None, None) == (found.low, found.method)


def test_a_trial_without_checks_and_lines() -> None:
    """What nobody can say is no figure."""
    figures = track_of(told("ts", touched=False, first_pass=None, runs=0, retries_to_green=None, turns_to_green=None,
                            tail=None, lines=0, shares={}, tokens=None, cost=None)).figures
    assert (None, None, None, None, None, {}) == (
        figures.first_pass, figures.retries_to_green, figures.tokens, figures.cost, figures.all_per_1000,
        figures.per_1000)
    assert (1, 0) == (figures.unchecked, figures.never_green)


def test_tracks_are_paired_by_case() -> None:
    """Only cases that are on both: of a and b the turns on zig are 1 and 3 more, of c nobody knows."""
    trials = [told("zig", "a", turns=4), told("ts", "a", turns=3), told("ts", "b", turns=3), told("zig", "b", turns=6),
              told("zig", "c", turns=50), told("ts", "b", 2, turns=3)]
    group, = group_metrics(trials, ("ts", "zig"))
    assert ["ts", "zig"] == [track.track for track in group.tracks]
    pair, = group.pairs
    assert ("ts", "zig", ("a", "b")) == (pair.a, pair.b, pair.cases)
    # mean 2, standard deviation √2, standard error 1, t(1 degree) = 12.7062
    assert DifferenceData("turns", 2, 3.0, 5.0, IntervalData(2.0, -10.706205, 14.706205, 2, "t interval"),
                          None, None) == measure(pair, "turns")
    assert 0.0 == measure(pair, "violations_per_1000").difference.value
    assert (0.2, 0.2) == (measure(pair, "share markup").a, measure(pair, "share markup").b)


def measure(pair: PairMetrics, name: str) -> DifferenceData:
    return next(found for found in pair.measures if found.name == name)


def test_a_rate_differs_by_100_points_at_most() -> None:
    """Differences 0 and -1: mean -1/2, and a t interval that would go on to -6.9 and 5.9."""
    group, = group_metrics([told("ts", "a"), told("ts", "b"), told("zig", "a"), told("zig", "b", status="fail")],
                           ("ts", "zig"))
    found = measure(group.pairs[0], "success").difference
    assert (-0.5, -1.0, 1.0) == (found.value, found.low, found.high)


def test_a_single_pair_has_its_trials() -> None:
    """3 and 5 turns against 9 and 11: both have variance 2, so the standard error is √2; t(2 degrees) = 4.3027."""
    group, = group_metrics([told("ts", number=1, turns=3), told("ts", number=2, turns=5),
                            told("zig", number=1, turns=9), told("zig", number=2, turns=11)], ("ts", "zig"))
    found = measure(group.pairs[0], "turns").difference
    assert (6.0, "Welch's t interval") == (found.value, found.method)
    assert pytest.approx(6 - 4.302653 * 2**0.5, abs=1e-5) == found.low


def test_subjects_and_arms_are_told_apart() -> None:
    other = Group("claude acme/large", "local", "")
    assert 2 == len(group_metrics([told("ts"), told("zig", group=other)], ()))
    assert all(not group.pairs for group in group_metrics([told("ts"), told("zig", group=other)], ()))


def test_the_text_fits_80_columns() -> None:
    """Also with long names, hostile labels, and much to tell."""
    trials = [told("ts", f"a-case-with-a-rather-long-name-{number}", tokens=1_234_567, cost=12.5, **LATE,
                   violations={f"no member named {'x' * 60}": 3, "\x1b[2J": 1}, dropped={"refused": 2})
              for number in range(3)]
    trials += [told("zig", "a-case-with-a-rather-long-name-1", status="fail", by_output=1, before_edit=2, gaps=4,
                    **NEVER)]
    run = RunMetrics("latest", 0.95, group_metrics(trials, ("ts", "zig")), {"p" * 90: "it left no transcript"})
    page = Page(80, lambda text, _: text)
    add_metrics(page, run)
    text = "\n".join(page.lines)
    assert max(map(len, page.lines)) <= 80, text
    assert "\x1b" not in text
    for said in ("track ts", "zig less ts, over 1 case on both tracks", "trials never green: 1", "dropped, refused: 6",
                 "cannot be read: 4",
                 "nothing is told of 1 trial"):
        assert said in text, text
