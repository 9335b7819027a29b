"""Least squares on one candidate at a time beside the frequent ones: for lists of any length.

With more candidates than equations no regression on all of them is determined, and with half as many its errors are
1.4 times what they need be. A candidate's collisions with values that are rare hardly matter; those with frequent
values do. So the frequent ones (the *adjusters*) are found first, by forward selection, and every candidate is fitted
together with them. All other candidates count as values in no list: they lift all bits alike on average, and what
they do unevenly is in the residuals, whose size scales every error.

No candidate is left out: each gets its estimate and its test, and corrections for many tests count them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse, stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.rappor.design import cross, moments, squares
from hubbub_decoder.rappor.joint import coefficients, inverse_of
from hubbub_decoder.rappor.observed import Observed

# An adjuster's estimate is beyond this chance (family-wise) of being nobody's value.
_ALPHA = 0.01
# At most this share of the equations go to adjusters, and this many in all.
_OF_FREEDOM = 0.25
_MOST = 2000
_ROUNDS = 30
# In one round join those that are this close to the strongest: the rest may be its collisions.
_NEAR_STRONGEST = 0.5
_CELLS_AT_ONCE = 1 << 21
# Where adjusters explain all but this share of a candidate's bits, it cannot be told from them.
_ALIKE = 1e-6


@dataclass(frozen=True, eq=False)
class Screened:
    """Every candidate's least-squares share beside the ``adjusters`` (indices, in order of strength)."""

    share: FloatArray
    precision: FloatArray
    """1/variance of each share before scaling; 0 where the adjusters leave nothing of the candidate."""
    adjusters: npt.NDArray[np.int64]
    factor: FloatArray
    """The Cholesky factor of the adjusters' normal matrix."""
    full: bool
    """Whether candidates were beyond chance, and no room was left to adjust for them."""

    @staticmethod
    def of(design: sparse.csc_array, observed: Observed, weight: FloatArray) -> Screened:
        """Selects adjusters, strongest first, until none that is left out is beyond chance."""
        room = int(min(_MOST, _OF_FREEDOM * observed.freedom))
        beyond = float(stats.norm.isf(_ALPHA / design.shape[1]))
        chosen = np.empty(0, np.int64)
        for _ in range(_ROUNDS):
            found = _beside(design, observed, weight, chosen, full=False)
            score = found.share * np.sqrt(found.precision / found.dispersion(design, observed, weight))
            kept = chosen[score[chosen] > beyond]
            score[chosen] = -np.inf
            new = np.flatnonzero(score > max(beyond, _NEAR_STRONGEST * float(score.max())))
            if not len(new) and len(kept) == len(chosen):
                return found
            new = new[np.argsort(-score[new], kind="stable")][: room - len(kept)]
            if not len(new) and len(kept) == room:
                return _beside(design, observed, weight, kept, full=True)
            chosen = np.concatenate([kept, new])
        return _beside(design, observed, weight, chosen, full=True)

    def with_weights(self, design: sparse.csc_array, observed: Observed, weight: FloatArray) -> Screened:
        """The same adjusters, with other weights."""
        return _beside(design, observed, weight, self.adjusters, full=self.full)

    def adjusting_shares(self) -> FloatArray:
        """``share`` of the adjusters, and 0 elsewhere: the values that the model holds, beside its background."""
        only = np.zeros_like(self.share)
        only[self.adjusters] = self.share[self.adjusters]
        return only

    def variance_of_sum(self) -> float:
        """Of the adjusters' shares, before scaling."""
        if not len(self.adjusters):
            return 0.0
        half = linalg.solve_triangular(self.factor, np.ones(len(self.adjusters)), lower=True)
        return float(half @ half)

    def dispersion(self, design: sparse.csc_array, observed: Observed, weight: FloatArray) -> float:
        """The residuals' mean square over what randomisation makes it (1/``weight``), 1 at least."""
        residual = observed.residual(design, self.adjusting_shares())
        freedom = max(1, len(residual) - len(self.adjusters))
        return max(1.0, float(weight @ residual**2) / freedom)

    def of_adjusters(
        self, design: sparse.csc_array, observed: Observed, weight: FloatArray
    ) -> Iterator[tuple[npt.NDArray[np.int64], FloatArray]]:
        """The coefficients of y in the adjusters' shares alone, some adjusters at a time: (indices, (block, rows))."""
        if len(self.adjusters):
            inverse = inverse_of(self.factor)
            for part, rows in coefficients(inverse, sparse.csc_array(design[:, self.adjusters]), observed, weight):
                yield self.adjusters[part], rows

    def coefficients(
        self, design: sparse.csc_array, observed: Observed, weight: FloatArray
    ) -> Iterator[tuple[slice, FloatArray]]:
        """The coefficients of y in every share, a block of candidates at a time, each of shape (block, rows)."""
        background = observed.rates.background
        beside = sparse.csc_array(design[:, self.adjusters])
        of_adjusters = np.full(design.shape[1], -1)
        of_adjusters[self.adjusters] = np.arange(len(self.adjusters))
        block = max(1, _CELLS_AT_ONCE // len(weight))
        for start in range(0, design.shape[1], block):
            part = slice(start, start + block)
            columns = sparse.csc_array(design[:, part])
            beta = -cross(beside, columns, weight, background)
            joint = of_adjusters[part] >= 0
            if len(self.adjusters):
                own = np.arange(len(self.adjusters))[:, np.newaxis] == of_adjusters[part]
                beta = linalg.cho_solve((self.factor, True), np.where(joint, own, beta))
            scale = np.divide(1.0, self.precision[part], out=np.zeros(columns.shape[1]), where=self.precision[part] > 0)
            scale[joint] = 1.0
            rows = sparse.csr_array(beside) @ beta + columns.toarray() * ~joint
            rows -= background * (beta.sum(axis=0) + ~joint)
            yield part, np.asarray((rows * scale).T * weight)


def _beside(
    design: sparse.csc_array, observed: Observed, weight: FloatArray, chosen: npt.NDArray[np.int64], *, full: bool
) -> Screened:
    background = observed.rates.background
    beside = sparse.csc_array(design[:, chosen])
    moment = moments(design, weight, observed.share, background)
    alone = squares(design, weight, background)
    normal = cross(beside, beside, weight, background)
    # A ridge of one report's worth: adjusters that are nearly alike must not break the factor.
    normal[np.diag_indices_from(normal)] *= 1 + 1e-9
    factor = np.asarray(linalg.cholesky(normal, lower=True)) if len(chosen) else np.empty((0, 0))
    left = alone.copy()
    if len(chosen):
        solved = linalg.solve_triangular(factor, moment[chosen], lower=True)
        block = max(1, _CELLS_AT_ONCE // len(chosen))
        for start in range(0, design.shape[1], block):
            part = slice(start, start + block)
            half = linalg.solve_triangular(
                factor, cross(beside, sparse.csc_array(design[:, part]), weight, background), lower=True
            )
            left[part] -= (half**2).sum(axis=0)
            moment[part] -= solved @ half
    determined = left > _ALIKE * alone
    share = np.divide(moment, left, out=np.zeros_like(left), where=determined)
    precision = np.where(determined, left, 0.0)
    if len(chosen):
        inverse = np.asarray(linalg.solve_triangular(factor, np.eye(len(chosen)), lower=True))
        share[chosen] = inverse.T @ solved
        precision[chosen] = 1 / (inverse**2).sum(axis=0)
    return Screened(share, precision, chosen, factor, full)
