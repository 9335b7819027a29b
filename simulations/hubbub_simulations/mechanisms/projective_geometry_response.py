"""Projective geometry response for many devices; see ``hubbub_client.mechanisms.projective_geometry_response``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.mechanisms.projective_geometry_response import inverse, points_in
from hubbub_decoder.geometry import coordinates, numbers
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Words, bernoulli, field, pack, uniform_below


class Encoder:
    """Encodes values of a closed domain into points."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._order = p["order"]
        self._dimension = p["dimension"]
        self._points = points_in(p["order"], p["dimension"])
        self._owned = points_in(p["order"], p["dimension"] - 1)
        self._high_bits = p["uniform_bits"] - 64
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.noise_bytes = (p["uniform_bits"] + p["precision"] + 7) // 8
        self._inverses = np.array([inverse(number, p["order"]) for number in range(p["order"])])
        indices = np.array([device.index_of(item) for item in items], np.int64)
        self._values = coordinates(indices, p["order"], p["dimension"])
        # The place of the highest coordinate that is not 0.
        self._highest = p["dimension"] - 1 - np.argmax(self._values[::-1] != 0, axis=0)

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        keep = bernoulli(field(noise, 0, self._precision), self._threshold)
        low = field(noise, self._precision, 64)
        high = field(noise, self._precision + 64, self._high_bits)
        anywhere = uniform_below(low, high, self._high_bits, self._points)
        place = uniform_below(low, high, self._high_bits, self._owned)
        return pack(self._fields, [np.where(keep == 1, self._owned_points(index, place.astype(np.int64)), anywhere)])

    def _owned_points(self, index: NDArray[np.intp], place: NDArray[np.int64]) -> Words:
        """For each device the owned point number ``place`` of its value."""
        values, highest = self._values[:, index], self._highest[index]
        row = np.arange(self._dimension)[:, np.newaxis]
        free = np.zeros(values.shape, np.int64)
        free[:-1] = coordinates(place, self._order, self._dimension - 1)
        point = np.where(row < highest, free, np.where(row > highest, np.roll(free, 1, axis=0), 0))
        last = -(values * point).sum(axis=0) % self._order
        later = ((row > highest) & (point > 0)).any(axis=0)
        scale = np.where(later | (last == 0), 1, self._inverses[last])
        point = (point + (row == highest) * last) * scale % self._order
        return numbers(point, self._order).astype(np.uint64)
