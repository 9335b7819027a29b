"""Decodes the Hadamard count mean sketch (Apple, "Learning with privacy at scale", 2017, algorithm 3, server side).

A report (j, l, bit) is one noisy entry of a Hadamard transform: c (-1)**bit H[l, b], with c = 1/(1 - 2t), expects to be
1 where b is its value's bucket under hash function j, and 0 else. So the sketch is kept transformed, and one fast
Walsh-Hadamard transform per hash function gives every candidate's sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import within_simplex
from hubbub_decoder.counting.hashing import buckets, item_keys
from hubbub_decoder.counting.records import Records, as_integers, check_domain, check_shape, chunks
from hubbub_decoder.counting.state import IntArray, State, merge
from hubbub_decoder.counting.walsh import walsh_hadamard
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.colliding import CollidingSupport
from hubbub_decoder.support.collisions import collision_slope, collision_variance, sum_of_squared_cells, sum_of_squares
from hubbub_registry import Metric

__all__ = ["estimate", "merge", "partial"]

# Cells transformed at a time, 2 or 4 bytes each: they stay in the cache for all the steps of a transform.
_CELLS_AT_ONCE = 1 << 18
# Candidates x hash functions whose buckets are in memory at a time: 512 KiB, for the same reason.
_BUCKETS_AT_ONCE = 1 << 16
_LEAST_COLUMNS = 16


def partial(metric: Metric, records: Records) -> State:
    """``signed`` (width, hashes): the reports of each row and hash function with bit 0, less those with bit 1.

    Four bytes a cell: 1 MiB for 256 x 1024, 128 MiB for Apple's 1024 x 32768.
    """
    check_shape(metric, records)
    parameters = metric.device.parameters
    bits = parameters["hashes_bits"] + parameters["width_bits"]
    signed: IntArray = np.zeros(1 << bits, _exact(len(records)))
    for chunk in chunks(records):
        # The hash function is below the row, and above them the bit, which is the sign.
        cell = as_integers(chunk)
        check_domain(metric, cell, 2 << bits, "padding")
        sign = (1 - 2 * (cell >> bits)).astype(signed.dtype)
        cell &= (1 << bits) - 1
        np.add.at(signed, cell, sign)
    shape = (1 << parameters["width_bits"], 1 << parameters["hashes_bits"])
    return State.of(metric, len(records), signed=signed.reshape(shape))


def _exact(n: int) -> type[np.int32] | type[np.int64]:
    """The narrowest type for sums of n signs: it moves the least memory."""
    return np.int32 if n < 1 << 31 else np.int64


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """n Var is (m/(m-1))**2 (c**2 - f - (1 - f)/m) of the sampled entries and flips, and what ``collisions`` adds."""
    parameters = metric.device.parameters
    hashes, width = 1 << parameters["hashes_bits"], 1 << parameters["width_bits"]
    n, scale = state.n, width / (width - 1)
    flip = parameters["threshold"] / (1 << parameters["precision"])
    gain = 1 / (1 - 2 * flip)
    sums = _sums(metric, state, candidates)
    count = scale * (gain * sums.astype(np.float64) - n / width)
    squares = sum_of_squares(_same_bucket(state, gain), width)
    law = CollidingSupport(n, hashes, width, 1 - flip, 0.5, squares)
    third = law.third_moment(count)
    return Estimates.of(
        metric,
        n,
        candidates,
        count=count,
        null_variance=n * scale**2 * (gain**2 - 1 / width) + collision_variance(n, count, squares, hashes, width),
        slope=-(scale**2) * (1 - 1 / width) + collision_slope(hashes, width),
        null_third=third.most,
        null_third_least=third.least,
        third_slope=third.slope,
        step=2 * scale * gain,
        support=(n + sums) // 2,
        null_law=law,
        projected=within_simplex(count, n),
    )


def _sums(metric: Metric, state: State, candidates: Sequence[str]) -> npt.NDArray[np.int64]:
    """The sum over reports of (-1)**bit H[l, bucket of the candidate]; shape (d,)."""
    parameters = metric.device.parameters
    signed = state.arrays["signed"]
    width, hashes = signed.shape
    keys = item_keys(candidates, parameters["salt"])
    total = np.zeros(len(candidates), np.int64)
    exact = _exact(state.n)
    step = max(_LEAST_COLUMNS, _CELLS_AT_ONCE // width)
    at_once = max(1, _BUCKETS_AT_ONCE // max(1, len(candidates)))
    for start in range(0, hashes, step):
        block = signed[:, start : start + step]
        transformed = walsh_hadamard(block.astype(_narrowest(block, exact), order="C")).ravel()
        columns = block.shape[1]
        for first in range(0, columns, at_once):
            column = np.arange(first, min(first + at_once, columns))
            at = buckets(keys, parameters["salt"], start + column, parameters["width_bits"])
            at *= columns
            at += column[:, np.newaxis]
            total += transformed.take(at).sum(axis=0, dtype=exact)
    return total


def _narrowest(block: IntArray, exact: type[np.signedinteger[Any]]) -> type[np.signedinteger[Any]]:
    """The type that holds every sum of a column's cells with any signs: half the bytes take half the time.

    ``exact`` holds it in any case, since it holds the number of all reports.
    """
    most = int(np.abs(block).sum(axis=0, dtype=exact).max())
    return np.int16 if most < 1 << 15 else exact


def _same_bucket(state: State, gain: float) -> float:
    """The chance that two reports under one hash function hold values of one bucket; unbiased; 1 for a single report.

    Two reports of one hash function and one row, c s and c s' times that row of H, have the inner product c**2 m s s',
    and reports of different rows have 0; the expectation is 1 where the buckets are the same, else 0. Over all ordered
    pairs they add up to c**2 m (sum of squared cells - n), and n (n - 1)/k pairs share a hash function on average.
    """
    if state.n < 2:
        return 1.0
    width, hashes = state.arrays["signed"].shape
    squares = sum_of_squared_cells(state.arrays["signed"])
    return float(gain * gain * width * (squares - state.n) * hashes / (state.n * (state.n - 1)))
