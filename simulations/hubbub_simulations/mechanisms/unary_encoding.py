"""Optimized unary encoding for many devices; see ``hubbub_client.mechanisms.unary_encoding``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.sampling import lanes_bytes
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli_lanes, pack, place


class Encoder:
    """Encodes values of a closed domain into vectors of as many bits as there are values."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._indices = np.array([device.index_of(item) for item in items], np.uint64)
        self._domain = p["domain"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self._fair_at = lanes_bytes(p["domain"], p["precision"])
        self.noise_bytes = self._fair_at + lanes_bytes(p["domain"], 1)

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        bits = bernoulli_lanes(noise, 0, self._domain, self._threshold, self._precision)
        fair = noise[:, self._fair_at :]
        where, mask = place(bits, self._indices[index])
        # The bit-sliced draw of a fair coin is the random word itself, and of its lanes only the holder's is used.
        bits[where] ^= (bits[where] ^ fair[where]) & mask
        return pack(self._fields, [bits])
