"""Local hashing for many devices; see ``hubbub_client.mechanisms.local_hashing``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli, field, pack
from hubbub_simulations.buckets import Buckets


class Encoder:
    """Encodes any values into hash numbers and noisy buckets."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._buckets = Buckets(items, p["salt"], p["width_bits"])
        self._hashes_bits = p["hashes_bits"]
        self._width_bits = p["width_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.noise_bytes = (p["hashes_bits"] + p["width_bits"] + p["precision"] + 7) // 8

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        keep = bernoulli(field(noise, 0, self._precision), self._threshold)
        anywhere = field(noise, self._precision, self._width_bits)
        j = field(noise, self._precision + self._width_bits, self._hashes_bits)
        return pack(self._fields, [j, np.where(keep == 1, self._buckets.of(index, j), anywhere)])
