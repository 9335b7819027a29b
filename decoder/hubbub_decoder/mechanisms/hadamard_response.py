"""Decodes Hadamard response (Acharya, Sun, Zhang, AISTATS 2019, section 4) with one Walsh-Hadamard transform a block.

A report in value x's block adds H[row of x, element sent] = +1 or -1; elsewhere it adds 0. The sum expects to be a
times the number of holders, a = threshold / 2**precision, since a uniform element of a block adds up to 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.consistent import onto_simplex
from hubbub_decoder.counting.records import Records, check_shape, record_counts
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.counting.walsh import walsh_hadamard
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.statistics.binomial import FalseSupportOfSome
from hubbub_registry import Metric

__all__ = ["estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """How often each element of each block was sent; ``counts`` has shape (blocks, size)."""
    check_shape(metric, records)
    parameters = metric.device.parameters
    blocks, size = 1 << parameters["blocks_bits"], 1 << parameters["size_bits"]
    counts = record_counts(metric, records, blocks * size, "index")
    return State.of(metric, len(records), counts=counts.reshape(blocks, size))


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """n Var is P/a**2 - f, with P = a F + (1 - a)/B the share of reports in the block, F the block's true share.

    P is the share that was seen in the block, but no less than what uniform reports alone give. With no holders the
    block's reports add +1 or -1 alike, whatever other values they hold (rows of H are orthogonal): given their number,
    the +1 are a binomial of rate 1/2, whose exact tail is the p-value. Holders' third central moment is
    1/a**2 - 3 P_1/a**2 + 2 each, P_1 = a + (1 - a)/B the chance that a holder's report is in the block.
    """
    parameters = metric.device.parameters
    counts = state.arrays["counts"]
    n, (blocks, size) = state.n, counts.shape
    a = parameters["threshold"] / (1 << parameters["precision"])
    transformed = walsh_hadamard(np.ascontiguousarray(counts.T, np.int64))
    index = np.arange(parameters["domain"])
    block = index // (size - 1)
    row = index % (size - 1) + 1
    every = transformed[row, block] / a
    chosen = [metric.device.index_of(candidate.encode()) for candidate in candidates]
    count = every[chosen]
    # Row 0 of H is all ones: it counts the block's reports.
    seen = transformed[0, block[chosen]]
    in_block = np.maximum(seen, n * (1 - a) / blocks)
    return Estimates.of(
        metric,
        n,
        candidates,
        count=count,
        null_variance=in_block / a**2,
        slope=-1.0,
        third_slope=(1 - 3 * (a + (1 - a) / blocks)) / a**2 + 2,
        step=2 / a,
        support=np.column_stack([(seen + transformed[row, block][chosen]) // 2, seen]),
        null_law=FalseSupportOfSome(0.5),
        projected=onto_simplex(every, n)[chosen],
    )
