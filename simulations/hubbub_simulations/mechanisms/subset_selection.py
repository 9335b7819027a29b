"""Subset selection for many devices; see ``hubbub_client.mechanisms.subset_selection``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli, field, pack, uniform_below


class Encoder:
    """Encodes values of a closed domain into sets of values."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._indices = np.array([device.index_of(item) for item in items], np.intp)
        self._domain = p["domain"]
        self._size = p["size"]
        self._high_bits = p["draw_bits"] - 64
        self._draw_bytes = (p["draw_bits"] + 7) // 8
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self._draws_at = (p["precision"] + 7) // 8
        self.noise_bytes = self._draws_at + p["size"] * self._draw_bytes

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        keep = bernoulli(field(noise, 0, self._precision), self._threshold) == 1
        # A place for each value: the device's own last, the others as they come.
        held = np.zeros((len(index), self._domain), np.bool_)
        held[:, -1] = keep
        every = np.arange(len(index))
        first = self._domain - 1 - self._size
        for last in range(first, self._domain - 1):
            at = 8 * (self._draws_at + (last - first) * self._draw_bytes)
            low, high = field(noise, at, 64), field(noise, at + 64, self._high_bits)
            lane = uniform_below(low, high, self._high_bits, last + 1).astype(np.intp)
            lane = np.where(held[every, lane], last, lane)
            held[every, lane] = ~keep if last == first else True
        value = self._indices[index][:, np.newaxis]
        column = np.arange(self._domain)
        place = np.where(column == value, self._domain - 1, column - (column > value))
        bits = np.take_along_axis(held, place, axis=1)
        return pack(self._fields, [np.packbits(bits, axis=1, bitorder="little")])
