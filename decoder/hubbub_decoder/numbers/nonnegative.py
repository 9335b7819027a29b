"""Shares of all nodes that are not negative and agree with each other, for what a sample of values cannot go below.

They are biased, as all such are: for charts, for quantiles, and for what an error depends on besides what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.consistent import FloatArray


def nonnegative(fitted: Sequence[FloatArray]) -> FloatArray:
    """The buckets' shares (buckets,), from the fitted ones of all levels.

    From the top down, each node's children are moved to the nearest shares that are not negative and add up to their
    parent's. Moving the buckets in one step would leave the most frequent ones alone, and with them the noise.
    """
    shares = np.ones(1)
    for level in fitted:
        shares = _onto(level.reshape(len(shares), -1), shares).ravel()
    return shares


def _onto(rows: FloatArray, totals: FloatArray) -> FloatArray:
    """Each row's nearest non-negative one that adds up to its total, itself not negative: ``onto_simplex`` by rows."""
    falling = -np.sort(-rows, axis=1)
    excess = (np.cumsum(falling, axis=1) - totals[:, np.newaxis]) / np.arange(1, rows.shape[1] + 1)
    kept = np.maximum((falling > excess).sum(axis=1), 1) - 1
    moved: FloatArray = np.maximum(rows - excess[np.arange(len(rows)), kept][:, np.newaxis], 0.0)
    # Rounding must not let what is left of a parent grow.
    sums = moved.sum(axis=1)
    scale: FloatArray = np.divide(totals, sums, out=np.zeros_like(sums), where=sums > 0)
    return np.asarray(moved * scale[:, np.newaxis])
