"""How high a count had to be to be listed; and that listed intervals cover, whatever the correction."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hubbub_decoder import Estimates
from hubbub_decoder.discovery.discovered import Discovered
from hubbub_decoder.discovery.selection import largest_p_values, least_support, listed_from
from hubbub_decoder.statistics.binomial import FalseSupport
from hubbub_decoder.statistics.significance import CORRECTIONS, Correction, adjusted
from hubbub_registry import Metric
from hubbub_simulations.definitions import define

p_values = st.lists(st.floats(1e-6, 1.0) | st.floats(1e-6, 0.05), min_size=1, max_size=12)


@pytest.mark.parametrize("correction", CORRECTIONS)
@given(p_values, st.sampled_from([0.01, 0.05, 0.2]))
def test_the_largest_p_value_is_the_last_that_is_listed(
    correction: Correction, p_value: list[float], alpha: float
) -> None:
    """At it a string is listed beside the same others, and just above it the string is not."""
    given_p = np.array(p_value)
    listed = adjusted(given_p, correction) <= alpha
    largest = largest_p_values(given_p, listed, alpha, correction)
    assert largest.shape == (listed.sum(),)
    for place, most in zip(np.flatnonzero(listed), largest, strict=True):
        changed = given_p.copy()
        changed[place] = most * (1 - 1e-9)
        assert np.array_equal(adjusted(changed, correction) <= alpha, listed)
        changed[place] = most * (1 + 1e-9)
        assert not (adjusted(changed, correction) <= alpha)[place]


def test_the_others_decide_how_high_a_count_must_be() -> None:
    """By Holm's procedure a string that others step over may be listed at less, and one that holds them up at more."""
    p_value = np.array([0.001, 0.012, 0.03])
    listed = np.ones(3, np.bool_)
    assert largest_p_values(p_value, listed, 0.05, "holm").tolist() == pytest.approx([0.05 / 2, 0.05 / 2, 0.05])
    assert largest_p_values(p_value, listed, 0.05, "bh").tolist() == pytest.approx([0.05] * 3)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.floats(0.01, 0.9), st.floats(1e-9, 0.9))
def test_the_least_support_is_the_first_to_pass(support: list[int], rate: float, largest: float) -> None:
    """It is the smallest number of reports whose tail is at most the largest p-value, by going through all of them."""
    law = FalseSupport(60, rate)
    every = np.arange(62)
    first = int(np.flatnonzero(law.tail(every) <= largest)[0])
    passing = np.array([each for each in support if each >= first], np.int64)
    assert least_support(law, passing, np.full(len(passing), largest)).tolist() == [first] * len(passing)


N, P, Q = 200_000, 0.6, 0.1
NEAR = np.repeat([200, 300, 400, 500], 40)  # near the threshold, at some 500: a standard error is 270
HOLDERS = np.concatenate([NEAR, np.repeat(3000, 20), np.zeros(100, np.int64)])


@cache
def metric() -> Metric:
    return define("local-hashing", epsilon=3)


def estimates(support: np.ndarray) -> Estimates:
    """Of strings that so many of N reports support; ``value`` is the place in ``support``."""
    gain, each = P - Q, np.ones(len(support))
    count = np.asarray((support - N * Q) / gain, np.float64)
    third_p, third_q = (rate * (1 - rate) * (1 - 2 * rate) / gain**3 for rate in (P, Q))
    return Estimates.of(
        metric(), N, list(map(str, range(len(support)))), count=count, projected=count,
        null_variance=each * N * Q * (1 - Q) / gain**2, slope=(P * (1 - P) - Q * (1 - Q)) / gain**2,
        null_third=N * third_q, third_slope=third_p - third_q, step=1 / gain,
        support=support, null_law=FalseSupport(N, Q),
    )  # fmt: skip


def one_draw(rng: np.random.Generator) -> Estimates:
    """Of strings that so many hold as ``HOLDERS`` says."""
    return estimates(rng.binomial(HOLDERS, P) + rng.binomial(N - HOLDERS, Q))


def places(of: Estimates) -> np.ndarray:
    return np.array(of.value, np.int64)


def many_lists(correction: Correction) -> tuple[Discovered, np.ndarray]:
    """The strings that 150 lists hold, as one; and how many hold each. Intervals know of their own row alone."""
    rng = np.random.default_rng(20261130)
    support, least, truth = [], [], []
    for _ in range(150):
        drawn = one_draw(rng)
        listed = drawn.significant(0.05, correction)
        assert drawn.support is not None
        support.append(drawn.support[listed])
        least.append(listed_from(drawn, listed, 0.05, correction))
        truth.append(HOLDERS[places(drawn)[listed]])
    together = estimates(np.concatenate(support))
    order = places(together)
    found = Discovered.of_rows(together, np.ones(len(together), np.bool_), np.concatenate(least)[order])
    return found, np.concatenate(truth)[order]


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_what_is_listed_is_covered(correction: Correction) -> None:
    """Of all strings that 150 lists hold 95 % of the intervals cover, near the threshold, too, where plain ones do not.

    Half of the estimates are too high there, and nearly all counts are. To be outside a bound is a chance below 1e-6;
    the same bound catches the plain ones.
    """
    found, truth = many_lists(correction)
    (low, high), plain = found.confidence_interval(), found.confidence_interval(conditional=False)
    covers = (low <= truth) & (truth <= high)
    plainly = (plain.low <= truth) & (truth <= plain.high)
    near, far = np.isin(truth, NEAR), truth == HOLDERS.max()
    for those in (near, far):
        number, above = int(those.sum()), int((found.conditional_count > truth)[those].sum())
        assert number > 400
        assert stats.binom.ppf(1e-6, number, 0.95) <= covers[those].sum() <= stats.binom.isf(1e-6, number, 0.95)
        assert stats.binom.ppf(1e-6, number, 0.5) <= above <= stats.binom.isf(1e-6, number, 0.5)
    assert 0.93 <= covers.mean() <= 0.97
    assert plainly[near].sum() < stats.binom.ppf(1e-6, int(near.sum()), 0.95)
    assert (found.count > truth)[near].mean() > 0.9
    assert np.mean(plainly[far] == covers[far]) > 0.99


def test_simultaneous_intervals_cover_whole_lists() -> None:
    """At level 0.5 so many of 100 lists are covered whole that fewer are a chance below 1e-6; plain ones fail that."""
    rng = np.random.default_rng(7)
    covered = {True: 0, False: 0}
    for _ in range(100):
        drawn = one_draw(rng)
        listed = drawn.significant(0.05, "bh")
        found = Discovered.of_rows(drawn, listed, listed_from(drawn, listed, 0.05, "bh"))
        truth = HOLDERS[places(found)]
        for conditional in covered:
            low, high = found.confidence_interval(0.5, simultaneous=True, conditional=conditional)
            covered[conditional] += bool(((low <= truth) & (truth <= high)).all())
    assert covered[False] < stats.binom.ppf(1e-6, 100, 0.5) <= covered[True]


def test_without_a_law_the_moments_say_how_high() -> None:
    """Where p-values come from moments, counts above ``listed_from`` are significant, and others are not."""
    drawn = replace(one_draw(np.random.default_rng(1)), null_law=None, support=None)
    listed = drawn.significant(0.05, "bonferroni")
    least = listed_from(drawn, listed, 0.05, "bonferroni")
    assert listed.any()
    assert (drawn.count[listed] > least).all()
    for nudge, there in ((1 + 1e-9, True), (1 - 1e-9, False)):
        count = drawn.count.copy()
        count[listed] = least * nudge
        assert (replace(drawn, count=count).significant(0.05, "bonferroni")[listed] == there).all()
