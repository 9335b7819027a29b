"""Hadamard response for many devices; see ``hubbub_client.mechanisms.hadamard_response``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli, field, pack, parity


class Encoder:
    """Encodes values of a closed domain into indices of the code."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._size_bits = p["size_bits"]
        self._output_bits = p["blocks_bits"] + p["size_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.noise_bytes = (self._output_bits + p["precision"] + 7) // 8
        indices = [device.index_of(item) for item in items]
        columns = (1 << p["size_bits"]) - 1
        rows = [index % columns + 1 for index in indices]
        self._blocks = np.array([(index // columns) << p["size_bits"] for index in indices], np.uint64)
        self._rows = np.array(rows, np.uint64)
        self._lowest = np.array([row & -row for row in rows], np.uint64)

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        keep = bernoulli(field(noise, 0, self._precision), self._threshold)
        anywhere = field(noise, self._precision, self._output_bits)
        element = anywhere & np.uint64((1 << self._size_bits) - 1)
        off = parity(element & self._rows[index])
        owned = self._blocks[index] | (element ^ (off * self._lowest[index]))
        return pack(self._fields, [np.where(keep == 1, owned, anywhere)])
