"""The error of a fixed set of hash functions: other values share a candidate's buckets, in every report alike."""

from __future__ import annotations

import numpy as np

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.counting.state import IntArray

# Cells that are in floating point at a time.
_CELLS_AT_ONCE = 1 << 17


def sum_of_squares(same_bucket: float, width: int) -> float:
    """S, the sum of all values' squared frequencies, from the chance that two reports' values share a bucket.

    Two reports under one hash function hold the same value with probability S, and else share a bucket with
    probability 1/m: the chance is S + (1 - S)/m. ``same_bucket`` is estimated without bias from the sketch itself, so
    values that are in no candidate list count too. Held within [0, 1], where S lies.
    """
    return float(np.clip((width * same_bucket - 1) / (width - 1), 0.0, 1.0))


def collision_variance(n: int, count: FloatArray, squares: float, hashes: int, width: int) -> FloatArray:
    """The variance, in reports squared, that collisions add to a count in a sketch of ``hashes`` x ``width``.

    n (1 - 1/k)/(m - 1) comes from which hash function each report draws; the holders' share of it is the slope that
    ``collision_slope`` gives. n**2 S/((m - 1) k) comes from the hash set, which is one for all reports, so no number of
    them averages it out: S is over the other values, f_v**2 of the candidate itself taken off.
    """
    own = (np.clip(count, 0, n) / n) ** 2
    others = np.clip(squares - own, 0.0, 1.0)
    return n * (1 - 1 / hashes) / (width - 1) + n * n * others / ((width - 1) * hashes)


def collision_slope(hashes: int, width: int) -> float:
    """What a true holder takes off ``collision_variance``: a value does not collide with itself."""
    return -(1 - 1 / hashes) / (width - 1)


def sum_of_squared_cells(sketch: IntArray) -> float:
    """The sum of all squared cells, a block at a time: no floating-point copy of a large sketch, and no overflow."""
    cells = sketch.ravel()
    total = 0.0
    for start in range(0, len(cells), _CELLS_AT_ONCE):
        block = cells[start : start + _CELLS_AT_ONCE].astype(np.float64)
        total += float(block @ block)
    return total
