"""Decodes the count mean sketch (Apple, "Learning with privacy at scale", 2017, algorithms 2 and 4).

With debiased bits, each report adds to a candidate 1 where its value shares the candidate's bucket under the report's
hash function, and 0 else, in expectation. Values other than the candidate share it with probability 1/m, so with C the
sum over reports the estimate is m/(m - 1) (C - n/m).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.consistent import within_simplex
from hubbub_decoder.counting.bit_sums import grouped_bit_sums
from hubbub_decoder.counting.bucket_sums import bucket_sums
from hubbub_decoder.counting.records import Records
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.colliding import CollidingSupport
from hubbub_decoder.support.collisions import collision_slope, collision_variance, sum_of_squared_cells, sum_of_squares
from hubbub_registry import Metric

__all__ = ["estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """``sums`` (hashes, width): the reports with each bit set under each hash function; ``reports`` (hashes,).

    The whole sketch is kept, since any candidate may be asked for later. It takes hashes x width bytes until some row
    has seen 255 reports, then twice that: 64 MiB, then 128 MiB, for Apple's 65536 x 1024.
    """
    sums, reports = grouped_bit_sums(metric, records, 1 << metric.device.parameters["hashes_bits"])
    return State.of(metric, len(records), sums=sums, reports=reports)


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """n Var is (m/(m-1))**2 t(1-t)/(1-2t)**2 of the flips, with t their probability, and what ``collisions`` adds."""
    parameters = metric.device.parameters
    hashes, width = 1 << parameters["hashes_bits"], 1 << parameters["width_bits"]
    flip = parameters["threshold"] / (1 << parameters["precision"])
    n, gain, scale = state.n, 1 - 2 * flip, width / (width - 1)
    support = bucket_sums(metric, state.arrays["sums"], np.flatnonzero(state.arrays["reports"]), candidates)
    debiased = (support.astype(np.float64) - n * flip) / gain
    count = scale * (debiased - n / width)
    squares = sum_of_squares(_same_bucket(state, flip), width)
    law = CollidingSupport(n, hashes, width, 1 - flip, flip, squares)
    third = law.third_moment(count)
    noise = n * scale**2 * flip * (1 - flip) / gain**2
    return Estimates.of(
        metric,
        n,
        candidates,
        count=count,
        null_variance=noise + collision_variance(n, count, squares, hashes, width),
        slope=collision_slope(hashes, width),
        null_third=third.most,
        null_third_least=third.least,
        third_slope=third.slope,
        step=scale / gain,
        support=support,
        null_law=law,
        projected=within_simplex(count, n),
    )


def _same_bucket(state: State, flip: float) -> float:
    """The chance that two reports under one hash function hold values of one bucket; unbiased; 1 without such pairs.

    The inner product of two debiased rows expects to be 1 where the buckets are the same, else 0. Over all ordered
    pairs of different reports of a hash function these products add up to |D|**2 - sum of |d_i|**2, with D the sum of
    its debiased rows d_i, whose entries are (1 - t)/(1 - 2t) for a bit of 1 and -t/(1 - 2t) for a 0. A hash function
    with one report adds exactly 0.
    """
    sums, reports = state.arrays["sums"], state.arrays["reports"].astype(np.float64)
    pairs = float(reports @ (reports - 1))
    if pairs == 0:
        return 1.0
    width = sums.shape[1]
    ones = sums.sum(axis=1, dtype=np.int64).astype(np.float64)
    together = (
        sum_of_squared_cells(sums) - 2 * flip * float(reports @ ones) + width * flip**2 * float(reports @ reports)
    )
    alone = float(ones.sum()) * (1 - flip) ** 2 + (state.n * width - float(ones.sum())) * flip**2
    return float((together - alone) / (1 - 2 * flip) ** 2 / pairs)
