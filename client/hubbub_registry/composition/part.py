"""One ingredient of a composition: a mechanism under pure differential privacy, and how often it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hubbub_registry.exact import float_up

# e^-epsilon is 0 to a float's precision beyond this, and every formula here reaches its limit.
_FLAT = 700.0


@dataclass(frozen=True)
class Part:
    """``count`` independent runs, each of ``epsilon``; between any two inputs the total variation is ``variation``.

    Where nothing better is known, ``variation`` is ``largest_variation`` of e^epsilon.
    """

    epsilon: Fraction
    variation: Fraction
    count: int

    def three_points(self) -> tuple[float, float, float]:
        """P(loss = epsilon), P(loss = -epsilon), P(loss = 0) of the pair that dominates every such mechanism.

        With E = e^epsilon and alpha = variation / (E - 1): alpha E, alpha and the rest. The hockey-stick divergence
        of a mechanism is convex in e^x, at most ``variation`` at x = 0, and 0 from E on; this pair's is the chord.
        Source: Wang, Peng, Li, Wen, Li, Yu, Wang, Yang, "Privacy amplification via shuffling: unified, simplified,
        and tightened", 2024, section 4; that such pairs compose: Zhu, Dong, Wang 2022, theorem 10.
        """
        epsilon = min(float_up(self.epsilon), _FLAT)
        up = float(self.variation) / -math.expm1(-epsilon)
        down = up * math.exp(-epsilon)
        return up, down, max(0.0, 1 - up - down)


def largest_variation(ratio: Fraction) -> Fraction:
    """The total variation that pure differential privacy allows: (E - 1) / (E + 1) (Kairouz, Oh, Viswanath 2015)."""
    return (ratio - 1) / (ratio + 1)


def pure(epsilon: Fraction, count: int = 1) -> Part:
    """A part of which only epsilon is known. Its variation tanh(epsilon / 2) is rounded up."""
    bound = Fraction(math.tanh(min(float_up(epsilon), _FLAT) / 2)) * (1 + Fraction(1, 1 << 48))
    return Part(epsilon, min(Fraction(1), bound), count)
