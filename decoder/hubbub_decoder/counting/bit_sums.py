"""Column sums of bit vectors, per group: what unary encoding, the count mean sketch and RAPPOR aggregate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hubbub_decoder.counting.carry_save import LONGEST, MOST_ROWS, Bits, lane_sums
from hubbub_decoder.counting.records import Records, check_domain, check_shape, first_field
from hubbub_decoder.counting.state import IntArray
from hubbub_decoder.errors import RecordError
from hubbub_registry import Metric

# The records of a piece, which are gathered out of order: few enough to come from the cache.
_PIECE_BYTES = 8 << 20
# Sort all records first where a piece would hold fewer of each group than this.
_SPARSE = 16
# One vector of each lane of a batch: enough for the calls of numpy not to count, few enough for the cache.
_BATCH_BYTES = 1 << 17


def grouped_bit_sums(metric: Metric, records: Records, groups: int) -> tuple[IntArray, IntArray]:
    """Sums the bit vectors (a record's last field) within each group (the number in its first field, if it has two).

    Returns ``sums`` of shape (groups, bits), in the narrowest unsigned type, and ``reports``, the records of each
    group, of shape (groups,), int64. Raises RecordError for records of another shape or outside a domain.

    A piece of the records at a time is dealt to lanes, each of one group, and the lanes are added up without being
    unpacked (``carry_save``). Where a piece would hold few records of each of many groups, all records are one piece.
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
    records = np.ascontiguousarray(records)
    piece = max(1, _PIECE_BYTES // records.shape[1])
    only = groups * _SPARSE > piece or piece >= len(records)
    if only:
        piece = max(1, len(records))
    for start in range(0, len(records), piece):
        here = slice(start, start + piece)
        if groups == 1:
            _add_all(sums[0], records[here])
        else:
            counts = reports if only else np.bincount(group[here], minlength=groups)
            _add_groups(sums, records[here], group[here], counts, only=only)
    if sums[:, skip + bits :].any():
        raise RecordError(f"metric {metric.name}: a record's padding is not zero; another definition made it")
    return sums[:, skip : skip + bits], reports


def _longest(records: Records) -> int:
    """How long a lane should be for one vector of each to fill half a batch: groups do not divide evenly."""
    return int(np.clip(2 * records.size // _BATCH_BYTES, MOST_ROWS, LONGEST))


def _add_all(sums: IntArray, records: Records) -> None:
    """Adds the records, all of one group, to ``sums`` of shape (bits,); lane i holds every so-many-th, from i on."""
    n, width = records.shape
    lanes = -(-n // _longest(records))
    lengths = np.full(lanes, n // lanes)
    lengths[: n % lanes] += 1

    def fill(rank: int, out: Bits) -> None:
        there = records[rank * lanes : (rank + len(out)) * lanes]
        if out.shape[1] == lanes and len(there) == len(out) * lanes:
            out.reshape(-1, width)[...] = there
        else:
            for row in range(len(out)):
                there = records[(rank + row) * lanes :][: out.shape[1]]
                out[row, : len(there)] = there

    sums += lane_sums(fill, lengths, width).sum(axis=0, dtype=sums.dtype)


def _add_groups(
    sums: IntArray, records: Records, group: IntArray, counts: npt.NDArray[np.int64], *, only: bool
) -> None:
    """Adds each record to its group's row of ``sums``, all 0 where this is the ``only`` piece.

    ``counts`` says how many records each group has here. A lane holds some of one group's that are consecutive once
    sorted by group.
    """
    width = records.shape[1]
    order = np.argsort(group, kind="stable")
    present = np.flatnonzero(counts)
    counts = counts[present]
    longest = _longest(records)
    lanes = -(-counts // longest)
    owner = np.repeat(present, lanes)
    within = longest * (np.arange(len(owner)) - np.repeat(np.cumsum(lanes) - lanes, lanes))
    starts = within + np.repeat(np.cumsum(counts) - counts, lanes)
    lengths = np.minimum(np.repeat(counts, lanes) - within, longest)
    step = max(1, _BATCH_BYTES // width)
    for start in range(0, len(owner), step):
        here = slice(start, start + step)
        falling = np.argsort((LONGEST - lengths[here]).astype(np.uint8), kind="stable")
        gather = _Gather(records, order, starts[here][falling])
        of_lanes = lane_sums(gather, lengths[here][falling], width)
        if only and len(owner) == len(present):  # writing takes half the time of adding
            sums[owner[here][falling]] = of_lanes
        else:
            _add_lanes(sums, of_lanes, owner[here], falling)


class _Gather:
    """Vectors of lanes that begin at ``starts`` in the ``order`` of the records."""

    def __init__(self, records: Records, order: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> None:
        # As one item a record, which numpy copies several times faster than rows of bytes.
        self._record = np.dtype((np.void, records.shape[1]))
        self._records = records.reshape(-1).view(self._record)
        self._order = order
        self._starts = starts

    def __call__(self, rank: int, out: Bits) -> None:
        ranks = np.arange(rank, rank + len(out))[:, np.newaxis]
        # What lies beyond a lane's end does not count; beyond all records, the last one is as good as any.
        at = self._order.take(self._starts[: out.shape[1]] + ranks, mode="clip")
        self._records.take(at.ravel(), out=out.reshape(-1).view(self._record), mode="clip")


def _add_lanes(sums: IntArray, of_lanes: Bits, owner: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> None:
    """Adds the sums of lane ``order[i]``, which are row i of ``of_lanes``, to the row of its ``owner``, rising."""
    starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
    owner = owner[starts]
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    rows = of_lanes.astype(sums.dtype, copy=False)
    bounds = np.append(starts, len(order)).astype(np.int32)
    # The inner loop of scipy's product is an addition of whole rows.
    lanes = sparse.csr_array((np.ones(len(order), rows.dtype), place, bounds), shape=(len(starts), len(order)))
    sums[owner] += np.asarray(lanes @ rows)
