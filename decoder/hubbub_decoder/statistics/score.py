"""Score intervals: all true counts that a two-sided test, with their own variance and skewness, does not reject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.statistics.bisection import crossing
from hubbub_decoder.statistics.skewed import Tails
from hubbub_decoder.statistics.steps import correction


@dataclass(frozen=True, eq=False)
class Moments:
    """How a count is distributed where x of the n devices are holders, for every x; arrays of shape (d,).

    Its mean is x, its variance ``null_variance + slope x``, its third central moment ``null_third + third_slope x`` at
    most and ``null_third_least + third_slope x`` at least, and its values lie ``step`` apart (0: so close that it does
    not matter). The larger third moment gives the upper tail its length, the smaller the lower one: neither is short.
    """

    n: int
    null_variance: FloatArray
    slope: FloatArray
    null_third: FloatArray
    null_third_least: FloatArray
    third_slope: FloatArray
    step: FloatArray | float

    def interval(self, count: FloatArray, outside: float) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest x in [0, n] at which ``count`` is not in either tail of ``outside`` / 2.

        Below x = 0 and above x = n, where there is no truth to cover, the distribution is the one at that end,
        shifted; so intervals of counts near 0 reach below it, as unbiased counts do.
        """
        tails = Tails.of(outside)

        def highest(x: FloatArray) -> FloatArray:
            deviation, skewness, correction = self.at(x, self.null_third)
            return x + deviation * tails.upper(skewness) + correction

        def lowest(x: FloatArray) -> FloatArray:
            deviation, skewness, correction = self.at(x, self.null_third_least)
            return x + deviation * tails.lower(skewness) - correction

        low, high = self._solve(highest, count), self._solve(lowest, count)
        return np.minimum(low, count), np.maximum(high, count)

    def at(self, x: FloatArray, null_third: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Standard deviation, skewness, and correction for the steps, where ``x`` are holders."""
        inside = np.clip(x, 0.0, self.n)
        variance = np.maximum(self.null_variance + self.slope * inside, 0.0)
        third = null_third + self.third_slope * inside
        deviation = np.sqrt(variance)
        skewness = np.divide(third, variance * deviation, out=np.zeros_like(third), where=deviation > 0)
        return deviation, skewness, correction(variance, self.step)

    def _solve(self, bound: Callable[[FloatArray], FloatArray], count: FloatArray) -> FloatArray:
        """The x at which ``bound`` is ``count``: by bisection within [0, n], beyond it directly."""
        solved = crossing(lambda x: bound(x) < count, count, self.n)
        none, all_of_them = np.zeros_like(count), np.full_like(count, float(self.n))
        at_none, at_all = bound(none), bound(all_of_them)
        solved = np.where(at_none >= count, count - at_none, solved)
        return np.where(at_all < count, self.n + count - at_all, solved)
