"""Amplification by shuffling, against published figures and against every multiset of a small batch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_registry.composition.amplified import group_epsilon
from hubbub_registry.composition.clones import clones, closed_form
from hubbub_registry.composition.part import largest_variation
from hubbub_registry.composition.shuffle import Randomizer, shuffled_delta, shuffled_epsilon

from tests.registry.composition.exact import hockey_stick, shuffled

MILLIONTH = Fraction(1, 10**6)
LEVELS = [Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(2), Fraction(14, 5)]


def general(ratio: Fraction | float) -> Randomizer:
    p = float(ratio)
    return Randomizer(p, (p - 1) / (p + 1), p)


def choice(ratio: Fraction | float, size: int) -> Randomizer:
    """Randomized response over ``size`` values (and local hashing into as many buckets)."""
    p = float(ratio)
    return Randomizer(p, (p - 1) / (p + size - 1), p)


def response(value: int, ratio: Fraction, size: int) -> dict[int, Fraction]:
    """The output distribution of randomized response over ``size`` values."""
    return {output: (ratio if output == value else Fraction(1)) / (ratio + size - 1) for output in range(size)}


def reduced(randomizer: Randomizer, devices: int, ratio: Fraction) -> Fraction:
    """The divergence of the two counts that the reduction leaves, summed state by state in rational numbers."""
    alpha = Fraction(randomizer.variation) / (Fraction(randomizer.ratio) - 1)
    p, clone = Fraction(randomizer.ratio), 2 * alpha * Fraction(randomizer.ratio) / Fraction(randomizer.blanket)
    one: dict[tuple[int, int], Fraction] = {}
    other: dict[tuple[int, int], Fraction] = {}
    for c in range(devices):
        for a in range(c + 1):
            mass = math.comb(devices - 1, c) * clone**c * (1 - clone) ** (devices - 1 - c)
            mass *= Fraction(math.comb(c, a), 2**c)
            for x, y, p_mass, q_mass in ((1, 0, alpha * p, alpha), (0, 1, alpha, alpha * p), (0, 0, None, None)):
                state = (a + x, c - a + y)
                rest = 1 - alpha - alpha * p
                one[state] = one.get(state, Fraction()) + mass * (rest if p_mass is None else p_mass)
                other[state] = other.get(state, Fraction()) + mass * (rest if q_mass is None else q_mass)
    return hockey_stick((one, other), ratio)


@pytest.mark.parametrize(
    ("randomizer", "expected"),
    [(general(math.exp(4)), 0.11815), (choice(math.exp(4), 16), 0.10471), (clones(math.exp(4)), 0.16977)],
    ids=["general", "16-ary", "clones"],
)
def test_references(randomizer: Randomizer, expected: float) -> None:
    """100,000 devices of epsilon 4 at delta 1e-6 give the published figures to 1e-4."""
    assert shuffled_epsilon(randomizer, 10**5, MILLIONTH) == pytest.approx(expected, abs=1e-4)


def test_closed_form() -> None:
    """The closed form of 2021 gives .53780, and where it does not hold the local epsilon."""
    assert closed_form(4, 10**5, MILLIONTH) == pytest.approx(0.53780, abs=1e-4)
    assert closed_form(4, 1000, MILLIONTH) == 4


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("devices", [2, 3, 8, 25])
@pytest.mark.parametrize("randomizer", [general(3), choice(3, 5), Randomizer(3, 0.25, 7)], ids=["general", "k", "any"])
def test_computed_exactly(randomizer: Randomizer, devices: int, level: Fraction) -> None:
    """The computed delta is the reduction's, summed state by state, and above it by less than one part in 1e7."""
    exact = reduced(randomizer, devices, level)
    found = shuffled_delta(randomizer, devices, math.log(level))
    assert exact * (1 - Fraction(1, 10**12)) <= found <= exact * (1 + Fraction(1, 10**7)) + Fraction(1, 10**16)


def batches(devices: int, size: int) -> Iterator[tuple[int, ...]]:
    """All that the other devices can hold."""
    return combinations_with_replacement(range(size), devices - 1)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("devices", [2, 3, 4, 5, 6])
def test_binary_batches(devices: int, level: Fraction) -> None:
    """Whatever the others hold, a shuffled batch of bits leaks no more than is said."""
    ratio = Fraction(3)
    bound = shuffled_delta(general(ratio), devices, math.log(level))
    for others in batches(devices, 2):
        rows = [response(value, ratio, 2) for value in others]
        pair = shuffled([response(0, ratio, 2), *rows]), shuffled([response(1, ratio, 2), *rows])
        assert max(hockey_stick(pair, level), hockey_stick(pair[::-1], level)) <= bound


@pytest.mark.parametrize("devices", [2, 3, 4])
@pytest.mark.parametrize("size", [3, 4])
def test_choice_batches(devices: int, size: int) -> None:
    """For three values and more the bound is reached, where all others hold a third value, and never passed."""
    ratio, level = Fraction(3), Fraction(3, 2)
    bound = shuffled_delta(choice(ratio, size), devices, math.log(level))
    worst = Fraction()
    for others in batches(devices, size):
        rows = [response(value, ratio, size) for value in others]
        pair = shuffled([response(0, ratio, size), *rows]), shuffled([response(1, ratio, size), *rows])
        worst = max(worst, hockey_stick(pair, level))
    assert float(worst) == pytest.approx(bound, rel=1e-7)
    assert worst <= bound


def test_a_smaller_variation_is_caught() -> None:
    """With a total variation that is a tenth too small the bound is below what a real batch leaks."""
    ratio, level = Fraction(3), Fraction(3, 2)
    wrong = Randomizer(3, 0.9 * 2 / 5, 3)
    rows = [response(2, ratio, 3)] * 2
    pair = shuffled([response(0, ratio, 3), *rows]), shuffled([response(1, ratio, 3), *rows])
    assert hockey_stick(pair, level) > shuffled_delta(wrong, 3, math.log(level))


@given(st.floats(0.01, 12), st.integers(2, 10**5), st.sampled_from([Fraction(1, 10), MILLIONTH, Fraction(1, 10**12)]))
@settings(max_examples=25, deadline=None)
def test_solved(epsilon: float, devices: int, delta: Fraction) -> None:
    """The epsilon found meets its delta, is hardly larger than need be, and never above the local one."""
    randomizer = general(math.exp(epsilon))
    found = shuffled_epsilon(randomizer, devices, delta)
    assert 0 <= found <= epsilon * (1 + 1e-12)
    assert shuffled_delta(randomizer, devices, found) <= delta
    if found:
        assert shuffled_delta(randomizer, devices, found * (1 - 1e-5)) >= delta * (1 - Fraction(1, 100))


@pytest.mark.parametrize("together", [1, 2, 3])
def test_groups(together: int) -> None:
    """Several reports in a batch leak no more than their group's figure, by enumeration, and alone the plain one."""
    ratio, devices, delta = Fraction(2), 6, Fraction(1, 20)
    epsilon = group_epsilon(general(ratio), devices, together, delta)
    level = Fraction(math.exp(epsilon))
    for others in combinations_with_replacement(range(2), devices - together):
        rows = [response(value, ratio, 2) for value in others]
        pair = tuple(shuffled([response(value, ratio, 2)] * together + rows) for value in (0, 1))
        assert hockey_stick((pair[0], pair[1]), level) <= delta
    if together == 1:
        assert epsilon == shuffled_epsilon(general(ratio), devices, delta)


@pytest.mark.parametrize("together", [2, 3, 5])
def test_groups_hide_among_the_others_only(together: int) -> None:
    """Each step of a group's change is hidden by the reports outside the group, and the steps' deltas add up, grown."""
    delta = Fraction(1, 50)
    step = group_epsilon(general(2), 8, together, delta) / together
    growth = sum(math.exp(i * step) for i in range(together))
    total = growth * shuffled_delta(general(2), 8 - together + 1, step)
    assert float(delta) * (1 - 1e-6) <= total <= float(delta) * (1 + 1e-12)


def test_group_as_large_as_its_batch() -> None:
    """Where nobody else is in the batch nothing is gained."""
    assert group_epsilon(general(3), 4, 4, MILLIONTH) == pytest.approx(4 * math.log(3))
    assert group_epsilon(general(3), 4, 9, MILLIONTH) == pytest.approx(9 * math.log(3))


def test_more_devices_hide_better() -> None:
    """The figure falls as the batch grows, and grows with the total variation."""
    found = [shuffled_epsilon(general(math.exp(2)), devices, MILLIONTH) for devices in (10, 1000, 10**5, 10**7)]
    assert found == sorted(found, reverse=True)
    assert float(largest_variation(Fraction(3))) == general(3).variation
    assert shuffled_epsilon(choice(3, 9), 1000, MILLIONTH) < shuffled_epsilon(general(3), 1000, MILLIONTH)
