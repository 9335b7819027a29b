"""Composition in closed form: basic, exactly, and advanced, in floats rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from hubbub_registry.composition.part import Part
from hubbub_registry.exact import float_up

# Of a few hundred roundings of 2^-53 each.
_ROUNDING = 1 + 1e-12


def basic(parts: Sequence[Part]) -> Fraction:
    """The sum (Dwork, McSherry, Nissim, Smith 2006): delta is 0."""
    return sum((part.count * part.epsilon for part in parts), Fraction())


def advanced(parts: Sequence[Part], delta: Fraction) -> float:
    """Epsilon at ``delta`` from theorem 3.5 of Kairouz, Oh, Viswanath, "The composition theorem for DP", 2015.

    With S = sum of epsilon^2 and D = sum of epsilon (E - 1) / (E + 1), the least of the plain sum,
    D + sqrt(2 S ln(e + sqrt(S) / delta)) and D + sqrt(2 S ln(1 / delta)). It improves on theorem III.3 of Dwork,
    Rothblum, Vadhan 2010 for every epsilon and lets epsilons differ.
    """
    epsilons = [(float_up(part.epsilon), part.count) for part in parts]
    squares = math.fsum(count * epsilon**2 for epsilon, count in epsilons)
    drift = math.fsum(count * epsilon * math.tanh(epsilon / 2) for epsilon, count in epsilons)
    small = float(delta)
    bounds = (
        drift + math.sqrt(2 * squares * math.log(math.e + math.sqrt(squares) / small)),
        drift + math.sqrt(2 * squares * math.log(1 / small)),
    )
    return min(float_up(basic(parts)), *(bound * _ROUNDING for bound in bounds))
