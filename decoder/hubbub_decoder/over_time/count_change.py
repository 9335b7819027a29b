"""Compares the counts of values in two periods, as shares of those who reported."""

from __future__ import annotations

import numpy as np
from scipy import special

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.over_time.assembled import change_of
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.figures import interval_of
from hubbub_decoder.over_time.no_change import Places, p_values

# The least variance that a report is taken to have where a share is weighed: rounding can leave none.
_LEAST = 1e-9


def count_change(before: Estimates, after: Estimates, outside: float, *, sampled: bool) -> Change:
    """The change of each value's share; intervals miss with probability ``outside``.

    Raises EstimateError where the two are not of the same values.
    """
    place = {value: i for i, value in enumerate(after.value)}
    if set(before.value) != set(place):
        only = sorted(set(before.value) ^ set(place))
        raise EstimateError(
            f"compare: {len(only)} values are in one estimate and not in the other, the first is {only[0]!r}; estimate "
            "both with the same candidates"
        )
    own = np.arange(len(before))
    other = np.array([place[value] for value in before.value], np.intp)
    share = _common_share(before, after, other)
    p_value = p_values(before, after, (own, other), share, sampled=sampled)
    drawn = share * (1 - share) * (1 / before.n + 1 / after.n) if sampled else np.zeros_like(share)
    variance = (before.std_error / before.n) ** 2 + (after.std_error[other] / after.n) ** 2 + drawn
    low, high = interval_of(after, 1 - outside)
    return change_of(
        before, after, before.value, (before.frequency, after.frequency[other]),
        (interval_of(before, 1 - outside), (low[other], high[other])), p_value, np.sqrt(variance),
        extra=special.ndtri(outside / 2) ** 2 * drawn,
    )  # fmt: skip


def _common_share(before: Estimates, after: Estimates, other: Places) -> FloatArray:
    """The best estimate of a share that is the same in both, within [0, 1]; weights that do not follow the noise."""
    counts, total = (before.count, after.count[other]), before.n + after.n
    share = np.clip((counts[0] + counts[1]) / total, 0.0, 1.0)
    weight = [
        each.n**2 / np.maximum(each.null_variance[at] + each.slope[at] * share * each.n, _LEAST * each.n)
        for each, at in ((before, np.arange(len(before))), (after, other))
    ]
    mixed = (weight[0] * counts[0] / before.n + weight[1] * counts[1] / after.n) / (weight[0] + weight[1])
    common: FloatArray = np.clip(mixed, 0.0, 1.0)
    return common
