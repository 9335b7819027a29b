"""Composition in closed form."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub_registry.composition.closed import advanced, basic
from hubbub_registry.composition.part import pure

MILLIONTH = Fraction(1, 10**6)


def test_basic() -> None:
    """The plain sum is exact."""
    assert basic([pure(Fraction(1, 3), 7), pure(Fraction(2, 5), 10)]) == Fraction(7, 3) + 4


@pytest.mark.parametrize(
    ("epsilon", "count"), [(Fraction(1, 10), 365), (Fraction(1, 2), 64), (Fraction(1, 100), 10**5)]
)
def test_advanced_improves_on_its_predecessor(epsilon: Fraction, count: int) -> None:
    """Never over epsilon sqrt(2 k ln(1/delta)) + k epsilon (e^epsilon - 1) of Dwork, Rothblum, Vadhan 2010."""
    e = float(epsilon)
    older = e * math.sqrt(2 * count * math.log(10**6)) + count * e * math.expm1(e)
    assert advanced([pure(epsilon, count)], MILLIONTH) <= older * (1 + 1e-9)


def test_advanced_value() -> None:
    """64 runs of 0.5 at delta 1e-6 give the figure worked out by hand from theorem 3.5."""
    drift = 64 * 0.5 * (math.exp(0.5) - 1) / (math.exp(0.5) + 1)
    expected = drift + math.sqrt(2 * 64 * 0.25 * math.log(10**6))
    assert advanced([pure(Fraction(1, 2), 64)], MILLIONTH) == pytest.approx(expected, rel=1e-9)
