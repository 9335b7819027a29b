"""The stated errors of RAPPOR's regression: exactly the moments of a report, and intervals that cover what they say."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse, stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.rappor.google import Source
from hubbub_decoder.rappor.joint import Joint
from hubbub_decoder.rappor.lines import lines
from hubbub_decoder.rappor.observed import BitRates, Observed
from hubbub_decoder.rappor.outcome import estimates_of
from hubbub_decoder.rappor.regression import fit
from hubbub_decoder.rappor.screened import Screened
from hubbub_decoder.statistics.significance import skewed_tail

from tests.decoder.rappor.counts import draw, random_design

TIGHT = BitRates(one=0.6875, zero=0.5625, background=1 - (15 / 16) ** 2)  # epsilon 1.07 with two hash functions
LOOSE = BitRates(one=0.951, zero=0.049, background=1 - (15 / 16) ** 2)  # epsilon 11.9


def decoded(design: sparse.csc_array, sums: FloatArray, reports: FloatArray, rates: BitRates) -> Estimates:
    fitted = fit(design, sums, reports, rates)
    names = [str(i) for i in range(len(fitted.count))]
    return estimates_of(fitted, Source("counts", Fraction(3)), int(reports.sum()), names)


def in_order(estimates: Estimates, column: FloatArray) -> FloatArray:
    result = np.empty_like(column)
    result[[int(value) for value in estimates.value]] = column
    return result


@pytest.mark.parametrize("gain", [0.1, 0.8])
def test_moments_are_those_of_a_report(gain: float) -> None:
    """Variance and third moment, for holders and others, are what summing over all cohorts and bit vectors gives."""
    source = np.random.default_rng(4)
    cohorts, bits, d = 3, 4, 4
    rates = BitRates(one=0.15 + gain, zero=0.15, background=1 - (3 / 4) ** 2)
    design = random_design(cohorts, bits, 2, d, source)
    share = np.array([0.5, 0.3, 0.2, 0.0])
    reports = np.array([200.0, 300.0, 500.0])
    observed = Observed.of(np.ones((cohorts, bits)), reports, rates)
    weight = 1 / observed.variance(observed.expected(design, share))
    joint = Joint.of(design, observed, weight)
    assert not joint.undetermined.any()
    stated = lines(design, observed, share, joint.coefficients(design, observed, weight))
    ((_, coefficients),) = joint.coefficients(design, observed, weight)
    held, n = design.toarray(), reports.sum()
    moments = np.empty((2, d, d))  # second and third central moment of Z_i, given v
    for v, i in itertools.product(range(d), range(d)):
        values, chances = [], []
        for cohort in range(cohorts):
            rows = slice(cohort * bits, (cohort + 1) * bits)
            one = np.where(held[rows, v] == 1, rates.one, rates.zero)
            mean = float(coefficients[i, rows] @ (held[rows] @ share - rates.background))
            for vector in itertools.product((0, 1), repeat=bits):
                debiased = (np.array(vector) - rates.zero) / rates.gain - rates.background
                values.append((float(coefficients[i, rows] @ debiased) - mean) * n / reports[cohort])
                chances.append(float(np.prod(np.where(vector, one, 1 - one))) * reports[cohort] / n)
        centred = np.array(values) - np.dot(values, chances)
        moments[:, i, v] = np.dot(centred**2, chances), np.dot(centred**3, chances)
    for i in range(d):
        others = np.where(np.arange(d) == i, 0.0, share)
        second, third = moments[:, i] @ others / others.sum()
        assert stated.null_variance[i] == pytest.approx(n * second)
        assert stated.null_third[i] == pytest.approx(n * third)
        assert stated.slope[i] == pytest.approx(moments[0, i, i] - second)
        assert stated.third_slope[i] == pytest.approx(moments[1, i, i] - third)


def test_estimates_are_their_coefficients() -> None:
    """What errors are computed from is what counts are computed with: share = coefficients y, in both regressions."""
    source = np.random.default_rng(5)
    design = random_design(16, 16, 2, 60, source)
    holders = np.concatenate([np.full(5, 20_000), np.full(55, 100)])
    sums, reports = draw(design, 16, holders, LOOSE, source)
    observed = Observed.of(sums, reports, LOOSE)
    weight = 1 / observed.variance(np.full(len(observed.share), LOOSE.background))
    for solution in (Joint.of(design, observed, weight), Screened.of(design, observed, weight)):
        found = np.concatenate([block @ observed.share for _, block in solution.coefficients(design, observed, weight)])
        assert found == pytest.approx(solution.share, abs=1e-9)


@pytest.mark.parametrize(("rates", "n"), [(TIGHT, 20_000), (LOOSE, 60), (LOOSE, 1_000)])
def test_every_value_is_covered(rates: BitRates, n: int) -> None:
    """Nominal 95 % intervals cover 93 to 97 % of a third, an eighth, a hundredth and none of n reports, few or many."""
    source = np.random.default_rng(6)
    share = np.array([0.36, 0.24, 0.12, 0.12, 0.12, 0.03, 0.01, 0, 0, 0])
    holders = np.round(n * share).astype(np.int64)
    runs, covered, square, stated = 120, [], [], []
    for _ in range(runs):
        design = random_design(8, 16, 2, len(share), source)
        estimates = decoded(design, *draw(design, 8, holders, rates, source), rates)
        low, high = (in_order(estimates, end) for end in estimates.confidence_interval(0.95))
        covered.append((low <= holders) & (holders <= high))
        square.append((in_order(estimates, estimates.count) - holders) ** 2)
        stated.append(in_order(estimates, estimates.std_error) ** 2)
    # Five standard errors of 120 runs x 10 values beside 95 %, and of 120 x 1 below it: a false alarm in 1e6 each.
    assert 0.95 - 0.032 <= np.mean(covered) <= 0.95 + 0.032
    assert (np.mean(covered, axis=0) > 0.95 - 0.1).all()
    assert np.mean(stated) == pytest.approx(np.mean(square), rel=0.25)


def test_p_values_of_absent_values_are_uniform_enough() -> None:
    """At epsilon 12 and few reports counts are skewed: a p-value below 1 % is that rare, and a normal one is not."""
    source = np.random.default_rng(7)
    holders = np.array([30, 20, 10, *[0] * 9])
    skewed, normal = [], []
    for _ in range(250):
        design = random_design(8, 16, 2, len(holders), source)
        estimates = decoded(design, *draw(design, 8, holders, LOOSE, source), LOOSE)
        absent = holders[[int(value) for value in estimates.value]] == 0
        skewed.append(estimates.p_value[absent] < 0.01)
        normal.append((estimates.count / np.sqrt(estimates.null_variance))[absent] > 2.3263)
    # 2250 p-values, two or three of which move together: 0.01 with a standard error below 0.003.
    assert 0.002 < np.mean(skewed) < 0.024
    assert np.mean(normal) > 1.15 * np.mean(skewed)


def test_selection_keeps_its_promise() -> None:
    """Over 40 populations the false-discovery rate under "bh" and the family-wise error of the others are as asked."""
    source = np.random.default_rng(8)
    holders = np.concatenate([np.linspace(2_000, 40_000, 20), np.zeros(40)]).astype(np.int64)
    false_share, any_false, each = [], [], []
    for _ in range(40):
        design = random_design(32, 16, 2, 60, source)
        estimates = decoded(design, *draw(design, 32, holders, TIGHT, source), TIGHT)
        absent = holders[[int(value) for value in estimates.value]] == 0
        named = estimates.significant(0.1, "bh")
        assert named.sum() > 8
        false_share.append((named & absent).sum() / named.sum())
        any_false.append([bool((estimates.significant(0.1, how) & absent).any()) for how in ("holm", "bonferroni")])
        each.append((estimates.significant(0.1, "none") & absent).sum())
    # Expected 0.067, 0.067 and 4; five standard errors of 40 runs above, and below what no correction would give.
    assert np.mean(false_share) < 0.1 + 5 * 0.1 / np.sqrt(40)
    assert (np.mean(any_false, axis=0) < 0.1 + 5 * 0.3 / np.sqrt(40)).all()
    assert 3 - 0.5 < np.mean(each) < 5 + 0.5


def test_a_skewed_tail_is_type_three() -> None:
    """The tail of a count with these three moments is Pearson's type III's; of negative skewness the normal one."""
    skewness = np.array([3.0, 1.0, 0.1, 1e-3, 0.0, -0.5])
    count = np.array([4.0, 2.0, -1.0, 3.0, 3.0, 3.0])
    expected = [stats.pearson3.sf(z, max(skew, 0.0)) for z, skew in zip(count, skewness, strict=True)]
    assert skewed_tail(7 * count, np.full(6, 49.0), 343 * skewness) == pytest.approx(expected, rel=1e-6)
    certain = skewed_tail(np.array([1.0, -1.0]), np.zeros(2), np.zeros(2))
    assert certain.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("expected", [1e-6, 1e-4, 0.01, 0.1, 0.6, 1, 3, 10, 100])
def test_a_skewed_tail_is_a_poisson_s_where_steps_are_rare(expected: float) -> None:
    """For counts that are steps of size 2, so many on average, no tail is less than 0.87 of the exact one, however
    skewed; the lowest count, below the mean, is reached for certain, or as good as; without steps it would be likely to
    be taken for a rare one."""
    steps = np.arange(12.0) + np.floor(expected)
    steps = np.r_[0.0, steps] if expected < 1 else steps
    count, moments = 2 * (steps - expected), (np.full_like(steps, each * expected) for each in (4.0, 8.0))
    variance, third = moments
    exact = stats.poisson.sf(steps - 1, expected)
    found = skewed_tail(count, variance, third, 2.0)
    assert (found >= 0.87 * exact).all()
    if expected < 0.5:
        assert found[0] == 1
        assert skewed_tail(count[:1] - 1e-9, variance[:1], third[:1])[0] == 1
