"""Column sums of bit vectors, per group: what unary encoding, the count mean sketch and RAPPOR aggregate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hubbub_decoder.errors import RecordError
from hubbub_decoder.records import Records, check_domain, check_shape, first_field
from hubbub_decoder.state import IntArray
from hubbub_registry import Metric

# The unpacked bits of one piece, a byte each.
_PIECE_BYTES = 4 << 20
# Sort first where a piece would hold fewer records of a group than this.
_SPARSE = 8
_LONGEST = 255  # a run of this many bits still adds up in a byte


def grouped_bit_sums(metric: Metric, records: Records, groups: int) -> tuple[IntArray, IntArray]:
    """Sums the bit vectors (a record's last field) within each group (the number in its first field, if it has two).

    Returns ``sums`` of shape (groups, bits), in the narrowest unsigned type, and ``reports``, the records of each
    group, of shape (groups,), int64. Raises RecordError for records of another shape or outside a domain.

    A piece of the records at a time is unpacked to a byte a bit and multiplied by a sparse 0/1 matrix that adds up the
    rows of each group: scipy's inner loop for that is a byte-wise vector addition, so nothing is copied or widened on
    the way. Where a piece would hold few records of each of many groups, the records are sorted by group first.
    """
    check_shape(metric, records)
    skip, bits = sum(field[1] for field in metric.device.fields[:-1]), metric.device.fields[-1][1]
    group = first_field(records, skip)
    check_domain(metric, group, groups, "group")
    reports = np.bincount(group, minlength=groups)
    # The first field's bits are summed too, and left out at the end: cutting them off each record would cost a copy.
    sums: IntArray = np.zeros((groups, 8 * records.shape[1]), np.min_scalar_type(int(reports.max(initial=0))))
    # The narrowest type, because numpy sorts 16 bits and fewer by radix.
    group = group.astype(np.min_scalar_type(groups - 1))
    piece = max(1, _PIECE_BYTES // (8 * records.shape[1]))
    order = np.argsort(group, kind="stable") if groups * _SPARSE > piece else None
    for start in range(0, len(records), piece):
        here = slice(start, start + piece) if order is None else order[start : start + piece]
        _add_groups(sums, np.unpackbits(records[here], axis=1, bitorder="little"), group[here])
    if sums[:, skip + bits :].any():
        raise RecordError(f"metric {metric.name}: a record's padding is not zero; another definition made it")
    return sums[:, skip : skip + bits], reports


def _add_groups(sums: IntArray, unpacked: npt.NDArray[np.uint8], group: IntArray) -> None:
    """Adds each row of ``unpacked`` to its group's row of ``sums``."""
    order = np.argsort(group, kind="stable")
    in_order = group[order]
    starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    lengths = np.diff(starts, append=len(group))
    parts = -(-lengths // _LONGEST)  # each group in parts whose sums fit in a byte
    first_part = np.cumsum(parts) - parts
    within = np.arange(parts.sum()) - np.repeat(first_part, parts)
    partial = _run_sums(unpacked, order, np.repeat(starts, parts) + within * _LONGEST)
    if len(partial) > len(starts):
        partial = _run_sums(partial.astype(np.uint32), np.arange(len(partial)), first_part)
    sums[in_order[starts]] += partial.astype(sums.dtype, copy=False)


def _run_sums(rows: IntArray, order: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> IntArray:
    """Row i of the result is the sum of ``rows[order[starts[i]:starts[i + 1]]]``, in the type of ``rows``."""
    n = len(rows)
    bounds = np.append(starts, n).astype(np.int32)
    runs = sparse.csr_array((np.ones(n, rows.dtype), order.astype(np.int32), bounds), shape=(len(starts), n))
    return np.asarray(runs @ rows)
