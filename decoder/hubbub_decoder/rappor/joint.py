"""Weighted least squares on all candidates at once: for lists that are short beside the equations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.rappor.design import cross, moments
from hubbub_decoder.rappor.observed import Observed

# Where 1 / condition number of the normal matrix is below this, some combination of candidates is not determined.
_SINGULAR = 1e-10
# Coefficients, a row a candidate, that are in memory at a time.
_CELLS_AT_ONCE = 1 << 21


@dataclass(frozen=True, eq=False)
class Joint:
    """The solution of X' W X f = X' W y, and what it takes to say how it errs."""

    share: FloatArray
    inverse: FloatArray
    """Of the normal matrix; its pseudo-inverse where that is singular."""
    normal: FloatArray
    moment: FloatArray
    undetermined: FloatArray
    """Squared length of each unit vector's part in the null space: 0 where the data determine the candidate."""

    @staticmethod
    def of(design: sparse.csc_array, observed: Observed, weight: FloatArray) -> Joint:
        """The solution with these weights."""
        background = observed.rates.background
        normal = cross(design, design, weight, background)
        moment = moments(design, weight, observed.share, background)
        inverse, undetermined = _inverse(normal)
        return Joint(inverse @ moment, inverse, normal, moment, undetermined)

    def coefficients(
        self, design: sparse.csc_array, observed: Observed, weight: FloatArray
    ) -> Iterator[tuple[slice, FloatArray]]:
        """The rows of inverse X' W, a block of candidates at a time, each (block, rows): f = coefficients y."""
        return coefficients(self.inverse, design, observed, weight)


def coefficients(
    inverse: FloatArray, design: sparse.csc_array, observed: Observed, weight: FloatArray
) -> Iterator[tuple[slice, FloatArray]]:
    """The rows of ``inverse`` X' W for a symmetric ``inverse`` (d, d), some rows at a time, each (block, rows)."""
    block = max(1, _CELLS_AT_ONCE // len(weight))
    transposed = sparse.csr_array(design.T)
    for start in range(0, len(inverse), block):
        part = slice(start, start + block)
        rows = inverse[part] @ transposed
        rows -= observed.rates.background * inverse[part].sum(axis=1, keepdims=True)
        yield part, rows * weight


def _inverse(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    scale = 1 / np.sqrt(np.maximum(np.diag(normal), np.finfo(float).tiny))
    scaled = normal * scale[:, np.newaxis] * scale[np.newaxis, :]
    try:
        factor = linalg.cholesky(scaled, lower=True)
        if linalg.lapack.dpocon(factor, linalg.norm(scaled, 1), uplo="L")[0] < _SINGULAR:
            raise linalg.LinAlgError
    except linalg.LinAlgError:
        return _pseudo_inverse(normal)
    return scale[:, np.newaxis] * inverse_of(factor) * scale[np.newaxis, :], np.zeros(len(normal))


def inverse_of(factor: FloatArray) -> FloatArray:
    """The inverse of L L' from its lower Cholesky factor L, symmetric to the last bit."""
    inverse, _ = linalg.lapack.dpotri(factor, lower=1)
    lower = np.tril(inverse, -1)
    return np.asarray(lower + lower.T + np.diag(np.diag(inverse)))


def _pseudo_inverse(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    values, vectors = linalg.eigh(normal)
    good = values > _SINGULAR * max(values[-1], np.finfo(float).tiny)
    kept, lost = vectors[:, good], vectors[:, ~good]
    null = (lost**2).sum(axis=1)
    return (kept / values[good]) @ kept.T, np.where(null > _SINGULAR**0.5, null, 0.0)
