"""How many reports support a value that nobody holds, where that is a binomial: its exact upper tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from hubbub_decoder.consistent import FloatArray


@dataclass(frozen=True)
class FalseSupport:
    """Each of ``reports`` supports the value with probability ``rate``."""

    reports: int
    rate: float

    def tail(self, support: npt.NDArray[np.int64]) -> FloatArray:
        """P(``support`` or more reports); of the same shape, (d,)."""
        return binomial_tail(support, self.reports, self.rate)


@dataclass(frozen=True)
class FalseSupportOfSome:
    """Of the reports that speak of the value, whose number is known, each supports it with probability ``rate``."""

    rate: float

    def tail(self, support: npt.NDArray[np.int64]) -> FloatArray:
        """P(as many or more, among as many that speak of it); ``support`` (d, 2) holds both numbers."""
        return binomial_tail(support[:, 0], support[:, 1], self.rate)


def binomial_tail(successes: npt.NDArray[np.int64], trials: int | npt.NDArray[np.int64], rate: float) -> FloatArray:
    """P(at least ``successes`` of ``trials``), exactly; 1 for no successes."""
    reached = np.maximum(successes, 1).astype(np.float64)
    tail = special.betainc(reached, np.maximum(trials - reached + 1, 1e-300), rate)
    return np.where(successes <= 0, 1.0, np.where(successes > trials, 0.0, tail))
