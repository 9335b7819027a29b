"""Compares ranges of a number in two periods, as shares of those who reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.numbers import Ranges
from hubbub_decoder.over_time.assembled import change_of, same_labels
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.common_values import alike_buckets, with_common_values
from hubbub_decoder.over_time.figures import errors_of, interval_of
from hubbub_decoder.over_time.no_change import Law, from_laws
from hubbub_decoder.statistics.score import Moments

_LEAST = 1e-18
"""The least variance of a share: rounding can leave none."""


def range_change(before: Ranges, after: Ranges, outside: float, *, sampled: bool) -> Change:
    """The change of each range's share; intervals miss with probability ``outside``.

    Tested is by what the counts of both periods would be like with one share in both, and where both have the same
    buckets with values spread as they are in both together. Raises EstimateError where the two are not of the same
    ranges.
    """
    labels = same_labels(before, after)
    two = before.distribution, after.distribution
    if alike_buckets(*two):
        two = with_common_values(*two)
    moments = replace(before, distribution=two[0]).moments, replace(after, distribution=two[1]).moments
    earlier, later = before.frequency, after.frequency
    share = _common_share((earlier, later), moments)
    # One by one, for each has steps of its own.
    p_value = [
        from_laws(
            later[[i]] - earlier[[i]], *(Law.of(each, np.array([i]), share[[i]], sampled=sampled) for each in moments)
        )
        for i in range(len(share))
    ]
    drawn = share * (1 - share) * (1 / before.n + 1 / after.n) if sampled else np.zeros_like(share)
    variance = errors_of(before) ** 2 + errors_of(after) ** 2 + drawn
    return change_of(
        before, after, labels, (earlier, later), (interval_of(before, 1 - outside), interval_of(after, 1 - outside)),
        np.concatenate(p_value), np.sqrt(variance), extra=special.ndtri(outside / 2) ** 2 * drawn,
    )  # fmt: skip


def _common_share(shares: tuple[FloatArray, FloatArray], moments: tuple[Moments, Moments]) -> FloatArray:
    """The best estimate of a share that is the same in both, within [0, 1]; weights that do not follow the noise."""
    n = [each.n for each in moments]
    pooled = np.clip((n[0] * shares[0] + n[1] * shares[1]) / sum(n), 0.0, 1.0)
    weight = [
        each.n**2 / np.maximum(each.null_variance + each.slope * pooled * each.n, _LEAST * each.n**2)
        for each in moments
    ]
    common: FloatArray = np.clip((weight[0] * shares[0] + weight[1] * shares[1]) / (weight[0] + weight[1]), 0.0, 1.0)
    return common
