"""Compares pairs of a joint metric in two periods: shares with errors that are normal.

They are tested by the score: with the errors that go with one share that is the same in both periods.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.over_time.assembled import change_of, same_labels
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.figures import errors_of, figures_of, interval_of

_LEAST = 1e-18
"""The least variance of a share: rounding can leave none."""


def pair_change(before: JointEstimates, after: JointEstimates, outside: float, *, sampled: bool) -> Change:
    """The change of each pair's share; intervals miss with probability ``outside``.

    What unlisted values that collide add to either is counted in full, though it is the same in both. Raises
    EstimateError where the two are not of the same values.
    """
    labels = same_labels(before, after)
    earlier, later = figures_of(before), figures_of(after)
    own = errors_of(before) ** 2 + errors_of(after) ** 2
    pooled = np.clip((before.n * earlier + after.n * later) / (before.n + after.n), 0.0, 1.0)
    weight = [1 / np.maximum(_variance_at(each, pooled), _LEAST) for each in (before, after)]
    share = np.clip((weight[0] * earlier + weight[1] * later) / (weight[0] + weight[1]), 0.0, 1.0)
    drawn = share * (1 - share) * (1 / before.n + 1 / after.n) if sampled else np.zeros_like(share)
    variance = _variance_at(before, share) + _variance_at(after, share)
    scale = np.sqrt(np.maximum(np.where(variance > _LEAST, variance, own) + drawn, _LEAST))
    p_value = 2 * special.ndtr(-np.abs(later - earlier) / scale)
    return change_of(
        before, after, labels, (earlier, later), (interval_of(before, 1 - outside), interval_of(after, 1 - outside)),
        p_value, np.sqrt(own + drawn), extra=special.ndtri(outside / 2) ** 2 * drawn,
    )  # fmt: skip


def _variance_at(found: JointEstimates, share: FloatArray) -> FloatArray:
    """The variances of the shares where these are true: as those of intervals, linear in the share; (d,)."""
    slope = np.ravel(found.slope) / found.n
    variance: FloatArray = errors_of(found) ** 2 + slope * (share - np.ravel(found.likely_share))
    return variance
