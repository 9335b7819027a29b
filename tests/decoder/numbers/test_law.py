"""The law of an answer, against every outcome of a few devices' reports; and how often intervals then cover."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder import Ranges, State, estimate, partial, ranges
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mechanisms.hierarchical_histogram import distribution
from hubbub_decoder.numbers.buckets import estimate_buckets
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

from tests.decoder.numbers.trees import chances, tree_metric


@pytest.mark.parametrize(("epsilon", "held"), [(4, [0, 0, 2]), (4, [1, 1, 1]), (2, [3, 0, 1]), (6, [2, 2, 3])])
def test_a_law_is_that_of_all_outcomes(tmp_path: Path, epsilon: float, held: Sequence[int]) -> None:
    """With one level, the variance and third moment of a range and of each bucket at the true values are those over
    all outcomes of three devices, and they are lines in the count: those of any other values on the way to it."""
    metric = tree_metric(tmp_path, 2, 1, epsilon)
    chance = chances(metric, 0)
    n, points = len(held), chance.shape[1]
    outcomes = np.array(list(itertools.product(range(points), repeat=n)))
    likely = np.prod([chance[value][outcomes[:, i]] for i, value in enumerate(held)], axis=0)
    counts = np.array([np.bincount(each, minlength=points) for each in outcomes])
    found = [distribution(metric, State.of(metric, n, counts=each)) for each in counts]
    shares = np.array([each.share for each in found])
    true = np.bincount(held, minlength=4) / n

    def central(answers: np.ndarray) -> tuple[float, float]:
        off = answers - likely @ answers
        return float(likely @ off**2), float(likely @ off**3)

    known = replace(found[0], likely=true)
    law = known.law_of(1, 3)
    assert (float(law.variance), float(law.third)) == pytest.approx(central(shares[:, 1:3].sum(axis=1)))
    buckets = estimate_buckets(metric, known, metric.candidates)
    for value, null, slope, third, third_slope in zip(
        buckets.value, buckets.null_variance, buckets.slope, buckets.null_third, buckets.third_slope, strict=True
    ):
        share = true[int(value)]
        stated = (null + slope * n * share) / n**2, (third + third_slope * n * share) / n**3
        assert stated == pytest.approx(central(shares[:, int(value)]))


def test_a_step_is_a_report_more(tmp_path: Path) -> None:
    """A bucket's count goes up by one step where one report comes to speak of it in place of another bucket."""
    metric = tree_metric(tmp_path, 4, 1, 6)
    records = encode(metric, [b"%d" % i for i in range(16)], np.arange(60) % 16, np.random.default_rng(1))
    state = partial(metric, records)
    counts = state.arrays["counts"]
    moved = counts.copy()
    chance = chances(metric, 0)
    moved[[chance[3].argmax(), chance[4].argmax()]] += [-1, 1]
    before, after = (estimate(metric, State.of(metric, 60, counts=each)) for each in (counts, moved))
    place = [each.value.index("4") for each in (before, after)]
    assert after.count[place[1]] - before.count[place[0]] == pytest.approx(before.step)
    assert ranges(metric, state, [(4, 9)]).moments.step == pytest.approx([before.step])


RUNS = 200
PARTS = [(0, 16), (16, 32), (48, 64), (30, 40), (32, 33)]


@cache
def simulated(epsilon: float, n: int, spread: bool) -> tuple[list[Ranges], list[Estimates], np.ndarray]:
    """Ranges and buckets of n devices, again and again: all in bucket 32, or a handful in each."""
    metric = define("hierarchical-histogram", epsilon=epsilon, low=0, high=63, buckets=64)
    rng = np.random.default_rng(4)
    values = rng.integers(0, 64, n) if spread else np.full(n, 32)
    states = [partial(metric, encode(metric, [b"%d" % i for i in range(64)], values, rng)) for _ in range(RUNS)]
    true = np.bincount(values, minlength=64)
    return [ranges(metric, state, PARTS) for state in states], [estimate(metric, state) for state in states], true


def missed(found: Sequence[Ranges | Estimates], true: np.ndarray) -> np.ndarray:
    """How often the intervals of each range, or bucket, do not hold the true count."""
    misses = []
    for each in found:
        low, high = each.confidence_interval()
        place = (
            np.argsort([int(value) for value in each.value]) if isinstance(each, Estimates) else np.arange(len(true))
        )
        misses.append((low[place] > true) | (high[place] < true))
    return np.asarray(np.sum(misses, axis=0))


CASES = [(8, 30, False), (8, 300, True), (4, 100, False)]


@pytest.mark.parametrize(("epsilon", "n", "spread"), CASES)
def test_few_holders_are_covered(epsilon: float, n: int, spread: bool) -> None:
    """Each range, and all buckets of as many holders, miss no more often than 5 % allow.

    A sound decoder fails with probability 1e-6 for each; the seed is fixed.
    """
    found, buckets, true = simulated(epsilon, n, spread)
    assert missed(found, np.array([true[a:b].sum() for a, b in PARTS])).max() <= stats.binom.isf(1e-6, RUNS, 0.05)
    of_each = missed(buckets, true)
    for holders in set(true.tolist()):
        alike = of_each[true == holders]
        assert alike.sum() <= stats.binom.isf(1e-6, RUNS * len(alike), 0.05)


def test_normal_intervals_miss_ranges_that_nobody_holds() -> None:
    """The same bound notices ranges with an interval of plain standard errors: 14 % of them miss."""
    found, _, true = simulated(8, 30, False)
    held = np.array([true[a:b].sum() for a, b in PARTS])
    plain = [abs(each.count - held) > 1.96 * each.std_error + 1e-9 for each in found]
    assert np.sum(plain, axis=0).max() > stats.binom.isf(1e-6, RUNS, 0.05)


@pytest.mark.parametrize(("epsilon", "n"), [(8, 30), (16, 30), (16, 1), (16, 3)])
def test_buckets_that_nobody_holds_are_not_named(epsilon: float, n: int) -> None:
    """With all devices in one bucket no other is significant more often than Holm's procedure says, least of all one
    whose count is below 0; the one that they hold is, from three devices on."""
    _, buckets, _ = simulated(epsilon, n, False)
    named = [{each.value[i] for i in np.flatnonzero(each.significant(0.05, "holm"))} for each in buckets]
    assert sum(bool(each - {"32"}) for each in named) <= stats.binom.isf(1e-6, RUNS, 0.05)
    assert all((each.p_value[each.count < 0] > 0.05).all() for each in buckets)
    assert n < 3 or all("32" in each for each in named)
