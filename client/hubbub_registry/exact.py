"""Between epsilon and e^epsilon with certified directions: a bound here is never on the wrong side.

``decimal`` rounds ``exp`` and ``ln`` correctly, so the true value lies within one unit in the last place of what it
returns; stepping that far down (up) gives a lower (upper) bound.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

_CONTEXT = Context(prec=60)
_BOUND_BITS = 62


def exp_lower(epsilon: Fraction) -> Fraction:
    """A lower bound of e^epsilon, short of it by less than one part in 1e17, as an integer over a power of two.

    Both integers stay below 2**63, so that a plan can carry them in any format.
    """
    exact = _CONTEXT.exp(_ratio_to_decimal(epsilon, up=False)).next_minus(_CONTEXT)
    value = Fraction(exact)
    shift = _BOUND_BITS - value.numerator.bit_length() + value.denominator.bit_length()
    shift = max(0, min(shift, _BOUND_BITS))
    return Fraction((value.numerator << shift) // value.denominator, 1 << shift)


def ln_upper(ratio: Fraction) -> Fraction:
    """An upper bound of ln(ratio), within one part in 1e50. Raises ValueError for a ratio that is not positive."""
    if ratio <= 0:
        raise ValueError("the logarithm of a ratio that is not positive")
    return Fraction(_CONTEXT.ln(_ratio_to_decimal(ratio, up=True)).next_plus(_CONTEXT)) if ratio != 1 else Fraction(0)


def float_up(value: Fraction) -> float:
    """The smallest float that is not below ``value``: a printed epsilon never flatters."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def nano_up(value: Fraction) -> int:
    """``value`` in units of 1e-9, rounded up: what a report is charged."""
    return math.ceil(value * 10**9)


def nano_down(value: Fraction) -> int:
    """``value`` in units of 1e-9, rounded down: what a device may spend."""
    return math.floor(value * 10**9)


def _ratio_to_decimal(value: Fraction, *, up: bool) -> Decimal:
    quotient = _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
    exact = Fraction(quotient)
    if up and exact < value:
        return quotient.next_plus(_CONTEXT)
    if not up and exact > value:
        return quotient.next_minus(_CONTEXT)
    return quotient
