"""RAPPOR for many devices; see ``hubbub_client.mechanisms.rappor``.

A device's noise is laid out as its cohort's uniform bytes, then what its permanent response reads, then what its
instantaneous response reads (one-time RAPPOR has none). A real device derives the first two from its secret.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.sampling import lanes_bytes
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Words, bernoulli_lanes, field, pack, place, uniform_below
from hubbub_simulations.buckets import Buckets

COHORT_BYTES = 12


class Encoder:
    """Encodes values into the cohorts and noisy Bloom filters (or one-hot vectors) of devices that are all new."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        self._p = p = device.parameters
        self._fields = device.fields
        self._irr_at = COHORT_BYTES + lanes_bytes(p["bits"], p["prr_precision"])
        self.noise_bytes = self._irr_at + lanes_bytes(p["bits"], p["irr_precision"])
        if p["hashes"]:
            self._buckets = Buckets(items, p["salt"], p["bits_bits"])
        else:
            self._indices = np.array([device.index_of(item) for item in items], np.uint64)

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        p = self._p
        cohort = uniform_below(field(noise, 0, 64), field(noise, 64, 32), 32, p["cohorts"])
        flips = bernoulli_lanes(noise, COHORT_BYTES, p["bits"], p["prr_threshold"], p["prr_precision"])
        sent = self._filter(index, cohort, flips.shape[1]) ^ flips
        if p["irr_precision"]:
            ones = bernoulli_lanes(noise, self._irr_at, p["bits"], p["irr_q"], p["irr_precision"])
            zeros = bernoulli_lanes(noise, self._irr_at, p["bits"], p["irr_p"], p["irr_precision"])
            sent = zeros ^ ((zeros ^ ones) & sent)
        return pack(self._fields, [cohort, sent])

    def _filter(self, index: NDArray[np.intp], cohort: Words, size: int) -> Bytes:
        held = np.zeros((len(index), size), np.uint8)
        hashes = self._p["hashes"]
        for i in range(hashes or 1):
            position = (
                self._buckets.of(index, cohort * np.uint64(hashes) + np.uint64(i)) if hashes else self._indices[index]
            )
            where, mask = place(held, position)
            held[where] |= mask
        return held
