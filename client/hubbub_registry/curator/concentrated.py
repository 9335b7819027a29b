"""From zero-concentrated differential privacy to (epsilon, delta), rounded up.

rho-zCDP gives (rho + 2 sqrt(rho ln(1/delta)), delta)-DP for every delta (Bun and Steinke 2016, proposition 1.3). Better
conversions exist; this one is short enough to be checked by hand, and never below them.
"""

from __future__ import annotations

from fractions import Fraction

from hubbub_registry.curator.scale import root_up
from hubbub_registry.exact import ln_upper

_ROOT_BITS = 128


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """An upper bound of epsilon at ``delta`` for what is ``rho``-zCDP; 0 for 0."""
    if rho == 0:
        return Fraction(0)
    inner = rho * ln_upper(1 / delta)
    return rho + 2 * Fraction(root_up(inner * (1 << 2 * _ROOT_BITS)), 1 << _ROOT_BITS)
