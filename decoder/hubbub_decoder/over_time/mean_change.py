"""Compares two means: each is a share of ones, so what is tested is a difference of two binomials."""

from __future__ import annotations

import math

import numpy as np

from hubbub_decoder.errors import EstimateError
from hubbub_decoder.mean import Mean
from hubbub_decoder.over_time.assembled import change_of
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.figures import interval_of
from hubbub_decoder.over_time.weighted_binomials import Trials, WeightedBinomials


def mean_change(before: Mean, after: Mean, outside: float) -> Change:
    """The change of a mean, from how many reports are a 1 in either period.

    The coins of devices with different values differ, and their sum is spread less than a binomial of their mean chance
    (Hoeffding, "On the distribution of the number of successes in independent trials", Annals of Mathematical
    Statistics 27, 1956), which stands for it: exact where all hold one value, or where who reports is a fresh sample.
    Raises EstimateError where the two are not of the same range.
    """
    if before.bounds != after.bounds:
        raise EstimateError(
            f"compare: one mean is of values in {before.bounds}, the other in {after.bounds}; compare like with like"
        )
    lowest, highest = before.bounds
    span = highest - lowest
    share = _common_share(before, after)
    groups = []
    outcome = (after.mean - before.mean) / span
    for each, sign in ((before, -1.0), (after, 1.0)):
        p, q = float(each.p), float(each.q)
        groups.append(Trials(np.array([float(each.n)]), np.array([q + share * (p - q)]), sign / (each.n * (p - q))))
        outcome += sign * q / (p - q)
    p_value = WeightedBinomials(groups, max(abs(group.weight) for group in groups)).two_sided(np.array([outcome]))
    ends = interval_of(before, 1 - outside), interval_of(after, 1 - outside)
    std_error = np.array([math.hypot(before.std_error, after.std_error)])
    figures = np.array([before.mean]), np.array([after.mean])
    return change_of(before, after, ("mean",), figures, ends, p_value, std_error)


def _common_share(before: Mean, after: Mean) -> float:
    """How far up the range the mean lies that is the same in both, best estimated.

    Each weighs as the inverse of its variance at one common mean. At its own the one with fewer ones by chance would
    weigh more, and pull the common mean away from the other.
    """
    (lowest, highest), two = before.bounds, (before, after)

    def mixed(weights: list[float]) -> float:
        mean = sum(weight * each.mean for weight, each in zip(weights, two, strict=True)) / sum(weights)
        return min(max((mean - lowest) / (highest - lowest), 0.0), 1.0)

    pooled = mixed([float(each.n) for each in two])
    chances = [(float(each.p), float(each.q)) for each in two]
    ones = [q + pooled * (p - q) for p, q in chances]
    return mixed([each.n * (p - q) ** 2 / (s * (1 - s)) for each, (p, q), s in zip(two, chances, ones, strict=True)])
