"""Hierarchical histograms of many devices; see ``hubbub_client.mechanisms.hierarchical_histogram``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.integer_range import offset_in_range
from hubbub_client.mechanisms.hierarchical_histogram import at_level, nodes_bits
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.numbers.geometry import points_of
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Words, bernoulli, field, pack, uniform_below
from hubbub_simulations.owned_points import OwnedPoints


class Encoder:
    """Encodes integers of the range into levels and points."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        self._fields = device.fields
        self._p = p = device.parameters
        self._levels = [at_level(p, level) for level in range(1 << p["levels_bits"])]
        self.noise_bytes = (p["levels_bits"] + p["precision"] + p["uniform_bits"] + 7) // 8
        held = [offset_in_range(device, item) for item in items]
        buckets = (np.array(held, np.int64) << p["buckets_bits"]) // (p["span"] + 1)
        self._own = []
        for level, own in enumerate(self._levels):
            nodes = buckets >> (p["buckets_bits"] - nodes_bits(p, level))
            geometry = own["order"], own["dimension"]
            self._own.append(OwnedPoints(points_of(nodes, *geometry), *geometry))

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        level = field(noise, 0, self._p["levels_bits"])
        point = np.zeros(len(noise), np.uint64)
        for number in range(len(self._levels)):
            drawn = np.flatnonzero(level == number)
            point[drawn] = self._points(number, index[drawn], noise[drawn])
        return pack(self._fields, [level, point])

    def _points(self, number: int, index: NDArray[np.intp], noise: Bytes) -> Words:
        own = self._levels[number]
        at, high_bits = self._p["levels_bits"] + own["precision"], own["uniform_bits"] - 64
        keep = bernoulli(field(noise, self._p["levels_bits"], own["precision"]), own["threshold"])
        low, high = field(noise, at, 64), field(noise, at + 64, high_bits)
        anywhere = uniform_below(low, high, high_bits, points_in(own["order"], own["dimension"]))
        place = uniform_below(low, high, high_bits, points_in(own["order"], own["dimension"] - 1))
        return np.where(keep == 1, self._own[number].of(index, place.astype(np.int64)), anywhere)
