"""What a count says of the truth when it is shown only because it is high: its law, cut off below a threshold.

Given that it is shown, a count is distributed as before, restricted to what lies above the threshold; tests of that
law, inverted, give intervals and a median-unbiased estimate that hold among the counts that are shown. Source: Zhong,
Prentice, "Bias-reduced estimators and confidence intervals for odds ratios in genome-wide association studies",
Biostatistics 9 (2008); with the shortest acceptance regions, Weinstein, Fithian, Benjamini, "Selection adjusted
confidence intervals with more power to determine the sign", Journal of the American Statistical Association 108 (2013).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.statistics.bisection import crossing
from hubbub_decoder.statistics.score import Moments

_SMALL = 1e-4  # below it differences of nearly equal numbers are taken from their series
_LEAST_DEVIATION = 1e-9  # in reports: stands for none


@dataclass(frozen=True, eq=False)
class Truncated:
    """Counts with ``moments``, of which those above ``least`` are shown; arrays of shape (d,).

    All figures lie in [0, n], which loses no coverage: an end at 0 says that for all that is known, given that the
    count is shown, nobody need hold the value.
    """

    moments: Moments
    least: FloatArray

    def interval(self, count: FloatArray, outside: float) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest x for which ``count`` is among the likeliest 1 - ``outside`` of what is shown.

        Where hardly anything is cut off these lie between two equal tails, as in every interval; where more is than
        one of these tails, they begin at the threshold. So ``count`` lies inside whatever is cut off.
        """

        def too_low(x: FloatArray) -> BoolArray:
            above, shown = self._log_exceeded(count, x, self.moments.null_third, -1)
            return np.asarray(above < _log_tail(shown, outside), np.bool_)

        def not_too_high(x: FloatArray) -> BoolArray:
            above, shown = self._log_exceeded(count, x, self.moments.null_third_least, 1)
            return np.asarray(-np.expm1(above) >= np.exp(_log_tail(shown, outside)), np.bool_)

        low, high = self._solve(too_low, count), self._solve(not_too_high, count)
        return np.minimum(low, high), high

    def median(self, count: FloatArray) -> FloatArray:
        """The x at which what is shown is as often above ``count`` as below."""

        def too_low(x: FloatArray) -> BoolArray:
            above, shown = self._log_exceeded(count, x, self.moments.null_third, 0)
            return np.asarray(above < shown - np.log(2), np.bool_)

        return self._solve(too_low, count)

    def _solve(self, too_low: Callable[[FloatArray], BoolArray], count: FloatArray) -> FloatArray:
        """The x in [0, n] below which x is ``too_low``; either end exactly, where that is at none or at all."""
        n = self.moments.n
        none, everyone = np.zeros_like(count), np.full_like(count, float(n))
        solved = np.where(too_low(none), crossing(too_low, count, n), none)
        return np.where(too_low(everyone), everyone, solved)

    def _log_exceeded(
        self, count: FloatArray, x: FloatArray, null_third: FloatArray, side: int
    ) -> tuple[FloatArray, FloatArray]:
        """Logarithms of P(above ``count``) and of P(shown) where ``x`` are holders.

        ``side`` is by how many corrections for its steps the count is moved.
        """
        deviation, skewness, correction = self.moments.at(x, null_third)
        spread = np.maximum(deviation, _LEAST_DEVIATION)
        above, shown = (
            np.asarray(special.log_ndtr(-normal_score((edge - x) / spread, skewness)), np.float64)
            for edge in (np.maximum(count + side * correction, self.least), self.least)
        )
        return above, shown


def _log_tail(log_shown: FloatArray, outside: float) -> FloatArray:
    """The logarithm of the tail that a test cuts off, of all counts; of those that are shown it rejects ``outside``.

    Two tails of t leave 1 - 2 t, which is to be 1 - ``outside`` of what is shown. Where the lower one is not shown at
    all the upper is the only one.
    """
    shown = np.exp(log_shown)
    both = np.log((1 - (1 - outside) * shown) / 2)
    return np.where(shown * (1 + outside) >= 1, both, np.log(outside) + log_shown)


def normal_score(score: FloatArray, skewness: FloatArray) -> FloatArray:
    """The normal score that is exceeded as often as ``score`` where the distribution is skewed: Pearson's type III.

    Barndorff-Nielsen's r*, which for a gamma distribution is right but for a factor close to 1 as far out as one likes,
    where the incomplete gamma functions are not for large shapes.
    """
    d = np.maximum(score * skewness / 2, _SMALL - 1)  # the distribution ends at -1
    near = np.abs(d) < _SMALL
    safe = np.where(near, 1.0, d)
    # w = score * sqrt(h) is the signed root, and log(score / w) / w the correction.
    h = np.where(near, 1 - d * (2 / 3 - d / 2), 2 * (safe - np.log1p(safe)) / safe**2)
    lean = np.where(near, 1 / 3 - d * 5 / 36, -np.log(h) / (2 * safe))
    return np.asarray((score * h + skewness / 2 * lean) / np.sqrt(h), np.float64)
