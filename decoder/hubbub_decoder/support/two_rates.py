"""Mechanisms in which a report supports a value with probability p for its holders and q for everyone else."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hubbub_decoder.consistent import onto_simplex
from hubbub_decoder.counting.state import IntArray
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.statistics.binomial import FalseSupport
from hubbub_registry import Metric


def estimate_support(
    metric: Metric, n: int, support: IntArray, candidates: Sequence[str], p: Fraction, q: Fraction
) -> Estimates:
    """Estimates from the number of reports that support each value of a closed domain.

    ``support`` has shape (values,). The count (support - n q)/(p - q) is unbiased; the reports being independent, its
    variance with x true holders is exactly (x p (1 - p) + (n - x) q (1 - q)) / (p - q)**2 (Wang et al., USENIX
    Security 2017, theorem 2), a line in x with slope (1 - p - q)/(p - q). With no holders the support is a
    binomial, whose exact tail is the p-value.
    """
    gain = p - q
    count = (support.astype(np.float64) - float(n * q)) / float(gain)
    projected = onto_simplex(count, n)
    chosen = [metric.device.index_of(candidate.encode()) for candidate in candidates]
    count = count[chosen]
    return Estimates.of(
        metric,
        n,
        candidates,
        count=count,
        null_variance=np.full(len(chosen), float(n * q * (1 - q) / gain**2)),
        slope=float((1 - p - q) / gain),
        rates=(float(p), float(q)),
        support=support[chosen].astype(np.int64),
        null_law=FalseSupport(n, float(q)),
        projected=projected[chosen],
    )
