"""How an answer is distributed around the true share of its values: what an interval needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.moments import WeightMoments
from hubbub_decoder.numbers.report import ReportMoments
from hubbub_decoder.statistics.score import Moments


@dataclass(frozen=True, eq=False)
class Law:
    """The variance and the third central moment of an estimated share where the true one is ``share``, how fast both
    change with that, and how far apart the shares lie that can be estimated; all of shape (d,)."""

    share: FloatArray
    variance: FloatArray
    slope: FloatArray
    third: FloatArray
    third_slope: FloatArray
    step: FloatArray

    @staticmethod
    def together(laws: Sequence[Law]) -> Law:
        """Those of one answer each, as one of all."""
        return Law(*(np.array([getattr(law, each.name) for law in laws]) for each in fields(Law)))

    @staticmethod
    def of(
        levels: Sequence[Level], weights: Sequence[WeightMoments], inside: Sequence[ReportMoments],
        outside: Sequence[ReportMoments], share: FloatArray,
    ) -> Law:  # fmt: skip
        """The law of answers with these ``weights``, each the share F of some values.

        ``inside`` are the moments of a report where all values are among those, ``outside`` where none is; a report's
        are their mixture, F of the one and 1 - F of the other. So the variance is quadratic in F and the third moment
        cubic, and as a report is one of many they are close to their tangents at ``share`` as far as an answer is off.

        As ``variance`` each level is taken to be a sample of its own, of a population of which all devices together
        are one as well: what is left of both moments when that is known is what their sum has more than the moments of
        its conditional mean and three times the covariance of that with the conditional variance (the law of total
        cumulance). A level that no report speaks of adds what it can be off by at most to the variance.
        """
        variance, slope, bend, third, third_slope = (np.zeros(np.shape(share)) for _ in range(5))
        step = np.zeros(np.shape(share))
        n = sum(level.n for level in levels)
        for level, each, (m_in, s_in, t_in), (m_out, s_out, t_out) in zip(
            levels, weights, inside, outside, strict=True
        ):
            if not level.n:
                variance += each.most**2
                continue
            m, s, t = (a * share + b * (1 - share) for a, b in ((m_in, m_out), (s_in, s_out), (t_in, t_out)))
            dm, ds, dt = m_in - m_out, s_in - s_out, t_in - t_out
            variance += (s - m**2) / level.n
            slope += (ds - 2 * m * dm) / level.n
            bend -= 2 * dm**2 / level.n
            third += (t - 3 * s * m + 2 * m**3) / level.n**2
            third_slope += (dt - 3 * (ds * m + s * dm) + 6 * m**2 * dm) / level.n**2
            # One report that supports the node of the greatest weight in place of the one of the least.
            step = np.maximum(step, level.lump * (each.greatest - each.least) / level.n)
        if all(level.n for level in levels):
            drawn, turn = share * (1 - share) / n, (1 - 2 * share) / n
            variance -= drawn
            slope -= turn
            bend += 2 / n
            third -= drawn * turn + 3 * slope * drawn
            third_slope -= (1 - 6 * share * (1 - share)) / n**2 + 3 * (bend * drawn + slope * turn)
        return Law(share, np.maximum(variance, 0.0), slope, third, third_slope, step)

    def moments(self, n: int) -> Moments:
        """The moments of counts among ``n``, in reports."""
        null_third = n**3 * (self.third - self.third_slope * self.share)
        return Moments(
            n,
            n**2 * (self.variance - self.slope * self.share),
            n * self.slope,
            null_third,
            null_third,
            n**2 * self.third_slope,
            n * self.step,
        )
