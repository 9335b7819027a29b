"""The candidates' bits as a sparse design: equal columns as one, and products with A - r, which is dense."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hubbub_decoder.consistent import FloatArray


def groups(bits: sparse.csc_array) -> tuple[npt.NDArray[np.int64], FloatArray, npt.NDArray[np.int64]]:
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
    return group, np.bincount(group).astype(np.float64), np.array(first, np.int64)


def cross(left: sparse.csc_array, right: sparse.csc_array, weight: FloatArray, background: float) -> FloatArray:
    """X' W Z of X = left - r and Z = right - r, dense: from sparse products, X and Z themselves are never formed."""
    weighted = sparse.csc_array(left.multiply(weight[:, np.newaxis]))
    product = np.asarray((weighted.T @ right).toarray(), np.float64)
    of_left = np.asarray(weighted.sum(axis=0)).ravel()
    product -= background * (of_left[:, np.newaxis] + (weight @ right)[np.newaxis, :])
    product += background**2 * weight.sum()
    return product


def squares(design: sparse.csc_array, weight: FloatArray, background: float) -> FloatArray:
    """The diagonal of X' W X."""
    return np.asarray((1 - 2 * background) * (weight @ design) + background**2 * weight.sum())


def moments(design: sparse.csc_array, weight: FloatArray, y: FloatArray, background: float) -> FloatArray:
    """X' W y."""
    weighted = weight * y
    return np.asarray(weighted @ design - background * weighted.sum())
