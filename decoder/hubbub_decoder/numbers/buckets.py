"""The buckets' own counts: the histogram at the last level, as ``Estimates``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.estimates import Estimates
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.numbers.law import Law
from hubbub_decoder.numbers.paths import path_moments
from hubbub_registry import Metric


def estimate_buckets(metric: Metric, distribution: Distribution, candidates: Sequence[str]) -> Estimates:
    """The counts of the buckets with these labels.

    Moments are lines in a bucket's own count, with all other values spread as is likely. Counts are taken to lie as far
    apart as a report more moves them, on the level where it does most: with less one such report would seem many.
    """
    place = {label: i for i, label in enumerate(metric.candidates)}
    chosen = np.array([place[candidate] for candidate in candidates], np.int64)
    levels, n, likely = distribution.levels, distribution.n, distribution.likely[chosen]
    weights = path_moments(distribution.tree, levels, chosen, distribution.likely_below, prefix=False)
    inside = [each.inside().report(level) for level, each in zip(levels, weights, strict=True)]
    outside = [
        each.outside(likely, level.nodes, distribution.buckets).report(level)
        for level, each in zip(levels, weights, strict=True)
    ]
    moments = Law.of(levels, weights, inside, outside, likely).moments(n)
    return Estimates.of(
        metric,
        n,
        candidates,
        count=n * distribution.share[chosen],
        null_variance=moments.null_variance,
        slope=moments.slope,
        null_third=moments.null_third,
        third_slope=moments.third_slope,
        step=float(np.max(moments.step, initial=0.0)),
        projected=n * likely,
    )
