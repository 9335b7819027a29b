"""The count mean sketch for many devices; see ``hubbub_client.mechanisms.count_mean_sketch``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.sampling import lanes_bytes
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli_lanes, field, pack, place
from hubbub_simulations.buckets import Buckets


class Encoder:
    """Encodes any values into hash numbers and noisy rows of the sketch."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._buckets = Buckets(items, p["salt"], p["width_bits"])
        self._hashes_bits = p["hashes_bits"]
        self._width = 1 << p["width_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self._row_at = (p["hashes_bits"] + 7) // 8
        self.noise_bytes = self._row_at + lanes_bytes(self._width, p["precision"])

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        j = field(noise, 0, self._hashes_bits)
        row = bernoulli_lanes(noise, self._row_at, self._width, self._threshold, self._precision)
        where, mask = place(row, self._buckets.of(index, j))
        row[where] ^= mask
        return pack(self._fields, [j, row])
