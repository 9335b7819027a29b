"""From records (bytes, bit-packed from the lowest bit up) to numpy integers, without a Python loop over records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hubbub_decoder.errors import RecordError
from hubbub_registry import Metric

Records = npt.NDArray[np.uint8]
# Small enough for what is derived from a chunk to stay in the processor's cache.
CHUNK_RECORDS = 1 << 17
# Records of more bytes are checked before they are counted: a table as long as the largest might not fit in memory.
_SHORT = 3


def check_shape(metric: Metric, records: Records) -> None:
    """Raises RecordError unless ``records`` is a uint8 array of shape (n, record_bytes)."""
    width = metric.device.record_bytes
    if not isinstance(records, np.ndarray):
        raise RecordError(
            f"metric {metric.name}: records are a uint8 array of shape (n, {width}), not {type(records).__name__}; for "
            f'a list of bytes pass np.frombuffer(b"".join(records), np.uint8).reshape(-1, {width})'
        )
    if records.dtype != np.uint8 or records.ndim != 2 or records.shape[1] != width:
        raise RecordError(
            f"metric {metric.name}: records are a uint8 array of shape (n, {width}), not {records.dtype} of shape "
            f"{records.shape}; read them with hubbub_decoder.Dataset"
        )


def chunks(records: Records, size: int = CHUNK_RECORDS) -> Iterator[Records]:
    """``records`` in pieces of at most ``size`` records, as views."""
    for start in range(0, len(records), size):
        yield records[start : start + size]


def as_integers(records: Records) -> npt.NDArray[np.int64]:
    """Each record as one integer; shape (n,). For records of at most seven bytes."""
    records = np.ascontiguousarray(records)
    n, width = records.shape
    size = 1 if width == 1 else 2 if width == 2 else 4 if width <= 4 else 8
    # Overlapping reads of whole words are several times faster than putting bytes together. The last few words would
    # end beyond the buffer, so those records are read from a padded copy.
    safe = max(0, (n * width - size) // width + 1) if n else 0
    word: np.dtype[Any] = np.dtype(f"<u{size}" if size < 8 else "<i8")
    words = np.ndarray((safe,), word, records.data if n else None, 0, (width,))
    result = np.empty(n, np.int64)
    result[:safe] = words if width == size else words & np.int64((1 << (8 * width)) - 1)
    tail = np.zeros((n - safe, size), np.uint8)
    tail[:, :width] = records[safe:]
    result[safe:] = tail.view(word)[:, 0]
    return result


def record_counts(metric: Metric, records: Records, domain: int, what: str) -> npt.NDArray[np.int64]:
    """How often each record occurs as an integer below ``domain``; shape (domain,). RecordError for one that is not."""
    counts = np.zeros(domain, np.int64)
    for chunk in chunks(records):
        record = as_integers(chunk)
        if records.shape[1] > _SHORT:
            check_domain(metric, record, domain, what)
        here = np.bincount(record, minlength=domain)
        if len(here) > domain:
            check_domain(metric, record, domain, what)
        counts += here
    return counts


def check_domain(metric: Metric, values: npt.NDArray[np.int64], domain: int, what: str) -> None:
    """Raises RecordError where one of ``values``, none negative, is not below ``domain``."""
    if values.size and int(values.max()) >= domain:
        raise RecordError(
            f"metric {metric.name}: a record's {what} is not below {domain}, so another definition made it; check "
            "which plan the devices ran"
        )


def first_field(records: Records, bits: int) -> npt.NDArray[np.int64]:
    """The lowest ``bits`` (at most 24) of each record; shape (n,)."""
    if bits == 0:
        return np.zeros(len(records), np.int64)
    size = 1 if bits <= 8 else 2 if bits <= 16 else 4
    if records.shape[1] < size or records.strides[1] != 1:
        lowest = as_integers(records[:, : (bits + 7) // 8])
    else:  # read where it stands: cutting it out of each record first takes several times as long
        lowest = records[:, :size].view(f"<u{size}")[:, 0].astype(np.int64)
    if bits % 8 or bits == 24:
        lowest &= (1 << bits) - 1
    return lowest


def bits_at(records: Records, at: int, bits: int) -> npt.NDArray[np.int64]:
    """Bits ``at`` to ``at + bits`` (at most 48 of them) of each record; shape (n,)."""
    if bits == 0:
        return np.zeros(len(records), np.int64)
    first, shift = divmod(at, 8)
    words = as_integers(records[:, first : first + (shift + bits + 7) // 8])
    words >>= shift
    words &= (1 << bits) - 1
    return words
