"""Statistics of results, from scipy and statsmodels: intervals, tests, and the trials it takes to see a difference.

One place for all of them, so that every output names its method in the same words. What is drawn:

* `wilson`: a pass rate of independent trials (Wilson 1927; Newcombe 1998 compares the methods);
* `mean_t`: a mean, by Student's t. Where values are means of cases, that is the standard error clustered by case:
  a case is what was sampled, its trials are not independent of each other;
* `median_interval`: a median, exact, by the order statistics of the binomial;
* `mean_interval`, `difference`: bootstrap percentiles, of the arms of a run;
* `pass_at`, `pass_hat`: the unbiased estimates of Chen et al. 2021 (arXiv:2107.03374) and Yao et al. 2024
  (arXiv:2406.12045);
* `mcnemar`, `paired_permutation`, `permutation`, `holm`: tests, and their correction;
* `trials_to_see`: the power of the paired t test, with the variance split as in Miller 2024 (arXiv:2411.00640, ch. 5).

An interval of one value is never drawn: one trial says nothing of how far another would lie. Everything heavy is
imported where it is used. The two intervals that a run's own reports have take the quantiles from scipy.special and the
rest from the textbook: importing scipy.stats takes a second more, in every run that an agent or a model works in.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from evalkit.errors import UserError
from evalkit.values import Value, field

__all__ = ["ALPHA", "BOOTSTRAP", "CONFIDENCE", "MCNEMAR", "MEDIAN", "PERMUTATION", "POWER", "STUDENT", "UNPAIRED",
           "WELCH", "WILSON", "Interval", "Test", "available", "cases_to_see", "difference", "holm", "mcnemar",
           "mean_interval", "mean_of", "mean_t", "median_interval", "paired_permutation", "pass_at", "pass_hat",
           "permutation", "smallest_to_see", "trials_to_see", "welch", "wilson"]

CONFIDENCE = 0.95
ALPHA = 1 - CONFIDENCE
POWER = 0.8
_RESAMPLES = 9999
_MOST_EXACT = 2**16
"""Arrangements that a permutation test goes through one by one; of more it draws 9,999, the same ones each time."""
WILSON = "Wilson interval"
STUDENT = "t interval"
WELCH = "Welch's t interval"
MEDIAN = "exact interval of the median"
BOOTSTRAP = "bootstrap percentiles, 9,999 resamples"
MCNEMAR = "McNemar's exact test"
PERMUTATION = "paired permutation test over cases"
UNPAIRED = "permutation test of one case's trials"


class Interval(Value):
    """A number with its interval, and of how many values. method: how the interval was drawn; "" where none was.

    Without an interval low and high are not finite, or, of values that do not vary, the number itself.
    """

    value: float
    low: float
    high: float
    count: int
    method: str = field(default="", eq=False)

    @property
    def drawn(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high

    @property
    def settled(self) -> bool:
        """Whether an interval is there, and does not hold 0."""
        return self.drawn and (self.low > 0 or self.high < 0)


class Test(NamedTuple):
    """What a test of "there is no difference" came to. method: its name, with what it was made of."""

    p: float
    method: str


def available() -> bool:
    """Whether intervals can be drawn here. Nothing is imported."""
    return find_spec("scipy") is not None


def _scipy() -> Any:
    """Raises UserError where the extra is not installed."""
    try:
        from scipy import stats
    except ImportError:
        raise _lacks_scipy() from None
    return stats


def _quantiles() -> Any:
    """scipy's special functions: `ndtri` and `stdtrit` are quantiles. Raises UserError as `_scipy` does."""
    try:
        from scipy import special
    except ImportError:
        raise _lacks_scipy() from None
    return special


def _lacks_scipy() -> UserError:
    return UserError("intervals need scipy, which is not installed", hint="pip install 'evalkit[stats]' has it")


def _lacks_statsmodels() -> UserError:
    return UserError("tests of differences need statsmodels, which is not installed",
                     hint="pip install 'evalkit[stats]' has it")


def mean_of(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return math.fsum(values) / len(values)


# ---- intervals ----
def _none(value: float, count: int) -> Interval:
    return Interval(value, -math.inf, math.inf, count)


def wilson(passed: int, count: int) -> Interval:
    """A rate of at least one trial, as a share, with its Wilson interval; of one trial without."""
    if count < 2:
        return _none(passed / count, count)
    rate, failed = passed / count, count - passed
    z = float(_quantiles().ndtri(1 - ALPHA / 2))
    centre = (passed + z * z / 2) / (count + z * z)
    reach = z * math.sqrt(passed * failed / count + z * z / 4) / (count + z * z)
    return Interval(rate, centre - reach if passed else 0.0, centre + reach if failed else 1.0, count, WILSON)


def mean_t(values: Sequence[float]) -> Interval:
    """The mean of at least one value, with its t interval; without where there is one value, or all are equal."""
    mean = mean_of(values)
    if len(values) < 2 or _alike(values):
        return _none(mean, len(values))
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    reach = float(_quantiles().stdtrit(len(values) - 1, 1 - ALPHA / 2)) * spread / math.sqrt(len(values))
    return Interval(mean, mean - reach, mean + reach, len(values), STUDENT)


def _alike(values: Sequence[float]) -> bool:
    """Whether values are equal but for what floating point makes of them."""
    return max(values) - min(values) <= 1e-9 * max(map(abs, values))


def welch(these: Sequence[float], those: Sequence[float]) -> Interval:
    """The mean of these less the mean of those, which are independent of them, with Welch's t interval."""
    apart, fewest = mean_of(these) - mean_of(those), min(len(these), len(those))
    if fewest < 2 or (_alike(these) and _alike(those)):
        return _none(apart, fewest)
    with warnings.catch_warnings():  # scipy doubts samples that do not vary: one of the two may
        warnings.simplefilter("ignore", RuntimeWarning)
        found = _scipy().ttest_ind(these, those, equal_var=False).confidence_interval(CONFIDENCE)
    return Interval(apart, float(found.low), float(found.high), fewest, WELCH)


def median_interval(values: Sequence[float]) -> Interval:
    """The median of at least one value, with the exact interval that asks nothing of the values' distribution.

    With fewer than six values there is none of 95 %: then it goes from the lowest to the highest.
    """
    from statistics import median

    low, high = min(values), max(values)
    if len(values) < math.ceil(1 - math.log2(1 - CONFIDENCE)):
        return Interval(median(values), low, high, len(values), "from the lowest to the highest value")
    exact = _scipy().quantile_test(values, p=0.5).confidence_interval(CONFIDENCE)
    return Interval(median(values), float(exact.low), float(exact.high), len(values), MEDIAN)


def mean_interval(values: Sequence[float]) -> Interval:
    """The mean of at least one value, with its bootstrap interval."""
    low, high = _bootstrap((values,), lambda sample, axis: sample.mean(axis=axis))
    return Interval(mean_of(values), low, high, len(values), BOOTSTRAP)


def difference(these: Sequence[float], those: Sequence[float]) -> Interval:
    """The mean of these less the mean of those, which are independent of them, with its bootstrap interval."""
    low, high = _bootstrap((these, those), lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis))
    return Interval(mean_of(these) - mean_of(those), low, high, min(len(these), len(those)), BOOTSTRAP)


def _bootstrap(samples: Sequence[Sequence[float]], statistic: Any) -> tuple[float, float]:
    """Of samples that do not vary the interval is a point: all resamples are the sample."""
    if all(len(set(sample)) == 1 for sample in samples):
        found = mean_of(samples[0]) - (mean_of(samples[1]) if len(samples) > 1 else 0.0)
        return found, found
    if any(len(sample) == 1 for sample in samples):  # one value says nothing of how far others may lie
        return -math.inf, math.inf
    interval = _scipy().bootstrap(samples, statistic, confidence_level=CONFIDENCE, n_resamples=_RESAMPLES,
                                  method="percentile", rng=0).confidence_interval
    return float(interval.low), float(interval.high)


# ---- k of n ----
def pass_at(k: int, passed: int, count: int) -> float:
    """The chance that at least one of k trials passes, estimated from `passed` of `count` >= k trials."""
    return 1.0 - math.comb(count - passed, k) / math.comb(count, k)


def pass_hat(k: int, passed: int, count: int) -> float:
    """The chance that all of k trials pass, estimated from `passed` of `count` >= k trials."""
    return math.comb(passed, k) / math.comb(count, k)


# ---- tests ----
def mcnemar(only_first: int, only_second: int) -> Test:
    """Whether pairs that differ go one way. only_first, only_second: how many passed on that side alone."""
    try:
        from statsmodels.stats.contingency_tables import mcnemar as test
    except ImportError:
        raise _lacks_statsmodels() from None
    found = test([[0, only_first], [only_second, 0]], exact=True)
    return Test(min(1.0, float(found.pvalue)), MCNEMAR)


def paired_permutation(differences: Sequence[float]) -> Test:
    """Whether differences of pairs are 0 in the mean: each could as well have had the other sign."""
    if not any(differences):
        return Test(1.0, PERMUTATION)
    found = _scipy().permutation_test((differences,), lambda sample, axis: sample.mean(axis=axis), vectorized=True,
                                      permutation_type="samples", n_resamples=_resamples(2.0 ** len(differences)),
                                      rng=0)
    return Test(float(found.pvalue), PERMUTATION)


def permutation(these: Sequence[float], those: Sequence[float]) -> Test:
    """Whether two independent samples have the same mean: each value could as well belong to the other one."""
    if len({*these, *those}) == 1:
        return Test(1.0, UNPAIRED)
    found = _scipy().permutation_test(
        (these, those), lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis), vectorized=True,
        n_resamples=_resamples(float(math.comb(len(these) + len(those), len(these)))), rng=0)
    return Test(float(found.pvalue), UNPAIRED)


def _resamples(arrangements: float) -> int:
    return _MOST_EXACT if arrangements <= _MOST_EXACT else _RESAMPLES


def holm(ps: Sequence[float]) -> list[float]:
    """p values, corrected for their number by Holm's method (1979)."""
    if not ps:
        return []
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError:
        raise _lacks_statsmodels() from None
    return [float(p) for p in multipletests(ps, method="holm")[1]]


# ---- power ----
def trials_to_see(effect: float, cases: int, within: float, between: float = 0.0, power: float = POWER) -> int | None:
    """How many trials of each case on each side show a difference of `effect`, with this power at 5 % two-sided.

    within: the variance of the difference of one trial a side, about its case's own difference (for pass rates p(1-p)
    of one side plus that of the other). between: the variance of the cases' own differences, which more trials do not
    lessen. None where no number of trials does: then it takes more cases.
    """
    if cases < 2:
        return None
    room = _spread(effect, cases, power) ** 2 - between
    return max(1, math.ceil(within / room - 1e-9)) if room > 0 else None


def smallest_to_see(cases: int, trials: float, within: float, between: float = 0.0,
                    power: float = POWER) -> float | None:
    """The smallest difference that so many trials of each case on each side show; None of fewer than two cases."""
    if cases < 2:
        return None
    found = _power().solve_power(nobs=cases, alpha=ALPHA, power=power)
    return float(found) * math.sqrt(between + within / trials)


def cases_to_see(effect: float, spread: float, power: float = POWER) -> int:
    """How many cases show a difference of `effect` where the cases' differences have this standard deviation > 0."""
    found = _power().solve_power(effect_size=effect / spread, alpha=ALPHA, power=power)
    return max(2, math.ceil(float(found)))


def _spread(effect: float, cases: int, power: float) -> float:
    """The largest standard deviation of cases' differences with which `effect` is seen."""
    return effect / float(_power().solve_power(nobs=cases, alpha=ALPHA, power=power))


def _power() -> Any:
    try:
        from statsmodels.stats.power import TTestPower
    except ImportError:
        raise _lacks_statsmodels() from None
    return TTestPower()
