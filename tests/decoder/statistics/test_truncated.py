"""What holds of counts that are shown only where they are high: intervals cover among these, estimates do not lean.

Checked exactly: the number of supporting reports is a sum of two binomials, cut off below a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from hubbub_decoder.statistics.score import Moments
from hubbub_decoder.statistics.truncated import Truncated, normal_score

N = 200_000


def third(rate: float) -> float:
    return rate * (1 - rate) * (1 - 2 * rate)


def moments_of(n: int, p: float, q: float, rows: int) -> Moments:
    """Of counts where a holder's report supports a value with probability p, another's with q."""
    gain, each = p - q, np.ones(rows)
    null_third = each * n * third(q) / gain**3
    return Moments(
        n, each * n * q * (1 - q) / gain**2, each * (p * (1 - p) - q * (1 - q)) / gain**2, null_third, null_third,
        each * (third(p) - third(q)) / gain**3, 1 / gain,
    )  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """All numbers of supporting reports that are shown, and what is said of each."""

    p: float
    q: float
    support: np.ndarray
    count: np.ndarray
    moments: Moments
    truncated: Truncated

    def chances(self, holders: int) -> np.ndarray:
        """How likely each is where so many are holders, given that it is shown."""
        ours, base = window(holders, self.p)
        others, start = window(N - holders, self.q)
        at = self.support - base - start
        chance = np.convolve(ours, others)
        inside = (at >= 0) & (at < len(chance))
        shown = np.where(inside, chance[np.clip(at, 0, len(chance) - 1)], 0.0)
        return np.asarray(shown / shown.sum())

    @property
    def error(self) -> float:
        """The standard error where nobody holds the value."""
        return float(np.sqrt(self.moments.null_variance[0]))


def window(n: int, rate: float) -> tuple[np.ndarray, int]:
    """The probabilities of a binomial within ten standard deviations and a little, and where they begin."""
    reach = 10 * np.sqrt(n * rate * (1 - rate)) + 20
    numbers = np.arange(max(0, int(n * rate - reach)), min(n, int(n * rate + reach)) + 1)
    return np.asarray(stats.binom.pmf(numbers, n, rate)), int(numbers[0])


@cache
def shown(p: float, q: float) -> Shown:
    """Shown where its p-value is at most 1e-4, as one of 500 candidates."""
    least = int(stats.binom.isf(1e-4, N, q)) + 1
    support = np.arange(least, int(N * q + 25 * np.sqrt(N * q * (1 - q))))
    count = (support - N * q) / (p - q)
    moments = moments_of(N, p, q, len(count))
    edge = np.full(len(count), (least - 0.5 - N * q) / (p - q))
    return Shown(p, q, support, count, moments, Truncated(moments, edge))


RATES = pytest.mark.parametrize(("p", "q"), [(0.5, 0.1), (0.9, 0.25), (0.3, 0.01)])
ERRORS = (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 12)  # of standard errors, how many a truth is


@RATES
def test_intervals_cover_among_what_is_shown(p: float, q: float) -> None:
    """95 % intervals cover 94 to 96 % of the truths that are shown, exactly, however seldom these are shown."""
    those = shown(p, q)
    low, high = those.truncated.interval(those.count, 0.05)
    for errors in (0, *ERRORS):
        truth = int(errors * those.error)
        covered = those.chances(truth)[(low <= truth) & (truth <= high)].sum()
        assert 0.94 <= covered <= 0.96, errors


@RATES
def test_plain_intervals_do_not(p: float, q: float) -> None:
    """The same truths are covered by fewer than half of the intervals that forget why they are shown."""
    those = shown(p, q)
    low, high = those.moments.interval(those.count, 0.05)
    truth = int(2 * those.error)
    assert those.chances(truth)[(low <= truth) & (truth <= high)].sum() < 0.5


@RATES
def test_the_estimate_is_as_often_too_high_as_too_low(p: float, q: float) -> None:
    """Of what is shown 47 to 53 % have an estimate above the truth; near the threshold nearly all counts are above."""
    those = shown(p, q)
    median = those.truncated.median(those.count)
    for errors in ERRORS:
        truth = int(errors * those.error)
        chance = those.chances(truth)
        above = chance[median > truth].sum() + chance[median == truth].sum() / 2
        assert 0.47 <= above <= 0.53, errors
    few = those.chances(int(2 * those.error))
    assert few[those.count > 2 * those.error].sum() > 0.99


def test_far_above_the_threshold_nothing_changes() -> None:
    """Ten standard errors above it the interval is the plain one, and the estimate the count, to a thousandth."""
    those = shown(0.5, 0.1)
    far = those.count > those.truncated.least + 10 * those.error
    assert far.any()
    plain = np.array(those.moments.interval(those.count, 0.05))
    given_shown = np.array(those.truncated.interval(those.count, 0.05))
    assert np.abs(plain - given_shown)[:, far].max() < 1e-3 * those.error
    # The median of a skewed count is not its mean: a sixth of the skewness below it.
    assert np.abs(those.truncated.median(those.count) - those.count)[far].max() < 2e-2 * those.error


def test_a_count_at_its_threshold_says_nothing_of_a_holder() -> None:
    """Just above the threshold the lower end and the estimate are 0 exactly, and the upper end is hardly lowered."""
    those = shown(0.5, 0.1)
    low, high = those.truncated.interval(those.count, 0.05)
    assert low[0] == those.truncated.median(those.count)[0] == 0
    _, plain = those.moments.interval(those.count, 0.05)
    assert plain[0] - 0.5 * those.error < high[0] <= plain[0]


@settings(max_examples=30)
@given(
    st.floats(-3, 60), st.floats(0, 20), st.floats(0.001, 0.4), st.floats(0.05, 0.5), st.integers(1, 10**7),
    st.floats(0.001, 0.5),
)  # fmt: skip
def test_figures_are_in_order(least: float, above: float, q: float, gain: float, n: int, outside: float) -> None:
    """0 <= low <= estimate <= high <= n, the count is inside (but for the ends of all), and higher counts say more."""
    moments = moments_of(n, q + gain, q, 2)
    error = np.sqrt(moments.null_variance)
    edge = np.full(2, least) * error
    count = edge + np.array([above, above + 1]) * error
    truncated = Truncated(moments, edge)
    low, high = truncated.interval(count, outside)
    median = truncated.median(count)
    for figure in (low, median, high):
        assert figure[0] <= figure[1] + 1e-6 * n
        assert np.isfinite(figure).all()
    slack = 1e-9 * n
    assert (low >= 0).all()
    assert (low <= median + slack).all()
    assert (median <= high + slack).all()
    assert (high <= n).all()
    inside = np.clip(count, 0, n)
    assert (low <= inside + slack).all()
    assert (inside <= high + slack).all()


@given(st.floats(-5, 30), st.floats(0.002, 0.3))
def test_the_normal_score_is_that_of_a_gamma(score: float, skewness: float) -> None:
    """It is exceeded as often as a gamma of that skewness, to a thousandth of itself, on either side."""
    shape = 4 / skewness**2
    reached = shape + score * np.sqrt(shape)
    one = np.array([score])
    if reached > 0:
        tail = special.ndtr(-normal_score(one, np.array([skewness])))[0]
        assert tail == pytest.approx(special.gammaincc(shape, reached), rel=1e-3, abs=1e-280)
        mirrored = special.ndtr(normal_score(-one, np.array([-skewness])))[0]
        assert mirrored == pytest.approx(tail, rel=1e-9, abs=1e-280)


def test_where_nothing_is_random_the_count_is_the_truth() -> None:
    """Without any variance the interval is the count itself, and no figure is lost to a division by nothing."""
    zero = np.zeros(1)
    truncated = Truncated(Moments(10, zero, zero, zero, zero, zero, 0.0), np.array([2.0]))
    low, high = truncated.interval(np.array([6.0]), 0.05)
    assert [*low, *high, *truncated.median(np.array([6.0]))] == pytest.approx([6, 6, 6], abs=1e-6)
