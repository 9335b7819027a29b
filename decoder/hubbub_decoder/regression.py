"""Weighted least squares of RAPPOR's bit counts on the candidates' bits: unbiased, and non-negative beside it.

The model. In cohort j with N_j reports, bit i is set in c_ij of them, and

    E[c_ij / N_j] = p* + (q* - p*) g_ij,      g_ij = sum_v A_ij,v f_v + r (1 - sum_v f_v),

with A the candidates' bits, f their shares, and r the chance that any other value sets a bit: values in no candidate
list lift all bits alike, so their share needs no unknown of its own. With y = (c/N - p*)/(q* - p*) - r that is the
linear model y = (A - r) f, whose least-squares solution is unbiased where the candidates are all there is, and on
average over hash salts where they are not. ``docs/estimators.md`` has the derivation and what it leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize, sparse

from hubbub_decoder.consistent import FloatArray

# Where 1 / condition number of the normal matrix is below this, some combination of candidates is not determined.
_SINGULAR = 1e-10
_NAMES_SHOWN = 5


@dataclass(frozen=True)
class BitRates:
    """q* (``one``) and p* (``zero``) of a report's bits, and r (``background``)."""

    one: float
    zero: float
    background: float


@dataclass(frozen=True, eq=False)
class Note:
    """Candidates (by index) about whom the data cannot decide, and what was done."""

    members: npt.NDArray[np.int64]
    what: str

    def text(self, names: Sequence[str]) -> str:
        """The note in a sentence, with the first few of the members' ``names``."""
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        return f"{', '.join(repr(name) for name in names[:_NAMES_SHOWN])}{more}: {self.what}"


@dataclass(frozen=True, eq=False)
class Fit:
    """Shares of the population, each of shape (d,): unbiased, its variance, and the non-negative solution.

    ``unexplained`` is the share that no candidate explains, and ``unexplained_error`` its standard error; both are 0
    where the reports do not determine them.
    """

    share: FloatArray
    variance: FloatArray
    non_negative: FloatArray
    unexplained: float
    unexplained_error: float
    notes: tuple[Note, ...]


def fit(bits: sparse.csc_array, sums: FloatArray, reports: FloatArray, rates: BitRates) -> Fit:
    """Fits the shares of ``d`` candidates.

    ``bits`` (cohorts x bits, d) is 0/1, ``sums`` (cohorts, bits), ``reports`` (cohorts,). Candidates with the same
    bits in every cohort that reported are fitted as one, and share its count equally, with an error that admits that
    either may hold all of it. Combinations of others that the data do not determine get the smallest solution, with
    an error as large as the population. Both are named in ``notes``.
    """
    used = np.repeat(reports > 0, sums.shape[1])
    seen = sparse.csc_array(sparse.csr_array(bits)[used])
    totals = np.repeat(reports, sums.shape[1])[used]
    rate = sums.ravel()[used] / totals
    group, size, first = _groups(seen)
    design = sparse.csc_array(seen[:, first])
    y = (rate - rates.zero) / (rates.one - rates.zero) - rates.background
    weight = totals / np.mean(totals)
    # First with weights that do not depend on the outcome; then with the variances that the first fit implies, not with
    # the observed rates', whose noise would be correlated with y and bias the fit.
    normal, moment = _normal_equations(design, weight, y, rates.background)
    solution = _solve(normal, moment)
    expected = np.clip(design @ solution.share + rates.background * (1 - solution.share.sum()), 0.0, 1.0)
    bit_rate = rates.zero + (rates.one - rates.zero) * expected
    variance = bit_rate * (1 - bit_rate) / (totals * (rates.one - rates.zero) ** 2)
    normal, moment = _normal_equations(design, 1 / variance, y, rates.background)
    solution = _solve(normal, moment)
    residual = y - (design @ solution.share - rates.background * solution.share.sum())
    dispersion = _dispersion(residual**2 / variance, len(first))
    spread = solution.variance * dispersion + solution.undetermined
    determined = not solution.undetermined.any()
    share = solution.share[group] / size[group]
    # Where members cannot be told apart, each may hold all of the total or none of it.
    split = np.maximum(solution.share, 0.0)[group] ** 2 * (size[group] - 1) / size[group] ** 2
    return Fit(
        share=share,
        variance=spread[group] / size[group] ** 2 + split,
        non_negative=(_non_negative(normal, moment) / size)[group],
        unexplained=1 - float(solution.share.sum()) if determined else 0.0,
        unexplained_error=float(np.sqrt(solution.variance_of_sum * dispersion)) if determined else 0.0,
        notes=tuple(_notes(group, size, solution.undetermined)),
    )


@dataclass(frozen=True, eq=False)
class _Solution:
    share: FloatArray
    variance: FloatArray
    variance_of_sum: float
    undetermined: FloatArray
    """Squared length of each unit vector's part in the null space: 0 where the data determine the candidate."""


def _groups(bits: sparse.csc_array) -> tuple[npt.NDArray[np.int64], FloatArray, npt.NDArray[np.int64]]:
    """Columns that are equal: the group of each column, the size of each group, and each group's first column."""
    bits.sort_indices()
    numbers: dict[bytes, int] = {}
    group = np.empty(bits.shape[1], np.int64)
    first: list[int] = []
    for column in range(bits.shape[1]):
        pattern = bits.indices[bits.indptr[column] : bits.indptr[column + 1]].tobytes()
        group[column] = numbers.setdefault(pattern, len(numbers))
        if len(numbers) > len(first):
            first.append(column)
    return group, np.bincount(group).astype(np.float64), np.array(first)


def _normal_equations(
    design: sparse.csc_array, weight: FloatArray, y: FloatArray, background: float
) -> tuple[FloatArray, FloatArray]:
    """X' W X and X' W y of X = A - r, from sparse products: X itself, which is dense, is never formed."""
    weighted = sparse.csc_array(design.multiply(weight[:, np.newaxis]))
    column = np.asarray(weighted.sum(axis=0)).ravel()
    normal = (weighted.T @ design).toarray()
    normal -= background * (column[:, np.newaxis] + column[np.newaxis, :]) - background**2 * weight.sum()
    return normal, weighted.T @ y - background * float(weight @ y)


def _solve(normal: FloatArray, moment: FloatArray) -> _Solution:
    scale = 1 / np.sqrt(np.maximum(np.diag(normal), np.finfo(float).tiny))
    scaled = normal * scale[:, np.newaxis] * scale[np.newaxis, :]
    try:
        factor = linalg.cholesky(scaled, lower=True)
        if linalg.lapack.dpocon(factor, linalg.norm(scaled, 1), uplo="L")[0] < _SINGULAR:
            raise linalg.LinAlgError
    except linalg.LinAlgError:
        return _solve_deficient(normal, moment)
    half = linalg.solve_triangular(factor, np.eye(len(moment)), lower=True)
    share = scale * (half.T @ (half @ (scale * moment)))
    of_sum = float(np.sum((half @ scale) ** 2))
    return _Solution(share, scale**2 * (half**2).sum(axis=0), of_sum, np.zeros(len(moment)))


def _solve_deficient(normal: FloatArray, moment: FloatArray) -> _Solution:
    values, vectors = linalg.eigh(normal)
    good = values > _SINGULAR * max(values[-1], np.finfo(float).tiny)
    kept, lost = vectors[:, good], vectors[:, ~good]
    share = kept @ ((kept.T @ moment) / values[good])
    null = (lost**2).sum(axis=1)
    of_sum = float(np.sum(kept.sum(axis=0) ** 2 / values[good]))
    return _Solution(share, (kept**2 / values[good]).sum(axis=1), of_sum, np.where(null > _SINGULAR**0.5, null, 0.0))


def _dispersion(square: FloatArray, unknowns: int) -> float:
    """How much larger the residuals are than randomisation makes them, where that is beyond chance; else 1.

    Values that are in no candidate list collide with candidates' bits unevenly; the residuals show how unevenly. Under
    the model the mean square is 1 with standard deviation sqrt(2 / degrees of freedom).
    """
    freedom = len(square) - unknowns
    if freedom < 1:
        return 1.0
    mean = float(square.sum()) / freedom
    return mean if mean > 1 + 3 * np.sqrt(2 / freedom) else 1.0


def _non_negative(normal: FloatArray, moment: FloatArray) -> FloatArray:
    """The minimum of f' N f / 2 - m' f over f >= 0 (L-BFGS-B): most candidates that are not there get exactly 0."""
    diagonal = np.diag(normal)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled, target = normal * scale[:, np.newaxis] * scale[np.newaxis, :], moment * scale
    # In units of the largest coefficient, for the solver's tolerances are absolute.
    unit = max(float(np.abs(target).max(initial=0.0)), np.finfo(float).tiny)
    target = target / unit

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        gradient = scaled @ x
        return float(x @ gradient) / 2 - float(target @ x), gradient - target

    start = np.maximum(target, 0.0)
    solved = optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(target),
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    return np.asarray(solved.x, np.float64) * scale * unit


def _notes(group: npt.NDArray[np.int64], size: FloatArray, undetermined: FloatArray) -> list[Note]:
    notes = [
        Note(np.flatnonzero(group == same), "the same bits in every cohort; their common count is split equally")
        for same in np.flatnonzero(size > 1)
    ]
    unknown = np.flatnonzero(undetermined[group] > 0)
    if len(unknown):
        notes.append(
            Note(
                unknown, "the reports do not determine these separately; ask for fewer candidates, or use more cohorts"
            )
        )
    return notes
