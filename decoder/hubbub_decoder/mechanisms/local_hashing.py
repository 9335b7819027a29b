"""Decodes local hashing over a fixed family (Wang, Blocki, Li, Jha, USENIX Security 2017, section 4.4).

A report supports a candidate where it sends the candidate's bucket under its own hash function. Reports are first
counted by hash function and bucket, so a candidate costs one look-up for each hash function, however many reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import within_simplex
from hubbub_decoder.counting.bucket_sums import bucket_sums
from hubbub_decoder.counting.records import Records, as_integers, check_domain, check_shape, chunks
from hubbub_decoder.counting.state import IntArray, State, merge
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.colliding import CollidingSupport
from hubbub_decoder.support.collisions import collision_slope, collision_variance, sum_of_squared_cells, sum_of_squares
from hubbub_registry import Metric

__all__ = ["count_cells", "estimate", "merge", "partial"]

# Up to this many cells a histogram of them all is the fastest; a larger one would be mostly zeros, and mostly memory.
_DENSE = 1 << 20


def partial(metric: Metric, records: Records) -> State:
    """``counts`` (hashes, width): the reports of each hash function and bucket.

    Four bytes a cell: 1 MiB for 65536 hash functions and 4 buckets.
    """
    check_shape(metric, records)
    parameters = metric.device.parameters
    hashes, width = 1 << parameters["hashes_bits"], 1 << parameters["width_bits"]
    cells = (as_integers(chunk) for chunk in chunks(records))
    return State.of(metric, len(records), counts=count_cells(metric, cells, hashes, width, len(records)))


def count_cells(metric: Metric, cells: Iterable[npt.NDArray[np.int64]], hashes: int, width: int, n: int) -> IntArray:
    """The ``n`` reports of each hash function and bucket, (hashes, width), where a hash number is a cell's low bits."""
    counts: IntArray = np.zeros(hashes * width, np.uint32 if n < 1 << 32 else np.uint64)
    one = counts.dtype.type(1)
    for cell in cells:
        check_domain(metric, cell, len(counts), "padding")
        if len(counts) <= _DENSE:
            counts += np.bincount(cell, minlength=len(counts)).astype(counts.dtype)
        else:
            np.add.at(counts, cell, one)
    return np.ascontiguousarray(counts.reshape(width, hashes).T)


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """n Var is (1/a**2 - 1)/(m - 1) of the noise for others, and what ``collisions`` adds; see docs/estimators.md."""
    parameters = metric.device.parameters
    hashes, width = 1 << parameters["hashes_bits"], 1 << parameters["width_bits"]
    keep = parameters["threshold"] / (1 << parameters["precision"])
    n, scale = state.n, width / (width - 1)
    q = (1 - keep) / width
    p = q + keep
    counts = state.arrays["counts"]
    used = np.flatnonzero(counts.any(axis=1))
    support = bucket_sums(metric, counts, used, candidates)
    count = scale * ((support.astype(np.float64) - n * q) / keep - n / width)
    squares = sum_of_squares(_same_bucket(state, keep, q), width)
    law = CollidingSupport(n, hashes, width, p, q, squares)
    third = law.third_moment(count)
    noise = (1 / keep**2 - 1) / (width - 1)
    return Estimates.of(
        metric,
        n,
        candidates,
        count=count,
        null_variance=n * noise + collision_variance(n, count, squares, hashes, width),
        slope=scale**2 * p * (1 - p) / keep**2 - noise + collision_slope(hashes, width),
        null_third=third.most,
        null_third_least=third.least,
        third_slope=third.slope,
        step=scale / keep,
        support=support,
        null_law=law,
        projected=within_simplex(count, n),
    )


def _same_bucket(state: State, keep: float, q: float) -> float:
    """The chance that two reports under one hash function hold values of one bucket; unbiased; 1 without such pairs.

    A report of bucket y stands for the vector (e_y - q)/a, which expects to be the one-hot vector of its value's
    bucket. The inner product of two of them is (1 + m q**2 - 2 q)/a**2 where they sent the same bucket, and
    (m q**2 - 2 q)/a**2 else, and expects to be 1 where their values share one, else 0.
    """
    counts = state.arrays["counts"]
    reports = counts.sum(axis=1, dtype=np.int64).astype(np.float64)
    pairs = float(reports @ (reports - 1))
    if pairs == 0:
        return 1.0
    alike = (sum_of_squared_cells(counts) - state.n) / pairs
    return float((alike + counts.shape[1] * q * q - 2 * q) / keep**2)
