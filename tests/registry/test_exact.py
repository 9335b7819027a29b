"""The bounds between epsilon and e^epsilon are on the side they claim."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_registry.exact import exp_lower, float_up, ln_upper, nano_down, nano_up

from tests.registry.bounds import exp_bounds

EPSILONS = st.fractions(min_value=Fraction(1, 1000), max_value=16, max_denominator=10**6)
RATIOS = st.fractions(min_value=1, max_value=10**17, max_denominator=10**9)


@given(EPSILONS)
@settings(max_examples=60, deadline=None)
def test_exp_lower(epsilon: Fraction) -> None:
    """``exp_lower`` is at most e^epsilon, short of it by less than one part in 1e17, and fits in 63 bits twice."""
    low, high = exp_bounds(epsilon)
    bound = exp_lower(epsilon)
    assert bound <= low
    assert bound > high * (1 - Fraction(1, 10**17))
    assert max(bound.numerator, bound.denominator) < 1 << 63


@given(RATIOS)
@settings(max_examples=40, deadline=None)
def test_ln_upper(ratio: Fraction) -> None:
    """``ln_upper`` is at least the logarithm, and exceeds it by less than one part in 1e50."""
    logarithm = ln_upper(ratio)
    assert exp_bounds(logarithm)[0] >= ratio
    assert logarithm == 0 or exp_bounds(logarithm * (1 - Fraction(1, 10**50)))[1] < ratio


@pytest.mark.parametrize("ratio", [Fraction(0), Fraction(-1)])
def test_ln_of_nothing(ratio: Fraction) -> None:
    """A ratio that is not positive has no logarithm."""
    with pytest.raises(ValueError, match="not positive"):
        ln_upper(ratio)


@given(st.fractions(min_value=0, max_value=10**6))
def test_float_up(value: Fraction) -> None:
    """``float_up`` gives the smallest float that is not below the value."""
    up = float_up(value)
    assert Fraction(up) >= value
    assert value == 0 or Fraction(math.nextafter(up, -math.inf)) < value


@given(st.fractions(min_value=0, max_value=10**6))
def test_nano(value: Fraction) -> None:
    """A charge is rounded up and a budget down, each by less than a nano."""
    assert 0 <= Fraction(nano_up(value), 10**9) - value < Fraction(1, 10**9)
    assert 0 <= value - Fraction(nano_down(value), 10**9) < Fraction(1, 10**9)
