"""How far apart two periods' frequencies come to lie where the true one is the same in both: p-values of a change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.over_time.weighted_binomials import Trials, WeightedBinomials
from hubbub_decoder.significance import skewed_tail

Places = npt.NDArray[np.intp]
"""Where the values are in an estimate's arrays; shape (d,)."""


@dataclass(frozen=True, eq=False)
class Law:
    """What the noise of one period's frequencies is like where ``share`` (d,) of the devices hold each value.

    ``sampled`` adds that who reports is drawn from a population of which that share holds the value.
    """

    variance: FloatArray
    third_most: FloatArray
    third_least: FloatArray
    step: float

    @staticmethod
    def of(estimates: Estimates, order: Places, share: FloatArray, *, sampled: bool) -> Law:
        """The moments of count / n, of the values in this ``order``.

        A report's part in a count has mean 1 for a holder and 0 for another, so drawing who reports adds s(1-s) to its
        variance, and s(1-s)(1-2s) and three times the covariance of mean and variance, s(1-s) slope, to its third
        central moment.
        """
        n = estimates.n
        slope = estimates.slope[order]
        variance = estimates.null_variance[order] + slope * share * n
        third = estimates.third_slope[order] * share * n
        if sampled:
            spread = share * (1 - share)
            variance = variance + n * spread
            third = third + n * spread * (1 - 2 * share + 3 * slope)
        return Law(
            np.maximum(variance, 0.0) / n**2,
            (estimates.null_third[order] + third) / n**3,
            (estimates.null_third_least[order] + third) / n**3,
            estimates.step / n,
        )


def p_values(
    before: Estimates, after: Estimates, places: tuple[Places, Places], share: FloatArray, *, sampled: bool
) -> FloatArray:
    """Two-sided p-values, shape (d,), that the values at these ``places`` have the same ``share`` in both periods.

    Where a count is support of known rates, the difference is a weighted sum of binomials, whose tails are computed;
    otherwise its first three moments are known, as they are for intervals. ``share`` stands for the true common one.
    """
    change = after.count[places[1]] / after.n - before.count[places[0]] / before.n
    if before.rates is not None and after.rates is not None:
        return _from_support(before, before.rates, after, after.rates, change, share, sampled=sampled)
    earlier = Law.of(before, places[0], share, sampled=sampled)
    later = Law.of(after, places[1], share, sampled=sampled)
    variance = earlier.variance + later.variance
    half = max(earlier.step, later.step) / 2
    rise = skewed_tail(change - half, variance, later.third_most - earlier.third_least)
    fall = skewed_tail(-change - half, variance, earlier.third_most - later.third_least)
    p_value: FloatArray = np.minimum(1.0, 2 * np.minimum(rise, fall))
    return p_value


def _from_support(
    before: Estimates, earlier: tuple[float, float], after: Estimates, later: tuple[float, float],
    change: FloatArray, share: FloatArray, *, sampled: bool,
) -> FloatArray:  # fmt: skip
    groups = [
        *_support(before.n, earlier, share, -1.0, sampled=sampled),
        *_support(after.n, later, share, 1.0, sampled=sampled),
    ]
    # A frequency is (support / n - q) / (p - q): what is not random moves to the other side.
    outcome = change + later[1] / (later[0] - later[1]) - earlier[1] / (earlier[0] - earlier[1])
    return WeightedBinomials(groups, max(abs(group.weight) for group in groups)).two_sided(outcome)


def _support(n: int, rates: tuple[float, float], share: FloatArray, sign: float, *, sampled: bool) -> Iterator[Trials]:
    """The reports that support a value: of its holders and of the others, or of devices drawn from all."""
    p, q = rates
    weight = sign / (n * (p - q))
    if sampled:
        yield Trials(np.full_like(share, n), q + share * (p - q), weight)
    else:
        yield Trials(n * share, np.full_like(share, p), weight)
        yield Trials(n * (1 - share), np.full_like(share, q), weight)
