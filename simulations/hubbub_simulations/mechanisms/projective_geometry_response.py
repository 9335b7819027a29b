"""Projective geometry response for many devices; see ``hubbub_client.mechanisms.projective_geometry_response``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli, field, pack, uniform_below
from hubbub_simulations.owned_points import OwnedPoints


class Encoder:
    """Encodes values of a closed domain into points."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._points = points_in(p["order"], p["dimension"])
        self._owned = points_in(p["order"], p["dimension"] - 1)
        self._high_bits = p["uniform_bits"] - 64
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.noise_bytes = (p["uniform_bits"] + p["precision"] + 7) // 8
        indices = np.array([device.index_of(item) for item in items], np.int64)
        self._own = OwnedPoints(indices, p["order"], p["dimension"])

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        keep = bernoulli(field(noise, 0, self._precision), self._threshold)
        low = field(noise, self._precision, 64)
        high = field(noise, self._precision + 64, self._high_bits)
        anywhere = uniform_below(low, high, self._high_bits, self._points)
        place = uniform_below(low, high, self._high_bits, self._owned)
        owned = self._own.of(index, place.astype(np.int64))
        return pack(self._fields, [np.where(keep == 1, owned, anywhere)])
