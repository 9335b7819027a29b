"""Compares quantiles of a number in two periods: how far both must be off for the quantile to be the same."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import special

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.numbers import Distribution, Quantiles
from hubbub_decoder.numbers.quantiles import buckets_within
from hubbub_decoder.numbers.result import deviations
from hubbub_decoder.over_time.assembled import Two, change_of, same_labels
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.common_values import alike_buckets, with_common_values


def quantile_change(before: Quantiles, after: Quantiles, outside: float, *, sampled: bool) -> Change:
    """The change of each quantile; intervals miss with probability ``outside`` at most.

    For the quantile to be in a bucket the share below it must be at most p, and the share up to its end at least that,
    in both periods. How many standard errors each is off, squared and summed over both, is least in some bucket: where
    values are spread that is the square of one normal deviate if the quantile is the same, and its tail the p-value.
    Where many values are equal, or none lies around, it is less, and the test on the safe side. Errors are those of the
    values of both periods together. The shares are those that are not negative, which rise: of hundreds of buckets of
    the others one would fit both by chance.

    A test of the shares at one point would be none of the quantile: half of all may be at most the median, or nine in
    ten. Raises EstimateError where the two are not of the same probabilities, or of the same buckets.
    """
    labels = same_labels(before, after)
    if not alike_buckets(before.distribution, after.distribution):
        raise EstimateError("compare: the two are of different buckets, so their quantiles do not compare")
    errors = [_errors(each.distribution, sampled) for each in (before, after)]
    ends, spread = [], []
    for each, error in zip((before, after), errors, strict=True):
        of = partial(_interval, each, error)
        low, high = of(deviations(1 - outside))
        ends.append((np.minimum(low, each.quantile), np.maximum(high, each.quantile)))
        low, high = of(deviations(0.95))
        spread.append((high - low) / (2 * deviations(0.95)))
    common = with_common_values(before.distribution, after.distribution)
    errors = [_errors(each, sampled) for each in common]
    p_value = []
    for p in labels:
        off = [_off(each.distribution, error, p) for each, error in zip((before, after), errors, strict=True)]
        p_value.append(2 * float(special.ndtr(-np.hypot(*off).min())))
    figures = before.quantile, after.quantile
    return change_of(before, after, labels, figures, (ends[0], ends[1]), np.array(p_value), np.hypot(*spread))


def _errors(distribution: Distribution, sampled: bool) -> FloatArray:
    """The standard errors of the shares below each bucket, with those of drawing who reports where ``sampled``."""
    if not sampled:
        return distribution.below_error
    below = distribution.likely_below
    return np.asarray(np.sqrt(distribution.below_error**2 + below * (1 - below) / distribution.n))


def _interval(found: Quantiles, error: FloatArray, deviation: float) -> Two:
    """The ends of the intervals that reach so many standard errors far; integers, (d,) each."""
    first = found.distribution.first
    start, end = np.array([buckets_within(found.distribution, error, p, deviation) for p in found.probability]).T
    return first[start], first[end] - 1


def _off(distribution: Distribution, error: FloatArray, p: float) -> FloatArray:
    """By how many standard errors the shares must be off for the quantile at p to be in each bucket; (buckets,)."""
    below = distribution.likely_below
    return np.maximum(_deviates(below[:-1] - p, error[:-1]), _deviates(p - below[1:], error[1:]))


def _deviates(excess: FloatArray, error: FloatArray) -> FloatArray:
    over = np.maximum(excess, 0.0)
    return np.divide(over, error, out=np.where(over > 0, np.inf, 0.0), where=error > 0)
