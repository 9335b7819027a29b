"""Intervals where the reports that support a value are two binomials: of its holders, and of everybody else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.statistics.bisection import crossing
from hubbub_decoder.statistics.steps import correction

# Nearer to the mean than this the saddlepoint formula divides rounding errors by almost nothing.
_CENTRE = 0.05


@dataclass(frozen=True)
class TwoBinomials:
    """Of x holders each supports their value with probability ``p``, of the ``n - x`` others with ``q``; 0 < q < p < 1.

    ``count`` is (support - n q)/(p - q). Tails come from the saddlepoint approximation in Barndorff-Nielsen's form with
    Daniels' second continuity correction ("Tail probability approximations", International Statistical Review 55,
    1987): wrong by a per cent or so of themselves however far out, and by a third at most where one report more or less
    decides, where a normal distribution is wrong by orders of magnitude.
    """

    n: int
    p: float
    q: float

    def interval(self, count: FloatArray, outside: float) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest x in [0, n] at which ``count`` is not in either tail of ``outside`` / 2.

        Below x = 0 and above x = n, where there is no truth to cover, the normal distribution at that end, shifted; so
        intervals of counts near 0 reach below it, as unbiased counts do.
        """
        z = float(-special.ndtri(outside / 2))
        support = count * (self.p - self.q) + self.n * self.q

        def too_few_holders(x: FloatArray) -> BoolArray:
            return self._root(support - self._correction(x), x) > z

        def not_too_many_holders(x: FloatArray) -> BoolArray:
            return self._root(support + self._correction(x), x) >= -z

        none, all_of_them = np.zeros_like(count), np.full_like(count, float(self.n))
        low, high = crossing(too_few_holders, count, self.n), crossing(not_too_many_holders, count, self.n)
        below, above = self._beyond(none, z), self._beyond(all_of_them, z)
        low = np.where(too_few_holders(none), low, np.minimum(count - below, 0.0))
        low = np.where(too_few_holders(all_of_them), np.maximum(count - above, self.n), low)
        high = np.where(not_too_many_holders(none), high, np.minimum(count + below, 0.0))
        high = np.where(not_too_many_holders(all_of_them), np.maximum(count + above, self.n), high)
        return np.minimum(low, count), np.maximum(high, count)

    def _variance(self, x: FloatArray) -> FloatArray:
        return x * self.p * (1 - self.p) + (self.n - x) * self.q * (1 - self.q)

    def _correction(self, x: FloatArray) -> FloatArray:
        return correction(self._variance(x), 1.0)

    def _beyond(self, x: FloatArray, z: float) -> FloatArray:
        return (z * np.sqrt(self._variance(x)) + self._correction(x)) / (self.p - self.q)

    def _root(self, support: FloatArray, x: FloatArray) -> FloatArray:
        """r*: where x are holders, more than ``support`` (between two integers) are as likely as a normal > r*."""
        c = np.clip(support, 1e-9, self.n - 1e-9)
        p, q, others = self.p, self.q, self.n - x
        # exp of the saddlepoint s, at which the tilted mean is c: x p u/(1-p+p u) + (n-x) q u/(1-q+q u) = c.
        a, b = p / (1 - p), q / (1 - q)
        linear, square = c * (a + b) - x * a - others * b, a * b * (self.n - c)
        half = np.sqrt(linear * linear + 4 * square * c)
        u = np.where(linear > 0, (linear + half) / (2 * square), 2 * c / np.where(linear > 0, 1.0, half - linear))
        s = np.log(u)
        cumulant = x * np.log1p(p * (u - 1)) + others * np.log1p(q * (u - 1))
        tilted_p, tilted_q = p * u / (1 - p + p * u), q * u / (1 - q + q * u)
        variance = x * tilted_p * (1 - tilted_p) + others * tilted_q * (1 - tilted_q)
        w = np.sign(s) * np.sqrt(np.maximum(2 * (s * c - cumulant), 0.0))
        safe = np.where(np.abs(w) < _CENTRE, 1.0, w)
        ratio = np.where(np.abs(w) < _CENTRE, 1.0, 2 * np.sinh(s / 2) * np.sqrt(variance) / safe)
        root = w + np.log(ratio) / safe
        return np.where(support <= 0, -np.inf, np.where(support >= self.n, np.inf, root))
