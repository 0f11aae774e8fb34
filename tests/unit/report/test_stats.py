"""Statistics equal published values, or such as are counted by hand or from all arrangements there are."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import combinations, product
from statistics import fmean

import pytest

from evalkit.errors import UserError
from evalkit.report import stats
from evalkit.report.stats import (
    Interval,
    cases_to_see,
    difference,
    holm,
    mcnemar,
    mean_interval,
    mean_t,
    median_interval,
    paired_permutation,
    pass_at,
    pass_hat,
    permutation,
    smallest_to_see,
    trials_to_see,
    welch,
    wilson,
)

SLEEP = [-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4]
"""Cushny and Peebles 1905, as Student 1908 has them: hours of sleep by two drugs, the differences of ten patients."""
SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Darwin's maize, crossed less self-fertilised, eighths of an inch: Fisher, The Design of Experiments, 1935, ch. 3."""


@pytest.mark.parametrize(("passed", "count", "low", "high"), [
    (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)])
def test_wilson(passed: int, count: int, low: float, high: float) -> None:
    """Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3."""
    found = wilson(passed, count)
    assert (low, high, "Wilson interval") == (round(found.low, 4), round(found.high, 4), found.method)


def test_wilson_is_scipys() -> None:
    """Of every count up to 30, but for the last digits."""
    from scipy.stats import binomtest

    for count in range(2, 31):
        for passed in range(count + 1):
            found, theirs = wilson(passed, count), binomtest(passed, count).proportion_ci(0.95, method="wilson")
            assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


@pytest.mark.parametrize("values", [SLEEP, SLEEP_1, SLEEP_2, MAIZE, [0.1, 0.3], [1e9, 1e9 + 1, 1e9 + 3]])
def test_a_mean_by_t_is_scipys(values: list[float]) -> None:
    from scipy.stats import ttest_1samp

    found, theirs = mean_t(values), ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_a_mean_by_t() -> None:
    """R's `t.test(extra ~ group, data = sleep, paired = TRUE)`: mean -1.58, 95 % from -2.4598858 to -0.7001142."""
    found = mean_t(SLEEP)
    assert (-1.58, -2.4598858, -0.7001142, 10) == (
        round(found.value, 6), round(found.low, 7), round(found.high, 7), found.count)
    assert found.settled


def test_two_means_by_welch() -> None:
    """R's `t.test(extra ~ group, data = sleep)`: 95 % from -3.3654832 to 0.2054832."""
    found = welch(SLEEP_1, SLEEP_2)
    assert (-1.58, -3.3654832, 0.2054832) == (round(found.value, 6), round(found.low, 7), round(found.high, 7))
    assert not found.settled


def test_means_of_cases_are_clustered_by_case() -> None:
    """The interval of cases' means is that of the cluster-robust standard error (Liang and Zeger 1986; Miller 2024,
    equation 4) with the correction G/(G-1), written out here as its sum over clusters; so has it statsmodels.
    """
    from scipy.stats import t as student
    from statsmodels.regression.linear_model import OLS

    cases = [[1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]]
    values = [value for case in cases for value in case]
    mean = fmean(values)
    sums = [sum(value - mean for value in case) for case in cases]
    error = math.sqrt(sum(each * each for each in sums)) / len(values) * math.sqrt(len(cases) / (len(cases) - 1))
    reach = error * student.ppf(0.975, len(cases) - 1)
    found = mean_t([fmean(case) for case in cases])
    assert (found.low, found.high) == pytest.approx((mean - reach, mean + reach))
    groups = [number for number, case in enumerate(cases) for _ in case]
    fitted = OLS(values, [1.0] * len(values)).fit(cov_type="cluster", use_t=True, cov_kwds={"groups": groups})
    assert [found.low, found.high] == pytest.approx(list(fitted.conf_int()[0]))


@pytest.mark.parametrize("found", [
    wilson(1, 1), mean_t([0.5]), welch([1.0], [0.0, 1.0]), difference([1.0], [0.2, 0.3])])
def test_one_value_says_nothing_of_its_spread(found: Interval) -> None:
    """No interval is drawn from it, and nothing is settled by it."""
    assert (-math.inf, math.inf, False, False) == (found.low, found.high, found.drawn, found.settled)


def test_values_that_do_not_vary_have_no_t_interval() -> None:
    """A standard error of 0 would be an interval of no width, which says more than is known. Wilson's tells."""
    assert not mean_t([1.0] * 24).drawn
    assert not mean_t([-1.1, 0.1 - 1.2, 1.1 - 2.2]).drawn
    assert not welch([1.0, 1.0], [0.0, 0.0]).drawn
    assert welch([1.0, 1.0, 1.0], [0.0, 0.3, 0.1]).settled, "one of two may not vary"
    assert wilson(24, 24).low == pytest.approx(24 / (24 + 1.959964**2), abs=1e-5)


def test_a_median_of_few_goes_from_the_lowest_to_the_highest() -> None:
    """Up to five values no interval of 95 % exists that asks nothing of their distribution."""
    assert Interval(0.5, 0.2, 0.9, 3) == median_interval([0.9, 0.2, 0.5])
    assert Interval(0.4, 0.1, 0.9, 5) == median_interval([0.1, 0.9, 0.3, 0.4, 0.5])
    assert Interval(1.0, 1.0, 1.0, 1) == median_interval([1.0])


def test_a_median_of_many_has_the_exact_interval() -> None:
    """Of six values all of them (96.9 %); of ten the second to the ninth (97.9 %): order statistics of the binomial."""
    assert (1, 6) == (median_interval([3, 1, 2, 6, 5, 4]).low, median_interval([3, 1, 2, 6, 5, 4]).high)
    found = median_interval(list(range(1, 11)))
    assert (5.5, 2, 9) == (found.value, found.low, found.high)
    assert sum(math.comb(10, k) for k in range(2, 9)) / 2**10 >= 0.95


def test_means_and_differences_have_bootstrap_intervals() -> None:
    """The same ones each time; of values that do not vary they are points."""
    found = mean_interval([0.0, 0.5, 1.0, 0.5])
    assert found == mean_interval([0.0, 0.5, 1.0, 0.5])
    assert 0.0 < found.low < 0.5 < found.high < 1.0
    assert Interval(0.5, 0.5, 0.5, 2) == mean_interval([0.5, 0.5])
    assert Interval(0.25, 0.25, 0.25, 2) == difference([1.0, 1.0], [0.75, 0.75, 0.75])
    apart = difference([0.9, 1.0, 0.95], [0.1, 0.2, 0.15])
    assert 0.6 < apart.low < 0.8 < apart.high < 1.0


def test_the_bootstrap_is_near_the_exact_distribution() -> None:
    """Of three values there are 27 resamples; the percentiles of all of them are those that were drawn."""
    values = (0.0, 0.3, 1.0)
    means = sorted(fmean(sample) for sample in product(values, repeat=3))
    found = mean_interval(values)
    assert (means[0], means[-1]) == pytest.approx((found.low, found.high), abs=0.01)


@pytest.mark.parametrize(("count", "passed", "k"), [(5, 2, 2), (5, 0, 3), (6, 6, 2), (7, 3, 1), (7, 3, 5), (4, 1, 4)])
def test_k_trials_of_n(count: int, passed: int, k: int) -> None:
    """Both estimates are the shares of all choices of k trials from those there were."""
    trials = [True] * passed + [False] * (count - passed)
    chosen = list(combinations(trials, k))
    assert sum(any(some) for some in chosen) / len(chosen) == pytest.approx(pass_at(k, passed, count))
    assert sum(all(some) for some in chosen) / len(chosen) == pytest.approx(pass_hat(k, passed, count))


@pytest.mark.parametrize(("only_first", "only_second"), [(1, 9), (0, 5), (3, 3), (0, 0), (12, 2)])
def test_mcnemar(only_first: int, only_second: int) -> None:
    """The two-sided binomial test of the pairs that differ, summed up by hand; 1 and 9 of 10: 22/1024."""
    count, least = only_first + only_second, min(only_first, only_second)
    expected = min(1.0, 2 * sum(math.comb(count, some) for some in range(least + 1)) / 2**count)
    assert mcnemar(only_first, only_second).p == pytest.approx(expected)
    assert 22 / 1024 == mcnemar(1, 9).p


def test_a_paired_permutation() -> None:
    """Fisher 1935, section 21: of 32,768 arrangements of the maize 1,726 are as far from 0 or farther (5.267 %)."""
    assert 1726 / 32768 == paired_permutation(MAIZE).p
    assert 1.0 == paired_permutation([0.0, 0.0]).p


def test_a_permutation_of_many_is_drawn_at_random() -> None:
    """The same arrangements each time; never a p of 0."""
    found = paired_permutation([1.0] * 30)
    assert found == paired_permutation([1.0] * 30)
    assert 0 < found.p < 0.001


def test_a_permutation_of_two_samples() -> None:
    """Of the 20 ways to choose three of six, 8 set them as far apart as 2 of 3 and none of 3, or the other way."""
    assert 8 / 20 == permutation([1, 0, 1], [0, 0, 0]).p
    assert 1.0 == permutation([1, 1], [1, 1]).p


def test_holm() -> None:
    """Four hypotheses, by the definition: the i-th smallest p times (4 - i + 1), never below one before it."""
    assert [0.03, 0.06, 0.06, 0.02] == pytest.approx(holm([0.01, 0.04, 0.03, 0.005]))
    assert [] == holm([])


def test_power() -> None:
    """G*Power 3.1's manual, means of two dependent groups: an effect of 0.421637 and 50 pairs have 0.832114."""
    effect = 0.421637
    assert cases_to_see(effect, 1.0, power=0.832114) == 50
    assert cases_to_see(effect, 1.0, power=0.8322) == 51


def test_how_many_trials_it_takes() -> None:
    """Variance of trials is lessened by trials, that of cases is not: then it takes more cases."""
    assert trials_to_see(0.1, 24, 0.25) == 9
    assert trials_to_see(0.1, 24, 0.5) == 18
    assert trials_to_see(0.1, 24, 0.25, between=0.02) == 32
    assert trials_to_see(0.1, 24, 0.25, between=0.03) is None
    assert trials_to_see(0.5, 24, 0.25) == 1
    assert trials_to_see(0.1, 1, 0.25) is None
    shown = [smallest_to_see(24, trials, 0.25) for trials in (8, 9)]
    assert shown[0] > 0.1 >= shown[1]  # type: ignore[operator]
    assert smallest_to_see(1, 9, 0.25) is None
    sized = math.sqrt(0.25 / 9)
    assert cases_to_see(0.1, sized) <= 24 < cases_to_see(0.1, math.sqrt(0.25 / 8))


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it; a few values need none."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "statsmodels.stats.multitest", None)
    assert 2 == median_interval([1, 2, 3]).value
    for needy in (lambda: mean_interval([1, 2]), lambda: wilson(1, 2), lambda: holm([0.1])):
        with pytest.raises(UserError) as caught:
            needy()
        assert "evalkit[stats]" in (caught.value.hint or "")


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    """Neither by the module nor by the question whether it is there."""
    code = ("import sys; from evalkit.report import stats; stats.available(); "
            "print(sorted({'numpy', 'scipy', 'statsmodels', 'pandas'} & set(sys.modules)))")
    assert "[]\n" == subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert stats.available()
