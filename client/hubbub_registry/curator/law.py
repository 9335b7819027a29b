"""The exact laws of the noise: standard error, and how wide an interval must be to hold it.

Discrete Laplace of scale s: P(x) = (1 - q) / (1 + q) q^|x| with q = exp(-1/s). Discrete Gaussian of scale sigma: P(x)
in proportion to exp(-x^2 / (2 sigma^2)). Canonne, Kamath and Steinke (2020), definition 1 and section 5.2. Decimals of
60 digits, so that every digit that is used is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

LEVEL = Fraction(19, 20)
_CONTEXT = Context(prec=60)
# Past this many steps the sum over a discrete Gaussian is long, and the normal law bounds it to within one step.
_LARGEST_SUM = 1000
# The quantile of the normal law at 97.5 %, rounded up.
_NORMAL = Fraction("1.959963984540055")
# Weights below this one change no digit that is used; and what an interval must exceed its level by, to be sure.
_NOTHING = Decimal("1e-50")
_SURE = Decimal("1e-40")


@lru_cache(maxsize=64)
def half_width(noise: str, scale: Fraction) -> int:
    """The least h with P(|noise| <= h) >= 95 %; for a discrete Gaussian of scale over 1000 at most two above it."""
    if noise == "discrete-laplace":
        with localcontext(_CONTEXT):
            return _laplace_half_width(scale)
    if scale > _LARGEST_SUM:
        # P(X >= m) <= P(normal >= m - 1), proposition 25 of the paper.
        return math.ceil(_NORMAL * scale)
    with localcontext(_CONTEXT):
        weights = list(_gaussian_weights(scale))
        enough = _of(LEVEL) * (2 * sum(weights) - 1) * (1 + _SURE)
        held, wide = weights[0], 0
        while held < enough:
            wide += 1
            held += 2 * weights[wide]
        return wide


@lru_cache(maxsize=64)
def std_error(noise: str, scale: Fraction) -> float:
    """The standard deviation of the noise (of a discrete Gaussian of scale over 1000: of the normal law, its bound)."""
    with localcontext(_CONTEXT):
        if noise == "discrete-laplace":
            q = _laplace_q(scale)
            return float((2 * q).sqrt() / (1 - q))
        if scale > _LARGEST_SUM:
            return float(scale)
        weights = list(_gaussian_weights(scale))
        squares = sum((weight * (x * x) for x, weight in enumerate(weights)), Decimal())
        return float((2 * squares / (2 * sum(weights) - 1)).sqrt())


def _laplace_half_width(scale: Fraction) -> int:
    """P(|X| > h) = 2 q^(h+1) / (1 + q), solved for h; the loops mend what rounding did."""
    q, beyond = _laplace_q(scale), _of(1 - LEVEL) * (1 - _SURE)

    def tail(wide: int) -> Decimal:
        return 2 * _of(-(wide + 1) / scale).exp() / (1 + q)

    wide = max(0, int(_of(scale) * (2 / ((1 + q) * beyond)).ln()) - 1)
    while wide > 0 and tail(wide - 1) <= beyond:
        wide -= 1
    while tail(wide) > beyond:
        wide += 1
    return wide


def _laplace_q(scale: Fraction) -> Decimal:
    return _of(-1 / scale).exp()


def _gaussian_weights(scale: Fraction) -> Iterator[Decimal]:
    """exp(-x^2 / (2 scale^2)) for x = 0, 1, 2, ... as far as they are anything, each from the one before it."""
    step = _of(-1 / (2 * scale**2)).exp()
    square, weight, factor = step * step, Decimal(1), step
    while weight > _NOTHING:
        yield weight
        weight, factor = weight * factor, factor * square


def _of(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
