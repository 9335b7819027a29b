"""Makes estimates obey what is known of counts: none is negative, and together they are (at most) everyone.

This biases them: it is for charts and totals, beside the unbiased figures and never in their place.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def onto_simplex(count: FloatArray, total: float) -> FloatArray:
    """The nearest non-negative counts that add up to ``total``: all values of a closed domain.

    "Norm-Sub" (Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li, "Locally differentially private frequency estimation with
    consistency", NDSS 2020, section 4.2) is this Euclidean projection: subtract one number from all, drop what falls
    below zero.
    """
    falling = np.sort(count)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(count) + 1)
    kept = int(np.flatnonzero(falling > excess)[-1]) if total > 0 else 0
    projected: FloatArray = np.maximum(count - excess[kept], 0.0)
    return projected


def within_simplex(count: FloatArray, total: float) -> FloatArray:
    """The nearest non-negative counts that add up to at most ``total``: candidates that need not be everything."""
    positive = np.maximum(count, 0.0)
    return onto_simplex(count, total) if positive.sum() > total else positive
