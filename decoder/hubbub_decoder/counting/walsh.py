"""The fast Walsh-Hadamard transform."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def walsh_hadamard(columns: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.signedinteger[Any]]:
    """The transform of each column, in natural (Hadamard) order, unnormalised; in place, and returned.

    ``columns`` is a C-contiguous array of shape (m, c), m a power of two: result[i] = sum over j of
    (-1)**parity(i & j) columns[j]. It takes m log2(m) additions a column, whole rows at a time, so it is fast where
    c is 16 or more. Raises ValueError for another layout, of which reshape would transform a copy.
    """
    m, c = columns.shape
    if not columns.flags.c_contiguous or m & (m - 1):
        raise ValueError("walsh_hadamard transforms C-contiguous arrays of 2**i rows")
    step = 1
    while step < m:
        pairs = columns.reshape(m // (2 * step), 2, step * c)
        upper, lower = pairs[:, 0], pairs[:, 1]
        difference = upper - lower
        np.add(upper, lower, out=upper)
        lower[...] = difference
        step *= 2
    return columns
