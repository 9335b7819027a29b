"""Reading a sketch: what its cells at a candidate's buckets add up to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hubbub_decoder.counting.hashing import buckets, item_keys
from hubbub_decoder.counting.state import IntArray
from hubbub_registry import Metric

# Candidates x hash functions whose buckets are in memory at a time: 512 KiB, so that they stay in the cache.
_BUCKETS_AT_ONCE = 1 << 16


def bucket_sums(
    metric: Metric, sketch: IntArray, used: npt.NDArray[np.int64], candidates: Sequence[str]
) -> npt.NDArray[np.int64]:
    """The sum, over the hash functions ``used``, of the cell at the candidate's bucket; shape (d,).

    ``sketch`` has shape (hashes, width). Hash functions that no report drew have nothing to add, and may be left out.
    """
    parameters = metric.device.parameters
    keys = item_keys(candidates, parameters["salt"])
    total = np.zeros(len(candidates), np.int64)
    step = max(1, _BUCKETS_AT_ONCE // max(1, len(candidates)))
    for start in range(0, len(used), step):
        rows = used[start : start + step]
        at = buckets(keys, parameters["salt"], rows, parameters["width_bits"])
        at += (np.arange(len(rows)) << parameters["width_bits"])[:, np.newaxis]
        # Taking from one flat array is a third faster than along an axis.
        total += sketch[rows].ravel().take(at).sum(axis=0, dtype=np.int64)
    return total
