"""Is a candidate held at all? Judged by what random bits in its place would have given.

Which bits a candidate sets was drawn by hash functions, and has nothing to do with the reports unless somebody holds
it. So where nobody does, its score, the sum over its bits of what the other candidates leave unexplained, is that of
bits drawn at random: a conditional randomisation test, whose law is known (Candes, Fan, Janson, Lv, "Panning for gold",
JRSS B 2018). It takes the residuals as they are, and so holds where values in no list collide with candidates, however
unevenly. A test that goes by the noise of randomisation alone takes such collisions for holders.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.rappor.observed import Observed
from hubbub_decoder.statistics.significance import skewed_tail

Block = tuple[npt.NDArray[np.int64] | slice, FloatArray]


def randomised_tail(
    observed: Observed, residual: FloatArray, score: FloatArray, fitted: Iterable[Block]
) -> FloatArray | None:
    """P(a score of random bits is ``score`` or more), for each of d candidates; shape (d,).

    ``residual`` (rows,) is what the fit leaves, times its weights; ``score`` (d,) is A_i - r times what is left where
    candidate i is left out. ``fitted`` gives the candidates that were in the fit, with their coefficients (block,
    rows): leaving one out adds score times coefficients to the residual. None where values have bits of their own.
    """
    if not 0 < observed.rates.background < 1:
        return None
    law = _RandomBits(observed)
    variance, third = (np.full(len(score), moment[0]) for moment in law.moments(residual[np.newaxis, :]))
    for part, coefficients in fitted:
        without = residual + score[part, np.newaxis] * coefficients
        variance[part], third[part] = law.moments(without)
    return skewed_tail(score, variance, third)


class _RandomBits:
    """The bits of one value in one cohort: each of h hash functions sets one of k, uniformly and independently."""

    def __init__(self, observed: Observed) -> None:
        self._bits = observed.bits
        # From the chance (1 - 1/k)^h that a bit is not set.
        hashes = np.log1p(-observed.rates.background) / np.log1p(-1 / observed.bits)
        # The chance that none of 0 to 3 given bits is set, and by inclusion and exclusion that all of 1 to 3 are.
        none = [max(0.0, 1 - given / observed.bits) ** hashes for given in range(4)]
        self._set = 1 - none[1], 1 - 2 * none[1] + none[2], 1 - 3 * none[1] + 3 * none[2] - none[3]

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Variance and third central moment of the sum of ``values`` (block, rows) over the bits that are set."""
        first, second, third = self._set
        by_cohort = values.reshape(len(values), -1, self._bits)
        square = by_cohort * by_cohort
        s1, s2, s3 = by_cohort.sum(axis=2), square.sum(axis=2), (square * by_cohort).sum(axis=2)
        # E of the sum, of its square and of its cube: over single bits, and pairs and triples of different ones.
        mean = first * s1
        twice = first * s2 + second * (s1**2 - s2)
        thrice = first * s3 + 3 * second * (s1 * s2 - s3) + third * (s1**3 - 3 * s1 * s2 + 2 * s3)
        variance = twice - mean**2
        skew = thrice - 3 * mean * twice + 2 * mean**3
        return np.maximum(variance.sum(axis=1), 0.0), skew.sum(axis=1)
