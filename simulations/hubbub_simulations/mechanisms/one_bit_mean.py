"""The one-bit mean for many devices; see ``hubbub_client.mechanisms.one_bit_mean``.

A device's noise is laid out as what its offset alpha reads, then what the permanent bit of its point reads, then the
perturbation's. A real device derives the first two from its secret.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.integer_range import offset_in_range
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli, field, pack, uniform_below


class Encoder:
    """Encodes integers of the range into one bit each, of devices that are all new."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        self._p = p = device.parameters
        self._fields = device.fields
        self._steps = p["points"] - 1
        scaled = [offset_in_range(device, item) * self._steps for item in items]
        self._scaled = np.array(scaled, np.uint64)
        self._permanent_at = 8 * ((p["alpha_bits"] + 7) // 8)
        self._fresh_at = self._permanent_at + 8 * ((p["end_bits"] + p["precision"] + 7) // 8)
        self.noise_bytes = self._fresh_at // 8 + (p["perturbation_bits"] + 7) // 8
        # The client's thresholds of "the upper end", of 64 bits; the highest point's, 2**64, is always met.
        shares = [((point << p["end_bits"]) // self._steps) % (1 << 64) for point in range(p["points"])]
        self._shares = np.array(shares, np.uint64)

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        p = self._p
        high_bits = p["alpha_bits"] - 64
        alpha = uniform_below(field(noise, 0, 64), field(noise, 64, high_bits), high_bits, p["span"])
        point = (self._scaled[index] + alpha) // np.uint64(p["span"])
        drawn = field(noise, self._permanent_at, p["end_bits"])
        end = (drawn < self._shares[point.astype(np.intp)]) | (point == self._steps)
        flip = bernoulli(field(noise, self._permanent_at + p["end_bits"], p["precision"]), p["threshold"])
        change = bernoulli(field(noise, self._fresh_at, p["perturbation_bits"]), p["perturbation"])
        return pack(self._fields, [end.astype(np.uint64) ^ flip ^ change])
