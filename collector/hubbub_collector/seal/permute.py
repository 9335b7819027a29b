"""A uniformly random order, from the operating system's generator."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import numpy.typing as npt


def permute(records: npt.NDArray[np.uint8], source: Callable[[int], bytes] = os.urandom) -> npt.NDArray[np.uint8]:
    """The rows of ``records``, shape (n, record_bytes), in an order that is uniform over all n! of them.

    Each row gets a random 64-bit key, and the rows are sorted by key. Keys are independent and uniform, so given that
    they are distinct every order is equally likely; equal keys are drawn again, all of them.
    """
    n = len(records)
    while True:
        keys = np.frombuffer(source(8 * n), np.uint64)
        order = np.argsort(keys)
        ordered = keys[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return np.take(records, order, axis=0)
