"""Composition through Renyi differential privacy and zero-concentrated differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from hubbub_registry.composition.closed import basic
from hubbub_registry.composition.errors import require_extra
from hubbub_registry.composition.part import Part
from hubbub_registry.exact import float_up

_ROUNDING = 1 + 1e-9
# Orders alpha, 1 + 2^(i/8): from 1.03 to 1e6, a step of 9 % in alpha - 1.
_ORDERS = [1 + 2 ** (i / 8) for i in range(-40, 161)]


def rdp(parts: Sequence[Part], delta: Fraction) -> float:
    """Epsilon at ``delta`` from the Renyi divergences of the parts' dominating pairs, which add up (Mironov 2017).

    The conversion is dp-accounting's (Canonne, Kamath, Steinke 2020, proposition 12).
    """
    return _epsilon([_renyi(parts, order) for order in _ORDERS], parts, delta)


def zcdp(parts: Sequence[Part], delta: Fraction) -> float:
    """The same from zero-concentration (Bun, Steinke 2016): rho = epsilon tanh(epsilon / 2) for each run of a part.

    That rho is the Kullback-Leibler divergence of randomized response, below epsilon^2 / 2, and the least there is
    (Steinke, "Tight RDP and zCDP bounds from pure DP", 2024).
    """
    rho = math.fsum(part.count * float_up(part.epsilon) * math.tanh(float_up(part.epsilon) / 2) for part in parts)
    return _epsilon([rho * order for order in _ORDERS], parts, delta)


def _renyi(parts: Sequence[Part], order: float) -> float:
    """The sum of ln(alpha E^order + alpha E^(1 - order) + rest) / (order - 1), and never over the sum of epsilons."""
    total = []
    for part in parts:
        up, down, rest = part.three_points()
        epsilon = float_up(part.epsilon)
        # E^(order - 1) is taken out of the logarithm, so that it cannot overflow.
        high = (order - 1) * epsilon
        inner = up + down * math.exp(-2 * high) + rest * math.exp(-high)
        total.append(part.count * min(epsilon, max(0.0, (high + math.log(inner)) / (order - 1))))
    return math.fsum(total)


def _epsilon(divergences: list[float], parts: Sequence[Part], delta: Fraction) -> float:
    """dp-accounting's conversion, rounded up; at most the plain sum of the parts."""
    require_extra()
    from dp_accounting.rdp import compute_epsilon

    epsilon, _ = compute_epsilon(_ORDERS, divergences, float(delta))
    return min(float_up(basic(parts)), float(epsilon) * _ROUNDING)
