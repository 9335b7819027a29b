"""A lower bound of epsilon from counts: what an event's frequencies prove, at a stated confidence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta


def epsilon_at_least(hits: ArrayLike, hits_of: int, misses: ArrayLike, misses_of: int, confidence: float) -> Any:
    """ln(lower bound of P(event | one value) / upper bound of P(event | another)), element by element.

    ``hits`` of ``hits_of`` reports of the one value lie in the event, ``misses`` of ``misses_of`` of the other. Both
    bounds are Clopper and Pearson's (Biometrika 26, 1934), each wrong with probability at most (1 - confidence) / 2,
    so the result is above the true epsilon with probability at most 1 - confidence. -inf where there are no hits.
    """
    level = (1 - confidence) / 2
    k: NDArray[np.float64] = np.asarray(hits, np.float64)
    m: NDArray[np.float64] = np.asarray(misses, np.float64)
    # Where k is 0 the lower bound is 0, and where m is all of them the upper bound is 1: beta.ppf has no such case.
    low = np.where(k > 0, beta.ppf(level, np.maximum(k, 1), hits_of - k + 1), 0.0)
    high = np.where(m < misses_of, beta.ppf(1 - level, m + 1, np.maximum(misses_of - m, 1)), 1.0)
    with np.errstate(divide="ignore"):
        return np.log(low) - np.log(high)


def most_that_can_be_shown(reports: int, confidence: float) -> float:
    """The largest bound that so many test reports of each value could give: all of them hits, and none a miss."""
    found = float(epsilon_at_least(reports, reports, 0, reports, confidence))
    return max(0.0, found) if math.isfinite(found) else 0.0
