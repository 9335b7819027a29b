"""How far apart two periods' frequencies come to lie where the true one is the same in both: p-values of a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.over_time.weighted_binomials import Trials, WeightedBinomials
from hubbub_decoder.statistics.score import Moments
from hubbub_decoder.statistics.significance import skewed_tail

Places = npt.NDArray[np.intp]
"""Where the values are in an estimate's arrays; shape (d,)."""
_RARE = 1e-6
"""The chance of each of the many trials that stand for a Poisson distribution."""


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
    def of(moments: Moments, order: Places, share: FloatArray, *, sampled: bool) -> Law:
        """That of count / n, of the values in this ``order``.

        A report's part in a count has mean 1 for a holder and 0 for another, so drawing who reports adds s(1-s) to its
        variance, and s(1-s)(1-2s) and three times the covariance of mean and variance, s(1-s) slope, to its third
        central moment.
        """
        n = moments.n
        slope = moments.slope[order]
        variance = moments.null_variance[order] + slope * share * n
        third = moments.third_slope[order] * share * n
        if sampled:
            spread = share * (1 - share)
            variance = variance + n * spread
            third = third + n * spread * (1 - 2 * share + 3 * slope)
        return Law(
            np.maximum(variance, 0.0) / n**2,
            (moments.null_third[order] + third) / n**3,
            (moments.null_third_least[order] + third) / n**3,
            float(np.max(np.broadcast_to(moments.step, moments.slope.shape)[order], initial=0.0)) / n,
        )

    def steps(self, third: FloatArray, sign: float) -> Iterator[Trials]:
        """Steps up and down, each rare, that have this variance and, as far as their size allows, ``third`` together.

        Nothing where counts have no steps.
        """
        if self.step > 0:
            total, more = self.variance / self.step**2, third / self.step**3
            for up in (1.0, -1.0):
                expected = np.clip((total + up * more) / 2, 0.0, total)
                yield Trials(expected / _RARE, np.full_like(expected, _RARE), sign * up * self.step)


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
    earlier = Law.of(before.moments, places[0], share, sampled=sampled)
    return from_laws(change, earlier, Law.of(after.moments, places[1], share, sampled=sampled))


def from_laws(change: FloatArray, earlier: Law, later: Law) -> FloatArray:
    """Two-sided p-values, shape (d,), of frequencies that lie ``change`` apart.

    Three moments do not tell the tails of a difference where few reports are expected to be off: two periods that are
    skewed alike differ without skewness, and to a normal tail one noisy report is many standard errors. So a p-value
    is that of the moments, and no less than that of rare steps that have these moments.
    """
    variance = earlier.variance + later.variance
    step = max(earlier.step, later.step)
    rise = skewed_tail(change, variance, later.third_most - earlier.third_least, step)
    fall = skewed_tail(-change, variance, earlier.third_most - later.third_least, step)
    if step > 0:
        up = [*earlier.steps(earlier.third_least, -1.0), *later.steps(later.third_most, 1.0)]
        down = [*earlier.steps(earlier.third_most, -1.0), *later.steps(later.third_least, 1.0)]
        rise = np.maximum(rise, WeightedBinomials(up, step).upper(change + _expected(up)))
        fall = np.maximum(fall, WeightedBinomials(down, step).lower(change + _expected(down)))
    p_value: FloatArray = np.minimum(1.0, 2 * np.minimum(rise, fall))
    return p_value


def _expected(steps: Iterable[Trials]) -> FloatArray:
    """The mean of the sum of these."""
    return np.asarray(sum(each.weight * each.number * each.rate for each in steps), np.float64)


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
