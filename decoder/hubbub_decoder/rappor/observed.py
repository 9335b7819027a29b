"""What RAPPOR's bit counts say: the debiased share of set bits in every cohort, and how noisy it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hubbub_decoder.consistent import FloatArray


@dataclass(frozen=True)
class BitRates:
    """q* (``one``) and p* (``zero``) of a report's bits, and r (``background``)."""

    one: float
    zero: float
    background: float

    @property
    def gain(self) -> float:
        """q* - p*: what a set bit adds to the chance of a reported 1."""
        return self.one - self.zero

    def noise(self, order: int, bit: int) -> float:
        """The central moment (2 or 3) of one debiased reported bit, where the filter holds ``bit``."""
        rate = self.one if bit else self.zero
        spread = rate * (1 - rate)
        return spread / self.gain**2 if order == 2 else spread * (1 - 2 * rate) / self.gain**3


@dataclass(frozen=True, eq=False)
class Observed:
    """The rows (cohort, bit) of cohorts that reported; arrays of shape (rows,).

    ``share`` is the debiased share of set bits less the background r; its expectation is (A - r) f. ``totals`` are
    the reports of the row's cohort; ``used`` tells which of all rows these are.
    """

    share: FloatArray
    totals: FloatArray
    used: npt.NDArray[np.bool_]
    bits: int
    """Rows a cohort."""
    n: float
    rates: BitRates

    @staticmethod
    def of(sums: FloatArray, reports: FloatArray, rates: BitRates) -> Observed:
        """From ``sums`` (cohorts, bits) and ``reports`` (cohorts,)."""
        bits = sums.shape[1]
        used = np.repeat(reports > 0, bits)
        totals = np.repeat(reports, bits)[used]
        share = (sums.ravel()[used] / totals - rates.zero) / rates.gain - rates.background
        return Observed(share, totals, used, bits, float(reports.sum()), rates)

    @property
    def freedom(self) -> int:
        """Equations less one a cohort: all values set about as many bits, so a cohort's level says nothing."""
        return len(self.share) - len(self.share) // self.bits

    def expected(self, design: sparse.csc_array, share: FloatArray) -> FloatArray:
        """The share of set bits in each row where candidates have these shares, held within [0, 1]."""
        rest = self.rates.background * (1 - share.sum())
        return np.asarray(np.clip(design @ share + rest, 0.0, 1.0))

    def variance(self, expected: FloatArray) -> FloatArray:
        """The variance of ``share`` where the share of set bits is ``expected``."""
        rate = self.rates.zero + self.rates.gain * expected
        spread = np.maximum(rate * (1 - rate), np.finfo(float).tiny)
        return spread / (self.totals * self.rates.gain**2)

    def residual(self, design: sparse.csc_array, share: FloatArray) -> FloatArray:
        """What shares leave of ``share``, row by row."""
        return np.asarray(self.share - (design @ share - self.rates.background * share.sum()))
