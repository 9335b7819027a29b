"""Tails of a weighted sum of independent binomials: what the difference of two periods' support is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from hubbub_decoder.consistent import FloatArray

# Nearer to the mean than this the saddlepoint formula divides rounding errors by almost nothing.
_CENTRE = 0.05
# exp of this is how far a coin may be tilted: beyond it every trial is a success.
_TILT = 40.0
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Trials:
    """A binomial: ``number`` (d,), not always an integer, of chance ``rate`` (d,), each success worth ``weight``."""

    number: FloatArray
    rate: FloatArray
    weight: float


@dataclass(frozen=True, eq=False)
class WeightedBinomials:
    """The sum of all ``groups``, whose values lie ``step`` apart, or closer.

    Tails come from the saddlepoint approximation in Barndorff-Nielsen's form (Daniels, "Tail probability
    approximations", International Statistical Review 55, 1987), as in ``statistics.two_binomials``: right to a few
    per cent of themselves however far out. Half a step counts as reached, so that in a sum of few successes a tail is
    the one that holds the outcome itself.
    """

    groups: Sequence[Trials]
    step: float

    def two_sided(self, outcome: FloatArray) -> FloatArray:
        """Twice the smaller of P(at most ``outcome``) and P(at least that), 1 at most; shape (d,)."""
        p_value: FloatArray = np.minimum(1.0, 2 * np.minimum(self.upper(outcome), self.lower(outcome)))
        return p_value

    def upper(self, outcome: FloatArray) -> FloatArray:
        """P(``outcome`` or more); shape (d,)."""
        return np.asarray(special.ndtr(-self._root(outcome - self.step / 2)), np.float64)

    def lower(self, outcome: FloatArray) -> FloatArray:
        """P(``outcome`` or less); shape (d,)."""
        return np.asarray(special.ndtr(self._root(outcome + self.step / 2)), np.float64)

    def _root(self, at: FloatArray) -> FloatArray:
        """r*: the sum exceeds ``at`` with the probability that a standard normal exceeds r*."""
        tilt = self._saddlepoint(at)
        cumulant, variance = np.zeros_like(at), np.zeros_like(at)
        for group in self.groups:
            grown = np.expm1(group.weight * tilt)
            cumulant += group.number * np.log1p(group.rate * grown)
            tilted = group.rate * (1 + grown) / (1 + group.rate * grown)
            variance += group.number * group.weight**2 * tilted * (1 - tilted)
        w = np.sign(tilt) * np.sqrt(np.maximum(2 * (tilt * at - cumulant), 0.0))
        near = np.abs(w) < _CENTRE
        safe = np.where(near, 1.0, w)
        ratio = np.where(near, 1.0, tilt * np.sqrt(variance) / safe)
        with np.errstate(divide="ignore"):
            root = w + np.log(ratio) / safe
        least = sum(np.minimum(group.weight, 0.0) * group.number for group in self.groups)
        most = sum(np.maximum(group.weight, 0.0) * group.number for group in self.groups)
        return np.where(at <= least, -np.inf, np.where(at >= most, np.inf, root))

    def _saddlepoint(self, at: FloatArray) -> FloatArray:
        """The tilt under which the mean is ``at``; by bisection, the mean rising with the tilt."""
        end = _TILT / max(abs(group.weight) for group in self.groups)
        low, high = np.full_like(at, -end), np.full_like(at, end)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = self._mean(middle) < at
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        tilt: FloatArray = (low + high) / 2
        return tilt

    def _mean(self, tilt: FloatArray) -> FloatArray:
        total = np.zeros_like(tilt)
        for group in self.groups:
            grown = np.expm1(group.weight * tilt)
            total += group.number * group.weight * group.rate * (1 + grown) / (1 + group.rate * grown)
        return total
