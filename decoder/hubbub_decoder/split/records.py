"""Records of a metric with a public dimension: the byte in front, and the mechanism's own record behind it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hubbub_decoder.counting.records import Records, check_shape
from hubbub_decoder.errors import RecordError
from hubbub_registry import Metric


def own_records(metric: Metric, records: Records, cell: int | None = None) -> Records:
    """The mechanism's own records, of ``metric.undivided``: all of them, or those of one cell.

    ``records`` is uint8 of shape (n, record_bytes). Raises RecordError, also for a value that is not in the list.
    """
    if metric.dimension is None:
        return records
    _check(metric, records)
    chosen = records if cell is None else records[records[:, 0] == cell]
    return np.ascontiguousarray(chosen[:, 1:])


def by_cell(metric: Metric, records: Records) -> Iterator[tuple[int, Records]]:
    """The place of each value that occurs, and the mechanism's own records of its cell. Raises RecordError."""
    _check(metric, records)
    order = np.argsort(records[:, 0], kind="stable")  # of bytes: linear in n, however many cells there are
    own = records[order, 1:]
    ends = np.cumsum(np.bincount(records[:, 0]))
    start = 0
    for cell, end in enumerate(ends):
        if end > start:
            yield cell, own[start:end]
        start = end


def _check(metric: Metric, records: Records) -> None:
    check_shape(metric, records)
    if metric.dimension is None:
        raise RecordError(f"metric {metric.name}: it has no dimension, so its records have no cells")
    cells = len(metric.dimension.values)
    if len(records) and int(records[:, 0].max()) >= cells:
        raise RecordError(
            f"metric {metric.name}: a record's {metric.dimension.name} is not one of {cells}, so another definition "
            "made it; check which plan the devices ran"
        )
