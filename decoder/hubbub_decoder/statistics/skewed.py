"""Quantiles of a distribution that is known by its mean, its variance and its skewness: Pearson's type III."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from hubbub_decoder.consistent import FloatArray

# Between nodes quantiles are interpolated, to within 1e-5; beyond the last, nearly all the mass is in one point.
_NODES = np.concatenate([[0.0], np.geomspace(1e-3, 200.0, 3000)])


@dataclass(frozen=True, eq=False)
class Tails:
    """The standardised quantiles that cut ``outside`` / 2 off either end, for any skewness."""

    _upper: FloatArray
    _lower: FloatArray

    @staticmethod
    @lru_cache(maxsize=64)
    def of(outside: float) -> Tails:
        """For an interval of level 1 - ``outside``."""
        # Type III is a shifted gamma distribution; of shape 4/g**2 where the skewness is g, and the normal at g = 0.
        shape = 4 / _NODES[1:] ** 2
        upper = (special.gammainccinv(shape, outside / 2) - shape) / np.sqrt(shape)
        lower = (special.gammaincinv(shape, outside / 2) - shape) / np.sqrt(shape)
        z = -special.ndtri(outside / 2)
        return Tails(np.concatenate([[z], upper]), np.concatenate([[-z], lower]))

    def upper(self, skewness: FloatArray) -> FloatArray:
        """The quantile, in standard deviations above the mean, that is exceeded with probability ``outside`` / 2."""
        right, left = np.interp(skewness, _NODES, self._upper), np.interp(-skewness, _NODES, self._lower)
        return np.where(skewness >= 0, right, -left)

    def lower(self, skewness: FloatArray) -> FloatArray:
        """The same at the other end: usually negative."""
        return -self.upper(-skewness)
