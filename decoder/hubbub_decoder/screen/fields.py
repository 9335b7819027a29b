"""The fields of many records at once: numbers, and how many ones a bit vector has."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub_decoder.counting.records import Records, bits_at
from hubbub_registry import Metric


def start_of(metric: Metric, field: int) -> int:
    """The bit of a record at which its field number ``field`` begins."""
    return sum(bits for _, bits, _ in metric.device.fields[:field])


def numbers(metric: Metric, records: Records, field: int) -> npt.NDArray[np.int64]:
    """Field number ``field`` (at most 48 bits) of each record; shape (n,)."""
    return bits_at(records, start_of(metric, field), metric.device.fields[field][1])


def ones(metric: Metric, records: Records) -> npt.NDArray[np.int64]:
    """How many bits of the last field of each record are 1; shape (n,). What lies behind it is zero in any record."""
    start = start_of(metric, len(metric.device.fields) - 1)
    held = records[:, start // 8 :]
    words = np.zeros(
        (len(held), -(-held.shape[1] // 8) * 8), np.uint8
    )  # whole words are counted in a tenth of the time
    words[:, : held.shape[1]] = held
    words[:, 0] &= 0xFF << (start % 8) & 0xFF
    total: npt.NDArray[np.int64] = np.bitwise_count(words.view(np.uint64)).sum(axis=1, dtype=np.int64)
    return total
