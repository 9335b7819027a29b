"""Where the variance of the bits comes from: the candidates, values in no list, and noise, all in one unit."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import sparse

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.rappor.observed import Observed


@dataclass(frozen=True)
class Variances:
    """Mean squares over all bits of a cohort's share of set bits, about the background r; they add up to the total.

    Unbiased, so ``missing`` is negative where it is 0 and chance says so.
    """

    explained: float
    missing: float
    noise: float

    @staticmethod
    def of(
        design: sparse.csc_array, observed: Observed, share: FloatArray, unknowns: int, variance: FloatArray
    ) -> Variances:
        """With ``share`` fitted by ``unknowns`` and noise of ``variance`` in each row."""
        rows = len(observed.share)
        residual = observed.residual(design, share)
        noise = float(variance.mean())
        left = float(residual @ residual) / max(1, rows - unknowns)
        missing = left - noise if rows > unknowns else 0.0
        total = float(observed.share @ observed.share) / rows
        return Variances(total - missing - noise, missing, noise)
