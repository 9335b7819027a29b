"""The walk that repeated losses make, against exact multinomial sums."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub_registry.composition.walk import LOST, walk

from tests.registry.composition.exact import repeated


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("steps", [(0.5, 0.25, 0.25), (0.75, 0.25, 0.0), (0.0625, 0.03125, 0.90625)])
def test_every_place(steps: tuple[float, float, float], count: int) -> None:
    """Every probability is exact to 1e-12 of itself, far tails too, but for the 1e-18 that the ends lose in all."""
    up, down, none = map(Fraction, steps)
    exact, _ = repeated(({1: up, -1: down, 0: none}, {0: Fraction(1)}), count)
    low, mass = walk(steps, count)
    kept, lost = Fraction(), Fraction(LOST)
    for i, probability in enumerate(mass):
        assert (
            abs(Fraction(float(probability)) - exact.get(low + i, Fraction())) <= exact.get(low + i, 0) / 10**12 + lost
        )
        kept += exact.get(low + i, Fraction())
    assert 0 <= 1 - kept <= lost


def test_long_walk() -> None:
    """A million steps keep their sum, mean and variance."""
    up, down, none = 0.3, 0.2, 0.5
    low, mass = walk((up, down, none), 10**6)
    places = range(low, low + len(mass))
    assert math.fsum(mass) == pytest.approx(1, abs=1e-10)
    mean = math.fsum(place * p for place, p in zip(places, mass, strict=True))
    spread = math.fsum((place - mean) ** 2 * p for place, p in zip(places, mass, strict=True))
    assert mean == pytest.approx(1e5, rel=1e-9)
    assert spread == pytest.approx(1e6 * (0.5 - 0.01), rel=1e-9)
