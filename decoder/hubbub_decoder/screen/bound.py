"""How unlikely a count is, as a bound that holds for any number of records and never states too little."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def chance_bound(
    count: npt.NDArray[np.int64], n: int, low: FloatArray, high: FloatArray | None = None, cluster: int = 1
) -> FloatArray:
    """An upper bound of the chance of a count as far from what is expected as ``count``; arrays of shape (events,).

    ``count`` of ``n`` records show an event whose probability lies between ``low`` and ``high`` (default: ``low``). The
    records come from devices that are independent, each with at most ``cluster`` records that may be alike. The bound
    is Chernoff's, 2 exp(-(n / cluster) KL(count / n, p)) with p the end of the range nearest to count / n. It needs no
    independence within a device: for c records of one, exp(s c) is convex in c, so its mean is largest where all of
    them show the event or none does.
    """
    if n == 0:
        return np.ones(len(count))
    share = count / n
    p = np.clip(share, low, low if high is None else high)
    bound: FloatArray = np.minimum(1.0, 2 * np.exp(-(n / cluster) * _divergence(share, p)))
    return bound


def _divergence(a: FloatArray, b: FloatArray) -> FloatArray:
    """KL(a, b) of two coins, in nats; infinite where b rules out what a shows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(a > 0, a * np.log(a / b), 0.0)
        zeros = np.where(a < 1, (1 - a) * np.log((1 - a) / (1 - b)), 0.0)
    total: FloatArray = np.maximum(ones + zeros, 0.0)
    return total
