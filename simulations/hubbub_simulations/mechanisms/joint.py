"""Two values reported together, for many devices; see ``hubbub_client.mechanisms.joint``.

A device's noise is the first part's, then the second's. Items are pairs as ``pair_bytes`` gives them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.pairs import halves
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes
from hubbub_simulations.mechanisms import encoder


class Encoder:
    """Encodes pairs into the records of both parts, one after the other."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        self._parts = []
        for part, values in zip(metric.parts, zip(*map(halves, items), strict=True), strict=True):
            # A value stands in many pairs; each part's encoder knows it once.
            numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
            which = np.array([numbers[value] for value in values], np.intp)
            self._parts.append((encoder(part, list(numbers)), which))
        self.noise_bytes = sum(each.noise_bytes for each, _ in self._parts)

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        records = []
        start = 0
        for each, which in self._parts:
            end = start + each.noise_bytes
            # A column of its own, contiguous: encoders read it in whole words.
            records.append(each.encode(which[index], np.ascontiguousarray(noise[:, start:end])))
            start = end
        return np.concatenate(records, axis=1)
