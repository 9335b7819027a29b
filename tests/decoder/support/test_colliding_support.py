"""The distribution of a sketch's counts: collisions and noise together, against enumeration and exact moments."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder.statistics.score import Moments
from hubbub_decoder.statistics.skewed import Tails
from hubbub_decoder.support.colliding import CollidingSupport


@pytest.mark.parametrize(("p", "q"), [(Fraction(7, 8), Fraction(1, 8)), (Fraction(7, 8), Fraction(1, 2))])
def test_the_tail_is_exact_where_all_others_hold_one_value(p: Fraction, q: Fraction) -> None:
    """Over every hash set (3 functions, 4 buckets) and every outcome of 5 reports, the tail is the exact chance."""
    n, hashes, width = 5, 3, 4
    exact = [Fraction(0)] * (n + 1)
    for shares in itertools.product(range(width), repeat=hashes):  # a bucket of 0 is the candidate's own
        rate = q + (p - q) * Fraction(shares.count(0), hashes)
        for c in range(n + 1):
            chance = Fraction(int(stats.binom(n, 0.5).pmf(c) * 2**n + 0.5)) * rate**c * (1 - rate) ** (n - c)
            exact[c] += chance / width**hashes
    tail = CollidingSupport(n, hashes, width, float(p), float(q), 1.0).tail(np.arange(n + 1))
    assert tail == pytest.approx([float(sum(exact[c:])) for c in range(n + 1)])


def test_no_frequent_value_has_the_lightest_tail() -> None:
    """The more of S there is, the heavier the tail; with none of it the tail is one binomial's."""
    support = np.arange(100, 400)
    tails = [CollidingSupport(2000, 16, 64, 0.98, 0.02, squares).tail(support) for squares in (0.0, 0.1, 0.5, 1.0)]
    for lighter, heavier in itertools.pairwise(tails):
        assert (lighter <= heavier).all()
    assert tails[0] == pytest.approx(stats.binom.sf(support - 1, 2000, 0.02 + 0.96 / 64))


@pytest.mark.parametrize(
    ("n", "hashes", "width", "t"), [(100, 64, 128, 0.018), (20_000, 64, 128, 0.018), (3000, 16, 32, 0.1)]
)
def test_the_third_moment_is_that_of_the_mixture(n: int, hashes: int, width: int, t: float) -> None:
    """With all others on one value it is the third central moment of the exact mixture, within the terms left out."""
    law = CollidingSupport(n, hashes, width, 1 - t, t, 1.0)
    shared = np.arange(hashes + 1)
    weight = stats.binom.pmf(shared, hashes, 1 / width)
    rate = t + (1 - 2 * t) * shared / hashes
    mean = n * rate
    centre = weight @ mean
    apart = mean - centre
    variance = n * rate * (1 - rate)
    exact = weight @ (n * rate * (1 - rate) * (1 - 2 * rate) + 3 * apart * variance + apart**3)
    unit = (width / (width - 1) / (1 - 2 * t)) ** 3
    third = law.third_moment(np.zeros(1))
    assert third.most[0] == pytest.approx(unit * exact, rel=0.03)
    assert third.least[0] == pytest.approx(third.most[0])
    spread = CollidingSupport(n, hashes, width, 1 - t, t, 0.04).third_moment(np.zeros(1))
    assert spread.least[0] < spread.most[0] < third.most[0]


@pytest.mark.parametrize("outside", [0.5, 0.05, 1e-6])
def test_quantiles_are_pearsons(outside: float) -> None:
    """Quantiles are those of scipy's Pearson type III at every skewness, and the normal ones without any."""
    skewness = np.array([-6.0, -1.234, -0.01, 0.0, 0.004321, 0.5, 1.77, 8.0])
    tails = Tails.of(outside)
    assert tails.upper(skewness) == pytest.approx(stats.pearson3.isf(outside / 2, skewness), rel=1e-4, abs=1e-4)
    assert tails.lower(skewness) == pytest.approx(stats.pearson3.ppf(outside / 2, skewness), rel=1e-4, abs=1e-4)


def test_without_skewness_and_steps_the_interval_is_wilsons() -> None:
    """Within [0, n] an end is z standard deviations (under the end itself) from the count."""
    count = np.array([100.0, 400.0, 900.0])
    flat = np.zeros(3)
    moments = Moments(1000, np.full(3, 500.0), np.full(3, -0.3), flat, flat, flat, 0.0)
    for end, sign in zip(moments.interval(count, 0.05), (1, -1), strict=True):
        assert sign * (count - end) == pytest.approx(1.959964 * np.sqrt(500 - 0.3 * end), rel=1e-5)
