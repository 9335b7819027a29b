from __future__ import annotations

from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.exponential import FRACTION_BITS, MAX_NANO, MOST_NANO, exp_lower, exp_lower_long

EXACT = Context(prec=60)


@given(st.integers(0, MAX_NANO))
def test_it_is_a_lower_bound_and_a_close_one(nano: int) -> None:
    """The bound never exceeds e^x and falls short of it by less than one part in 2**80."""
    true = EXACT.exp(EXACT.divide(Decimal(nano), Decimal(10**9)))
    found = EXACT.divide(Decimal(exp_lower(nano)), Decimal(1 << FRACTION_BITS))
    assert found <= true.next_plus(EXACT)
    assert EXACT.divide(true - found, true) < Decimal(2) ** -80


def test_e_to_the_0_is_exactly_1() -> None:
    """The bound is in units of 2**-96 and loses nothing where there is nothing to round, at both ends of its use."""
    assert exp_lower(0) == exp_lower_long(0) == 1 << 96
    assert MAX_NANO == 16 * 10**9
    assert exp_lower_long(MOST_NANO) > exp_lower_long(MOST_NANO - 1)


@pytest.mark.parametrize("nano", [-1, MAX_NANO + 1])
def test_outside_its_range_it_refuses(nano: int) -> None:
    """An epsilon below 0 or above 16 raises."""
    with pytest.raises(ValueError, match="between 0 and 16"):
        exp_lower(nano)


@given(st.integers(0, MOST_NANO))
def test_the_long_one_is_a_lower_bound_and_a_close_one(nano: int) -> None:
    """For many reports together the bound never exceeds e^x and falls short by less than one part in 2**73."""
    true = EXACT.exp(EXACT.divide(Decimal(nano), Decimal(10**9)))
    found = EXACT.divide(EXACT.create_decimal(exp_lower_long(nano)), Decimal(1 << FRACTION_BITS))
    assert found <= true.next_plus(EXACT)
    assert EXACT.divide(true - found, true) < Decimal(2) ** -73


@pytest.mark.parametrize("nano", [-1, MOST_NANO + 1])
def test_outside_its_range_the_long_one_refuses(nano: int) -> None:
    """An epsilon of many reports below 0 or above 1024 raises."""
    assert MOST_NANO == 1024 * 10**9
    with pytest.raises(ValueError, match="between 0 and 1024"):
        exp_lower_long(nano)
