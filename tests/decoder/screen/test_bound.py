from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from hubbub_decoder.screen.bound import chance_bound


def tail(count: int, n: int, p: Fraction) -> Fraction:
    """The exact chance of a binomial at least as far from its mean as ``count``, on the same side."""
    law = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    return sum(law[count:], Fraction(0)) if count >= n * p else sum(law[: count + 1], Fraction(0))


@pytest.mark.parametrize("p", [Fraction(1, 100), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)])
def test_it_bounds_the_exact_chance_of_either_side(p: Fraction) -> None:
    """For every count the bound is at least twice the exact tail on its side, and close to it far out."""
    n = 40
    bounds = chance_bound(np.arange(n + 1), n, np.full(n + 1, float(p)))
    for count in range(n + 1):
        exact = 2 * float(tail(count, n, p))
        assert min(1.0, exact) <= bounds[count] * (1 + 1e-12)
        assert bounds[count] <= min(1.0, 20 * exact)


@pytest.mark.parametrize("cluster", [2, 5])
def test_it_holds_where_the_records_of_a_device_are_all_alike(cluster: int) -> None:
    """Devices that repeat themselves make far counts likelier, and the bound stays above them; without it, it fails."""
    devices, p = 20, Fraction(1, 4)
    counts = cluster * np.arange(devices + 1)
    exact = np.array([min(1.0, 2 * float(tail(count, devices, p))) for count in range(devices + 1)])
    share = np.full(devices + 1, float(p))
    assert (exact <= chance_bound(counts, cluster * devices, share, cluster=cluster) * (1 + 1e-12)).all()
    assert not (exact <= chance_bound(counts, cluster * devices, share)).all()


def test_within_a_range_of_chances_nothing_is_unlikely() -> None:
    """Where the chance is only known to lie in a range, a count is held against the nearest end of it."""
    counts, low, high = np.array([5, 30, 95]), np.full(3, 0.1), np.full(3, 0.5)
    bounds = chance_bound(counts, 100, low, high)
    assert bounds[1] == 1
    assert bounds[0] == chance_bound(counts, 100, low)[0] < 1
    assert bounds[2] == chance_bound(counts, 100, high)[2] < 1e-6


def test_what_cannot_happen_has_no_chance_and_no_records_say_nothing() -> None:
    """A count that the law rules out has bound 0; no records have bound 1."""
    assert chance_bound(np.array([1, 9]), 10, np.array([0.0, 1.0])).tolist() == [0, 0]
    assert chance_bound(np.array([0]), 0, np.array([0.5])).tolist() == [1]
