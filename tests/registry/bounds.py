"""Certified bounds of e^x from its series, in integers: an oracle that shares nothing with ``exact.py``."""

from fractions import Fraction

_SCALE = 1 << 400


def exp_bounds(x: Fraction, terms: int = 300) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of e^x for 0 <= x < 100, within one part in 1e100.

    In units of 2^-400, every term is rounded down for the one and up for the other; the upper one has the tail of the
    series too, bounded by a geometric one.
    """
    low = high = low_term = high_term = _SCALE
    for n in range(1, terms + 1):
        low_term = low_term * x.numerator // (x.denominator * n)
        high_term = -(-high_term * x.numerator // (x.denominator * n))
        low += low_term
        high += high_term
    tail = Fraction(high_term) * x / (terms + 1) / (1 - x / (terms + 2))
    return Fraction(low, _SCALE), (high + tail) / _SCALE
