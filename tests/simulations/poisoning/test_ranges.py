"""Fakes against ranges of numbers: the exact formula against the decoder, and the best record against all others."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hubbub_client.mechanisms.hierarchical_histogram import at_level
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder import partial, ranges
from hubbub_decoder.screen import Screen
from hubbub_decoder.screen.fields import numbers
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Floats
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.poisoning.ranges import (
    RANGE_ATTACKS,
    RangeAttack,
    expected_share,
    leverage,
    range_records,
    strongest,
)
from hubbub_simulations.tree_theory import below_scaled_mse

BUCKETS = 64
RANGE = (48, 64)
HELD = np.repeat(np.arange(32), 250)  # 8000 devices in the lower half
FREQUENCIES = np.bincount(HELD, minlength=BUCKETS) / len(HELD)
ASKED: Floats = (np.arange(BUCKETS) >= RANGE[0]).astype(np.float64)


@cache
def metric_of(epsilon: float) -> Metric:
    return define("hierarchical-histogram", epsilon=epsilon, low=0, high=BUCKETS - 1, buckets=BUCKETS)


def levels_of(metric: Metric, records: Bytes) -> Floats:
    """How many of the records are of each level."""
    levels = 1 << metric.device.parameters["levels_bits"]
    return np.bincount(numbers(metric, records, 0), minlength=levels).astype(np.float64)


def decoded(metric: Metric, records: Bytes) -> float:
    """The decoder's share of the range."""
    return float(ranges(metric, partial(metric, records), [RANGE]).frequency[0])


@pytest.mark.parametrize("attack", RANGE_ATTACKS)
@pytest.mark.parametrize("epsilon", [1, 3])
def test_the_estimate_expects_to_be_what_the_formula_says(attack: str, epsilon: float) -> None:
    """Over many decoded runs the mean estimate differs from the formula by 4.9 standard errors at most (1e-6).

    An attack with other points than those that were sent is told apart.
    """
    metric, rng = metric_of(epsilon), np.random.default_rng(3)
    chosen = strongest(metric, ASKED, attack)
    other = RangeAttack(chosen.of_level, chosen.points - 1)
    items = [b"%d" % i for i in range(BUCKETS)]
    errors, others = [], []
    for _ in range(40):
        honest, fakes = encode(metric, items, HELD, rng), range_records(metric, chosen, 1000, rng)
        counts = levels_of(metric, honest), levels_of(metric, fakes)
        found = decoded(metric, np.concatenate([honest, fakes]))
        errors.append(found - expected_share(metric, FREQUENCIES, ASKED, *counts, chosen))
        others.append(found - expected_share(metric, FREQUENCIES, ASKED, *counts, other))
    limit = 4.9 * np.std(errors, ddof=1) / np.sqrt(len(errors))
    assert abs(np.mean(errors)) < limit
    assert abs(np.mean(others)) > limit


@pytest.mark.parametrize("epsilon", [1, 3])
def test_no_record_says_more_for_the_range(epsilon: float) -> None:
    """Of all records of a level none moves the range further than the attack's, in a state that the decoder reads."""
    metric, rng = metric_of(epsilon), np.random.default_rng(5)
    p = metric.device.parameters
    honest = encode(metric, [b"%d" % i for i in range(BUCKETS)], np.resize(np.arange(BUCKETS), 4000), rng)
    best = strongest(metric, ASKED, "even")
    for level in range(1 << p["levels_bits"]):
        own = at_level(p, level)
        moved = []
        for point in range(points_in(own["order"], own["dimension"])):
            points = np.where(np.arange(len(best.points)) == level, point, best.points)
            records = range_records(metric, RangeAttack(best.of_level, points), 1000, np.random.default_rng(7))
            moved.append(decoded(metric, np.concatenate([honest, records])))
        assert moved[int(best.points[level])] == pytest.approx(max(moved), abs=1e-9)
        assert max(moved) > min(moved)


def test_leverage_is_the_slope_of_the_formula_where_fakes_are_few() -> None:
    """With one fake in a million the share moves by the leverage less the share itself, and holders' leverage is 1."""
    metric = metric_of(1)
    levels = 1 << metric.device.parameters["levels_bits"]
    frequencies = np.full(BUCKETS, 1 / BUCKETS)
    for attack in RANGE_ATTACKS:
        chosen = strongest(metric, ASKED, attack)
        share, honest = 1e-6, np.full(levels, 1 / levels)
        found = expected_share(metric, frequencies, ASKED, (1 - share) * honest, share * chosen.of_level, chosen)
        assert (found - 0.25) / share == pytest.approx(leverage(metric, ASKED, chosen) - 0.25, rel=1e-3)
    assert leverage(metric, ASKED, strongest(metric, ASKED, "one level")) > leverage(
        metric, ASKED, strongest(metric, ASKED, "even")
    ) > 1  # fmt: skip
    everything = np.ones(BUCKETS)
    assert leverage(metric, everything, strongest(metric, everything, "even")) == pytest.approx(1)


def test_the_screen_sees_one_level_and_not_even_levels() -> None:
    """A tenth of fakes of one level is flagged as no uniform level; as many that draw levels are not flagged."""
    metric, rng = metric_of(1), np.random.default_rng(9)
    honest = encode(metric, [b"0"], np.zeros(9000, np.intp), rng)
    for attack, flagged in (("even", False), ("one level", True)):
        screen = Screen(metric)
        screen.add(np.concatenate([honest, range_records(metric, strongest(metric, ASKED, attack), 1000, rng)]))
        assert screen.verdict().suspicious == flagged


def test_the_error_of_a_share_below_is_that_of_the_decoder() -> None:
    """n times the variance of the share below each bucket, exactly, is what the decoder states, within 3 %.

    The decoder knows the values' shares from reports only, and takes off how its own levels' sizes came out.
    """
    metric, rng = metric_of(2), np.random.default_rng(11)
    index = np.resize(np.arange(BUCKETS), 200_000)
    state = partial(metric, encode(metric, [b"%d" % i for i in range(BUCKETS)], index, rng))
    stated = ranges(metric, state, [(0, bucket) for bucket in range(1, BUCKETS)]).std_error
    formula = below_scaled_mse(metric, np.full(BUCKETS, 1 / BUCKETS))
    assert stated**2 / len(index) == pytest.approx(formula, rel=0.03)
