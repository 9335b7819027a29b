"""Algorithms 1 to 3 of Canonne, Kamath and Steinke (2020) in integers, drawing from a source of uniform integers.

For tests only: small enough to be read, and to be run over every outcome of its source with exact probabilities.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction

# A uniform integer below n; and a coin that shows True with probability exp(-gamma).
Uniform = Callable[[int], int]
Coin = Callable[[Fraction], bool]


def bernoulli(p: Fraction, uniform: Uniform = secrets.randbelow) -> bool:
    """True with probability p."""
    return uniform(p.denominator) < p.numerator


def bernoulli_exp(gamma: Fraction, uniform: Uniform = secrets.randbelow) -> bool:
    """True with probability exp(-gamma), gamma >= 0: algorithm 1."""
    while gamma > 1:
        if not bernoulli_exp(Fraction(1), uniform):
            return False
        gamma -= 1
    k = 1
    while bernoulli(gamma / k, uniform):
        k += 1
    return k % 2 == 1


def laplace_attempt(scale: Fraction, uniform: Uniform, coin: Coin) -> int | None:
    """One round of algorithm 2, of scale t/s: a result, or None where it begins again."""
    t, s = scale.numerator, scale.denominator
    u = uniform(t)
    if not coin(Fraction(u, t)):
        return None
    v = 0
    while coin(Fraction(1)):
        v += 1
    magnitude = (u + t * v) // s
    negative = uniform(2) == 1
    if negative and magnitude == 0:
        return None
    return -magnitude if negative else magnitude


def laplace(scale: Fraction) -> int:
    """Discrete Laplace of this scale: algorithm 2."""
    while (found := laplace_attempt(scale, secrets.randbelow, bernoulli_exp)) is None:
        pass
    return found


def gaussian_cost(scale: Fraction, y: int) -> Fraction:
    """What algorithm 3 keeps a Laplace result y with: probability exp(-cost)."""
    t = int(scale) + 1
    distance = abs(y) - scale**2 / t
    return distance**2 / (2 * scale**2)


def gaussian(scale: Fraction) -> int:
    """Discrete Gaussian of parameter scale: algorithm 3."""
    while True:
        y = laplace(Fraction(int(scale) + 1))
        if bernoulli_exp(gaussian_cost(scale, y)):
            return y
