"""What google/rappor's R decoder makes of a run, written anew: so that two decoders can be held against equal runs.

Its estimate is the mean of five least-squares fits of the debiased bit shares on the candidates' bits, four of them to
shares with simulated noise added; shares are not negative, add up to 1 at most, and do not take any bit more than three
standard deviations above what was observed. It lists candidates that are above two standard deviations of the five
fits, and gives the others 0. Its lasso, which comes first where candidates are more than 80 % of the bits, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from hubbub_decoder.rappor.observed import BitRates
from hubbub_simulations.bits import Floats

_FITS = 5
_BIT_AT_LEAST = 0.01  # that candidates may account for, however few reports have it


@dataclass(frozen=True, eq=False)
class Peer:
    """The R decoder's shares of the candidates, and which of them it lists; the others' are 0."""

    share: Floats
    listed: NDArray[np.bool_]

    @staticmethod
    def of(design: Floats, sums: Floats, reports: Floats, rates: BitRates, rng: np.random.Generator) -> Peer:
        """From a dense ``design`` (cohorts x bits, d), ``sums`` (cohorts, bits) and ``reports`` (cohorts,); none is 0.

        Raises ValueError for more candidates than 80 % of the bits.
        """
        if design.shape[1] > 0.8 * len(design):
            raise ValueError(f"{design.shape[1]} candidates for {len(design)} bits: a lasso would come first")
        totals = np.repeat(reports, sums.shape[1])
        observed = (sums.ravel() / totals - rates.zero) / rates.gain
        rate = rates.zero + rates.gain * np.clip(observed, 0.0, 1.0)
        spread = np.sqrt(rate * (1 - rate) / totals) / rates.gain
        fits = [_constrained(design, observed, spread)]
        for _ in range(_FITS - 1):
            noisy = observed + spread * rng.normal(size=len(spread))
            fits.append(_constrained(design, noisy, spread * np.sqrt(2)))
        mean, deviation = np.mean(fits, axis=0), np.std(fits, axis=0, ddof=1)
        listed = mean > 1e-6 / reports.sum() + 2 * deviation
        return Peer(np.where(listed, mean, 0.0), listed)


def _constrained(design: Floats, observed: Floats, spread: Floats) -> Floats:
    """The least squares under the constraints, as a least-distance problem (Lawson and Hanson 1974, chapter 23)."""
    factor = linalg.cholesky(design.T @ design, lower=True)
    free = linalg.cho_solve((factor, True), design.T @ observed)
    d = design.shape[1]
    constraints = np.vstack([np.eye(d), -np.ones(d), -design])
    least = np.concatenate([np.zeros(d), [-1.0], -np.clip(observed + 3 * spread, _BIT_AT_LEAST, 1.0)])
    moved = linalg.solve_triangular(factor, constraints.T, lower=True)
    system = np.vstack([moved, least - constraints @ free])
    target = np.zeros(d + 1)
    target[-1] = 1.0
    residual = system @ optimize.nnls(system, target)[0] - target
    step = linalg.solve_triangular(factor, -residual[:-1] / residual[-1], lower=True, trans="T")
    return np.asarray(free + step)
