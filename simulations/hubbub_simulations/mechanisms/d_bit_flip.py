"""d-bit flip for many devices; see ``hubbub_client.mechanisms.d_bit_flip``.

A device's noise is laid out as its draws of buckets, then what the permanent flips of its value's place read, then the
perturbation's. A real device derives the first two from its secret.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.integer_range import offset_in_range
from hubbub_client.sampling import lanes_bytes
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Words, bernoulli_lanes, field, pack, uniform_below


class Encoder:
    """Encodes integers of the range into buckets and noisy bits of devices that are all new."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        self._p = p = device.parameters
        self._fields = device.fields
        held = [offset_in_range(device, item) * p["buckets"] // (p["span"] + 1) for item in items]
        self._held = np.array(held, np.uint64)
        self._draw_bytes = (p["draw_bits"] + 7) // 8
        self._permanent_at = p["bits"] * self._draw_bytes
        self._fresh_at = self._permanent_at + lanes_bytes(p["bits"], p["precision"])
        self.noise_bytes = self._fresh_at + lanes_bytes(p["bits"], p["perturbation_bits"])

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        p = self._p
        buckets = self._buckets(noise)
        held = np.packbits(buckets == self._held[index][:, np.newaxis], axis=1, bitorder="little")
        flips = bernoulli_lanes(noise, self._permanent_at, p["bits"], p["threshold"], p["precision"])
        changes = bernoulli_lanes(noise, self._fresh_at, p["bits"], p["perturbation"], p["perturbation_bits"])
        return pack(self._fields, [*buckets.T, held ^ flips ^ changes])

    def _buckets(self, noise: Bytes) -> Words:
        """The buckets of each device, in ascending order; shape (n, bits)."""
        high_bits = self._p["draw_bits"] - 64
        buckets = np.empty((len(noise), 0), np.uint64)
        for i in range(self._p["bits"]):
            at = 8 * i * self._draw_bytes
            low, high = field(noise, at, 64), field(noise, at + 64, high_bits)
            bucket = uniform_below(low, high, high_bits, self._p["buckets"] - i)
            for taken in buckets.T:
                bucket += bucket >= taken
            buckets = np.sort(np.column_stack([buckets, bucket]), axis=1)
        return buckets
