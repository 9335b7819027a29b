"""Intervals and tests where few reports are expected, by the exact distribution: a sum of two binomials."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.statistics.binomial import binomial_tail
from hubbub_decoder.statistics.two_binomials import TwoBinomials


def rates(mechanism: str, epsilon: float, values: int) -> tuple[float, float]:
    odds = math.exp(epsilon)
    return (0.5, 1 / (odds + 1)) if mechanism == "unary" else (odds / (odds + values - 1), 1 / (odds + values - 1))


RARE = {
    "k-RR 8, 1000 values": rates("k-RR", 8, 1000),
    "k-RR 4, 1000 values": rates("k-RR", 4, 1000),
    "k-RR 4, 100 values": rates("k-RR", 4, 100),
    "k-RR 8, 2 values": rates("k-RR", 8, 2),
    "k-RR 4, 2 values": rates("k-RR", 4, 2),
    "k-RR 12, 10 values": rates("k-RR", 12, 10),
    "k-RR 1, 10 values": rates("k-RR", 1, 10),
    "unary 8": rates("unary", 8, 0),
    "unary 4": rates("unary", 4, 0),
}


def chances(n: int, holders: int, p: float, q: float) -> np.ndarray:
    """The exact chance of 0, 1, .., n supporting reports."""
    held, others = np.arange(holders + 1), np.arange(n - holders + 1)
    return np.convolve(stats.binom.pmf(held, holders, p), stats.binom.pmf(others, n - holders, q))


def counts(n: int, p: float, q: float) -> FloatArray:
    """The estimate for each number of supporting reports, 0 to n."""
    return np.asarray((np.arange(n + 1) - n * q) / (p - q), np.float64)


@pytest.mark.parametrize(("level", "least"), [(0.95, 0.935), (0.999, 0.9985), (0.99995, 0.9999)])
@pytest.mark.parametrize("setting", RARE)
def test_intervals_cover_at_every_level(setting: str, level: float, least: float) -> None:
    """From 1 report to 1,000, from no holder to all, coverage is never below: by steps above, never far below."""
    p, q = RARE[setting]
    for n in (1, 2, 10, 100, 500, 1000):
        low, high = TwoBinomials(n, p, q).interval(counts(n, p, q), 1 - level)
        for holders in sorted({x for x in (*range(12), 20, 40, 70, 100, 200, n // 2, n - 1, n) if 0 <= x <= n}):
            inside = (low <= holders) & (holders <= high)
            chance = chances(n, holders, p, q)
            assert chance[inside].sum() >= least, (n, holders)
            # Where steps do not matter coverage is not far above, either.
            if level == 0.95 and holders * p * (1 - p) + (n - holders) * q * (1 - q) > 16:
                assert chance[inside].sum() <= 0.97, (n, holders)


def test_a_normal_score_interval_covers_too_little_here() -> None:
    """The same check fails for Wilson's form with a normal quantile: 85 % of absent values at epsilon 8, n = 500."""
    (p, q), n, z = RARE["unary 8"], 500, 1.959964
    count = counts(n, p, q)
    accepted = np.abs(count) <= z * np.sqrt(n * q * (1 - q)) / (p - q)
    assert chances(n, 0, p, q)[accepted].sum() < 0.86
    low, high = TwoBinomials(n, p, q).interval(count, 0.05)
    assert chances(n, 0, p, q)[(low <= 0) & (high >= 0)].sum() > 0.95


@pytest.mark.parametrize("setting", RARE)
def test_the_saddlepoint_tails_are_right(setting: str) -> None:
    """Tails between 1e-12 and 0.2 are within a third of the exact ones, and most within 3 %."""
    p, q = RARE[setting]
    worst = []
    for n, holders in ((10, 2), (100, 5), (100, 50), (1000, 0), (1000, 30)):
        exact = np.cumsum(chances(n, holders, p, q)[::-1])[::-1]
        c = np.flatnonzero((exact > 1e-12) & (exact < 0.2))
        c = c[c > 0]
        x = np.full(len(c), float(holders))
        root = TwoBinomials(n, p, q)._root(np.asarray(c - 0.5, np.float64), x)
        worst += (np.abs(stats.norm.sf(root) / exact[c] - 1)).tolist()
    assert max(worst) < 0.34
    assert np.median(worst) < 0.03


def test_intervals_of_a_billion_reports() -> None:
    """At a size where rounding would show first, intervals are the normal ones to a part in ten thousand."""
    n, p, q = 10**9, 0.5, 0.1
    count = np.array([-3000.0, 0.0, 40_000.0, 10**8])
    low, high = TwoBinomials(n, p, q).interval(count, 0.05)
    spread = np.sqrt(np.clip(count, 0, n) * p * (1 - p) + (n - np.clip(count, 0, n)) * q * (1 - q)) / (p - q)
    assert high - low == pytest.approx(2 * 1.959964 * spread, rel=1e-3)


def test_the_binomial_tail_is_exact() -> None:
    """It is scipy's survival function from one below, at either end too, and for 1,000 trials of each."""
    successes = np.arange(-1, 13)
    assert binomial_tail(successes, 11, 0.3) == pytest.approx(stats.binom.sf(successes - 1, 11, 0.3))
    trials = np.arange(1000)
    assert binomial_tail(trials, trials, 0.5) == pytest.approx(0.5**trials)
