"""Compares two means: each is a share of ones, so what is tested is a difference of two binomials."""

from __future__ import annotations

import math

import numpy as np

from hubbub_decoder.errors import EstimateError
from hubbub_decoder.mean import Mean
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.weighted_binomials import Trials, WeightedBinomials


def mean_change(before: Mean, after: Mean, level: float, names: tuple[str, str], notes: tuple[str, ...]) -> Change:
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
    weight = [each.std_error**-2 if each.std_error else 1.0 for each in (before, after)]
    common = (weight[0] * before.mean + weight[1] * after.mean) / (weight[0] + weight[1])
    share = min(max((common - lowest) / span, 0.0), 1.0)
    groups = []
    outcome = (after.mean - before.mean) / span
    for each, sign in ((before, -1.0), (after, 1.0)):
        p, q = float(each.p), float(each.q)
        groups.append(Trials(np.array([float(each.n)]), np.array([q + share * (p - q)]), sign / (each.n * (p - q))))
        outcome += sign * q / (p - q)
    p_value = WeightedBinomials(groups, max(abs(group.weight) for group in groups)).two_sided(np.array([outcome]))
    first, second = before.confidence_interval(level), after.confidence_interval(level)
    difference = after.mean - before.mean
    return Change(
        metric=after.metric,
        what="mean",
        n=(before.n, after.n),
        value=("mean",),
        before=np.array([before.mean]),
        after=np.array([after.mean]),
        std_error=np.array([math.hypot(before.std_error, after.std_error)]),
        low=np.array([difference - math.hypot(after.mean - second.low, first.high - before.mean)]),
        high=np.array([difference + math.hypot(second.high - after.mean, before.mean - first.low)]),
        p_value=p_value,
        level=level,
        names=names,
        notes=notes,
    )
