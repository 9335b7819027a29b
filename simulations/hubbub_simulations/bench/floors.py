"""The least that plain numpy can do with an array of records: what an aggregation is held against.

A floor neither checks a record, nor takes it apart, nor tells one hash function's or cohort's reports from another's,
all of which an aggregation must. Where numpy has several forms of one sum, the fastest is the floor, since a slow one
would make any decoder look good; the one that a reader would write first stands at the head of the list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Floats

Counts: TypeAlias = NDArray[Any]

# Rows whose unpacked bits stay in the cache, and the type that holds their sum.
_PIECES: tuple[tuple[int, type[np.unsignedinteger[Any]]], ...] = ((255, np.uint8), (4096, np.uint16))
_WORDS_AT_ONCE = 1 << 17


def plain_numpy(metric: Metric, records: Bytes) -> list[Callable[[], Counts]]:
    """Forms of the floor for ``records``: column sums where a record is a bit vector, else a count of whole records."""
    name, bits, _ = metric.device.fields[-1]
    if name in ("bits", "row") and bits > 1 and metric.mechanism != "hadamard-count-mean-sketch":
        return [partial(bit_sums, records), *(partial(bit_sums_in_pieces, records, *piece) for piece in _PIECES)]
    if metric.device.record_bytes == 1:
        return [partial(np.bincount, records[:, 0])]
    values = 1 << sum(width for _, width, _ in metric.device.fields)
    return [partial(record_counts, records, values), partial(record_counts_in_pieces, records, values)]


def bit_sums(records: Bytes) -> Counts:
    """How often each bit is set, in one line."""
    return np.asarray(np.unpackbits(records, axis=1).sum(axis=0))


def bit_sums_in_pieces(records: Bytes, rows: int, dtype: type[np.unsignedinteger[Any]]) -> Counts:
    """The same, ``rows`` at a time, whose sums fit in ``dtype``."""
    total = np.zeros(8 * records.shape[1], np.int64)
    for start in range(0, len(records), rows):
        total += np.unpackbits(records[start : start + rows], axis=1).sum(axis=0, dtype=dtype)
    return total


def record_counts(records: Bytes, values: int) -> Counts:
    """How often each record occurs, of ``values`` there can be, in one line a byte."""
    whole = sum(records[:, i].astype(np.int64) << (8 * i) for i in range(records.shape[1]))
    return np.asarray(np.bincount(np.asarray(whole), minlength=values))


def record_counts_in_pieces(records: Bytes, values: int) -> Counts:
    """The same for records of up to 4 bytes, read as overlapping words; the last few come from a padded copy."""
    count, width = records.shape
    total = np.zeros(values, np.int64)
    safe = max(0, count - 4 // width - 1)
    for start in range(0, safe, _WORDS_AT_ONCE):
        size = min(_WORDS_AT_ONCE, safe - start)
        words: NDArray[np.uint32] = np.ndarray((size,), "<u4", records.data, start * width, (width,))
        total += np.bincount(words & np.uint32((1 << (8 * width)) - 1), minlength=values)
    return total + record_counts(records[safe:], values)


def walsh_hadamard_of_rows(sketch: Floats) -> Floats:
    """The fast Walsh-Hadamard transform of each row of ``sketch`` (k, m), as a sketch is usually drawn."""
    table, step = sketch.copy(), 1
    while step < table.shape[1]:
        pairs = table.reshape(len(table), -1, 2, step)
        pairs[:, :, 0], pairs[:, :, 1] = pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]
        step *= 2
    return table


def walsh_hadamard_of_columns(sketch: Floats) -> Floats:
    """The same of each column of ``sketch`` (m, k): every step adds whole rows, so it is the faster one."""
    table, step = sketch.copy(), 1
    while step < len(table):
        pairs = table.reshape(-1, 2, step, table.shape[1])
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        step *= 2
    return table
