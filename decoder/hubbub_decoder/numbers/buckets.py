"""The buckets' own counts: the histogram at the last level, as ``Estimates``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.estimates import Estimates
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.numbers.moments import third_moment, variance
from hubbub_decoder.numbers.paths import path_moments
from hubbub_registry import Metric


def estimate_buckets(metric: Metric, distribution: Distribution, candidates: Sequence[str]) -> Estimates:
    """The counts of the buckets with these labels.

    The variance is that where the values lie as is likely, for each bucket by itself and at every count of it: what its
    own holders add to that of all other buckets and levels is little, unless they are so many that no test is needed.
    """
    place = {label: i for i, label in enumerate(metric.candidates)}
    chosen = np.array([place[candidate] for candidate in candidates], np.int64)
    levels, n = distribution.levels, distribution.n
    moments = path_moments(distribution.tree, levels, chosen, distribution.likely_below, prefix=False)
    return Estimates.of(
        metric,
        n,
        candidates,
        count=n * distribution.share[chosen],
        null_variance=n**2 * variance(levels, moments, distribution.likely[chosen]),
        slope=0.0,
        null_third=n**3 * third_moment(levels, moments),
        projected=n * distribution.likely[chosen],
    )
