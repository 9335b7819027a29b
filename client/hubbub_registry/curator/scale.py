"""The scale of the noise: a rational, rounded up, so that what is realised never costs more than what is declared.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020): discrete Laplace noise of scale s
on an L1 sensitivity D is (D / s)-DP (their section 5.2), discrete Gaussian noise of scale sigma on an L2 sensitivity D
is D^2 / (2 sigma^2)-zCDP (their theorems 4 and 14). With rational s and sigma both are rational: nothing is rounded.
"""

from __future__ import annotations

import math
from fractions import Fraction

# A scale has this many significant bits, so it is a float exactly and loses less than one part in 2^31.
BITS = 32
# Noise of this scale stays within 2^62 but for a chance below 2^-300000; past it a sampler of 64 bits would saturate.
LARGEST_SCALE = 1 << 44


def laplace_scale(l1: int, epsilon: Fraction) -> Fraction:
    """The least scale of ``BITS`` significant bits with l1 / scale <= epsilon."""
    wanted = Fraction(l1) / epsilon
    unit = _unit(wanted.numerator.bit_length() - wanted.denominator.bit_length())
    return math.ceil(wanted / unit) * unit


def gaussian_scale(l2_squared: int, rho: Fraction) -> Fraction:
    """The least scale of ``BITS`` significant bits with l2_squared / (2 scale^2) <= rho."""
    wanted = Fraction(l2_squared) / (2 * rho)  # of the square
    unit = _unit((wanted.numerator.bit_length() - wanted.denominator.bit_length()) // 2)
    return root_up(wanted / unit**2) * unit


def laplace_epsilon(l1: int, scale: Fraction) -> Fraction:
    """Epsilon of one release, exactly."""
    return Fraction(l1) / scale


def gaussian_rho(l2_squared: int, scale: Fraction) -> Fraction:
    """Rho of one release, exactly."""
    return Fraction(l2_squared) / (2 * scale**2)


def root_up(value: Fraction) -> int:
    """The least integer whose square is not below ``value``, which is positive."""
    return math.isqrt(math.ceil(value) - 1) + 1


def _unit(exponent: int) -> Fraction:
    return Fraction(2) ** (exponent - BITS)
