"""Comparing two periods: what is asked, what is found, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder import ArgumentError, EstimateError, Estimates, Mean, compare, estimate, estimate_mean, partial
from hubbub_registry import Metric

from tests.decoder.reports import encode
from tests.registries import metric_of


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    return metric_of(tmp_path, "unary-encoding", epsilon=4)


def week(metric: Metric, a: int, b: int, seed: int) -> Estimates:
    return estimate(metric, partial(metric, encode(metric, ["a"] * a + ["b"] * b + ["c"] * 300, seed)))


def test_a_change_is_found_and_only_that(metric: Metric) -> None:
    """A value that moved by 20 standard errors comes first and is significant; those that stayed are not."""
    change = compare(week(metric, 900, 300, 1), week(metric, 300, 900, 2))
    assert set(change.value[:2]) == {"a", "b"}
    assert change.significant(1e-6).tolist() == [True, True, False, False, False]
    assert change.any_p_value < 1e-10
    a = change.value.index("a")
    assert change.low[a] < -0.4 < change.high[a] < 0
    assert change.difference[a] == change.after[a] - change.before[a]


def test_the_figures_are_those_of_both_estimates(metric: Metric) -> None:
    """Before and after are the estimates' frequencies by value, the variance the sum of theirs."""
    before, after = week(metric, 900, 300, 1), week(metric, 400, 500, 2)
    change = compare(before, after)
    for i, value in enumerate(change.value):
        j, k = before.value.index(value), after.value.index(value)
        assert change.before[i] == before.frequency[j]
        assert change.after[i] == after.frequency[k]
        assert change.std_error[i] == pytest.approx(
            np.hypot(before.std_error[j] / before.n, after.std_error[k] / after.n), rel=1e-12
        )
    assert change.n == (before.n, after.n) == (1500, 1200)


def test_forth_and_back_is_the_same(metric: Metric) -> None:
    """The other way round differences change their sign, ends their places, and p-values nothing."""
    one, other = week(metric, 900, 300, 1), week(metric, 700, 500, 2)
    forth, back = compare(one, other), compare(other, one)
    place = [back.value.index(value) for value in forth.value]
    assert forth.difference == pytest.approx(-back.difference[place])
    assert forth.low == pytest.approx(-back.high[place])
    assert forth.p_value == pytest.approx(back.p_value[place], rel=1e-6)


def test_a_fresh_sample_widens(metric: Metric) -> None:
    """Where each period's devices are a sample, errors grow by exactly the sample's, and p-values do not shrink."""
    before, after = week(metric, 900, 300, 1), week(metric, 800, 400, 2)
    fixed, sampled = compare(before, after), compare(before, after, sampled=True)
    place = [sampled.value.index(value) for value in fixed.value]
    added = sampled.std_error[place] ** 2 - fixed.std_error**2
    share = np.clip((fixed.before * before.n + fixed.after * after.n) / (before.n + after.n), 0, 1)
    assert added == pytest.approx(share * (1 - share) * (1 / before.n + 1 / after.n), rel=1e-2, abs=1e-8)
    assert (sampled.p_value[place] >= fixed.p_value * (1 - 1e-9)).all()
    assert (sampled.low[place] <= fixed.low).all()


def test_simultaneous_is_bonferroni(metric: Metric) -> None:
    """Intervals that cover all five values together at 95 % are those that each cover at 99 %."""
    before, after = week(metric, 900, 300, 1), week(metric, 800, 400, 2)
    together, each = compare(before, after, simultaneous=True), compare(before, after, level=0.99)
    assert together.low == pytest.approx(each.low, rel=1e-9)
    assert together.high == pytest.approx(each.high, rel=1e-9)


def test_moments_and_binomials_agree(metric: Metric) -> None:
    """Where many reports support a value the moments give the p-values that binomials give, to a fifth."""
    before, after = week(metric, 900, 300, 1), week(metric, 800, 400, 2)
    exact = compare(before, after)
    rough = compare(replace(before, rates=None), replace(after, rates=None))
    place = [rough.value.index(value) for value in exact.value]
    assert rough.p_value[place] == pytest.approx(exact.p_value, rel=0.2)


def test_two_definitions_compare(tmp_path: Path) -> None:
    """Periods reported with different epsilons compare: the noisier one weighs less."""
    loud, clear = (metric_of(tmp_path, "unary-encoding", epsilon=epsilon) for epsilon in (1, 6))
    change = compare(week(loud, 600, 600, 1), week(clear, 600, 600, 2))
    assert (change.p_value > 1e-6).all()


def test_two_metrics_or_mechanisms_do_not_compare(tmp_path: Path, metric: Metric) -> None:
    """Results of the same values, but of another metric or by another mechanism, are refused by both their names."""
    found = week(metric, 90, 30, 1)
    other = week(metric_of(tmp_path, "randomized-response", epsilon=4), 90, 30, 2)
    assert set(other.value) == set(found.value)
    with pytest.raises(EstimateError, match=r"one is of m \(unary-encoding\), the other of m \(randomized-response\)"):
        compare(found, other)
    with pytest.raises(EstimateError, match=r"one is of m \(unary-encoding\), the other of n \(.*one metric"):
        compare(found, replace(found, metric="n"))
    mean = Mean("m", "one-bit-mean", Fraction(3), 10, 5, Fraction(3, 4), Fraction(1, 4), (0, 10))
    with pytest.raises(EstimateError, match="different questions"):
        compare(replace(mean, metric="n"), mean)


def test_a_mean(tmp_path: Path) -> None:
    """A mean that moves from 10 to 60 is seen; one that stays is not; the difference's interval holds the truth."""
    metric = metric_of(tmp_path, "one-bit-mean", epsilon=2)
    low, high, again = (
        estimate_mean(metric, partial(metric, encode(metric, [value] * 1000, seed)))
        for value, seed in (("10", 1), ("60", 2), ("10", 3))
    )
    change = compare(low, high)
    assert (change.what, change.value) == ("mean", ("mean",))
    assert change.low[0] < 50 < change.high[0]
    assert change.p_value[0] < 1e-9
    assert compare(low, again).p_value[0] > 1e-3


def mean_false_alarms(n: tuple[int, int], p: Fraction, share: float) -> dict[float, float]:
    """The exact chance that a test at each alpha sees a change of a mean that is ``share`` up the range in both."""
    bases = [Mean("m", "one-bit-mean", Fraction(3), each, 0, p, 1 - p, (0, 10)) for each in n]
    laws = [stats.binom.pmf(np.arange(each + 1), each, float(1 - p + share * (2 * p - 1))) for each in n]
    wrong = {0.05: 0.0, 0.01: 0.0, 0.001: 0.0}
    for i in np.flatnonzero(laws[0] > 1e-5):
        for j in np.flatnonzero(laws[1] > 1e-5):
            p_value = compare(replace(bases[0], ones=int(i)), replace(bases[1], ones=int(j))).p_value[0]
            for alpha in wrong:
                wrong[alpha] += laws[0][i] * laws[1][j] * (p_value <= alpha)
    return wrong


def test_mean_false_alarms_are_bounded() -> None:
    """Over all outcomes of two batches of coins of one mean, a test at 0.05 to 0.001 is wrong at most so often."""
    for share in (0, 0.5):
        wrong = mean_false_alarms((25, 25), Fraction(3, 4), share)
        assert all(rate <= 1.05 * alpha for alpha, rate in wrong.items())
        assert wrong[0.05] > 0.01


@pytest.mark.parametrize("n", [(300, 300), (520, 900)])
def test_mean_false_alarms_are_bounded_where_few_ones_are_expected(n: tuple[int, int]) -> None:
    """So it is at epsilon 8 with all devices near one end: a batch without ones is no surer of its mean than another,
    which would make the same test wrong 3 times as often as 0.05 says, and 33 times as 0.001 says."""
    for share in (0, 0.002):
        wrong = mean_false_alarms(n, Fraction(2981, 2982), share)
        assert all(rate <= 1.05 * alpha for alpha, rate in wrong.items())


def test_it_prints(metric: Metric) -> None:
    """Printed, a change has its header with the global p-value, a line a value, and its notes."""
    change = compare(replace(week(metric, 900, 300, 1), notes=("odd",)), week(metric, 300, 900, 2), names=("x", "y"))
    text = str(change)
    assert "change of frequency from x (n = 1,500) to y (n = 1,500)" in text
    assert "note: odd" in text
    assert repr(change) == text
    assert len(change) == 5


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_is_a_probability(metric: Metric, level: float) -> None:
    """Another level or alpha is an EstimateError."""
    found = week(metric, 9, 9, 1)
    with pytest.raises(EstimateError, match="level"):
        compare(found, found, level=level)
    with pytest.raises(EstimateError, match="alpha"):
        compare(found, found).significant(level)


def test_bad_arguments(metric: Metric, tmp_path: Path) -> None:
    """Estimates of other values, means of another range, and what is no result at all, are refused by name."""
    found = week(metric, 9, 9, 1)
    with pytest.raises(EstimateError, match="2 values are in one estimate and not in the other, the first is 'e'"):
        compare(found, replace(found, value=("a", "b", "c", "d", "other")))
    wrong: list[Any] = [None, 3, "estimates"]
    for each in wrong:
        with pytest.raises(ArgumentError, match="two Estimates"):
            compare(found, each)
    mean = Mean("m", "one-bit-mean", Fraction(3), 10, 5, Fraction(3, 4), Fraction(1, 4), (0, 10))
    with pytest.raises(ArgumentError, match="two Means"):
        compare(found, mean)
    with pytest.raises(EstimateError, match="like with like"):
        compare(mean, replace(mean, bounds=(0, 11)))
