"""Tests of a change of quantiles, ranges and pairs name one where there is none as often as they say, or less often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder import (
    Change,
    compare,
    estimate_joint,
    quantiles,
    ranges,
)
from hubbub_simulations.definitions import define

from tests.decoder.over_time.questions import PAIRS, TREE, of_numbers, of_pairs

ASKED = [0.25, 0.5, 0.9]
PARTS = [(0, 8), (8, 32), (4, 20)]
AGE = define("hierarchical-histogram", epsilon=5, **{key: TREE[key] for key in ("low", "high", "buckets", "levels")})
PAIR = define("joint", epsilon=5, **{key: PAIRS[key] for key in ("first", "second")})


TIMES = 24
SHAPES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "spread": lambda rng, n: np.clip(rng.normal(16, 6, n), 0, 31).astype(int),
    "half at one": lambda rng, n: np.where(rng.random(n) < 0.5, 16, rng.integers(0, 32, n)),
    "at either end": lambda rng, n: np.where(rng.random(n) < 0.5, 0, 31),
}


@cache
def unchanged(sampled: bool) -> tuple[list[Any], list[Any], list[Any]]:
    """Two periods of one population, again and again: their quantiles, ranges and pairs. Where ``sampled``, of devices
    drawn anew; else of as many that hold the same."""
    rng = np.random.default_rng(3)
    numbers: tuple[list[Any], list[Any]] = ([], [])
    pairs = []
    for shape in SHAPES.values():
        for _ in range(TIMES):
            one = shape(rng, 600)
            two = shape(rng, 1200) if sampled else np.r_[one, one]
            states = [of_numbers(AGE, each, rng) for each in (one, two)]
            numbers[0].append([quantiles(AGE, state, ASKED) for state in states])
            numbers[1].append([ranges(AGE, state, PARTS) for state in states])
    chance = np.array([0.4, 0.3, 0.15, 0.1, 0.05, 0.0])
    for _ in range(TIMES):
        one = rng.choice(6, 600, p=chance)
        two = rng.choice(6, 1200, p=chance) if sampled else np.r_[one, one]
        pairs.append([estimate_joint(PAIR, of_pairs(PAIR, each, rng)) for each in (one, two)])
    return numbers[0], numbers[1], pairs


@cache
def changes(kind: int, sampled: bool) -> list[Change]:
    """Their changes, tested as what they are."""
    return [compare(before, after, sampled=sampled) for before, after in unchanged(sampled)[kind]]


def p_values(changes: list[Change]) -> Any:
    return np.concatenate([change.p_value for change in changes])


def most(tests: int, alpha: float) -> float:
    """How many of so many tests may see a change: more do with probability 1e-6, where each does with ``alpha``."""
    return float(stats.binom.isf(1e-6, tests, alpha))


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_false_alarms(kind: int, sampled: bool) -> None:
    """No more quantiles, ranges or pairs than alpha allows seem to change where none does, and 95 % intervals hold 0.

    Fails by chance once in a million for each alpha.
    """
    found = changes(kind, sampled)
    p_value = p_values(found)
    for alpha in (0.05, 0.01, 0.001):
        assert (p_value <= alpha).sum() <= most(len(p_value), alpha)
    missed = sum(int(((change.low > 0) | (change.high < 0)).sum()) for change in found)
    assert missed <= most(len(p_value), 0.05)


def test_the_tests_waste_little() -> None:
    """Of ranges and pairs 2 % or more seem to change at 5 %, so errors are not far too wide; the seed is fixed."""
    assert (p_values([*changes(1, False), *changes(2, False)]) <= 0.05).mean() >= 0.02


def test_tests_that_forget_noise_or_sampling_fail() -> None:
    """The bound on false alarms notices fresh samples that are taken for the same devices, and halved errors."""
    drawn = p_values([compare(*two) for kind in (1, 2) for two in unchanged(True)[kind]])
    assert (drawn <= 0.05).sum() > most(len(drawn), 0.05)
    sure = [
        [replace(each, covariance=each.covariance / 4, slope=each.slope / 4) for each in two]
        for two in unchanged(False)[2]
    ]
    halved = p_values([compare(*two) for two in sure])
    assert (halved <= 0.05).sum() > most(len(halved), 0.05)


def test_a_fresh_sample_widens() -> None:
    """With ``sampled`` no interval is narrower, and no p-value of these smaller."""
    for found in (unchanged(False)[0][0], unchanged(False)[1][0], unchanged(False)[2][0]):
        same, fresh = (compare(*found, sampled=sampled) for sampled in (False, True))
        order = [fresh.value.index(value) for value in same.value]
        assert (fresh.low[order] <= same.low).all()
        assert (fresh.high[order] >= same.high).all()
        assert (fresh.p_value[order] >= same.p_value).all()
