"""The prefix extending method for many devices; see ``hubbub_client.mechanisms.prefix_extending_method``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.mechanisms.prefix_extending_method import PAD, lengths
from hubbub_decoder.discovery.linear_hashing import linear_buckets
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, bernoulli, field, pack
from hubbub_simulations.buckets import Buckets


class Encoder:
    """Encodes any values into slots, hash numbers and noisy buckets."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        self._p = p = device.parameters
        self._fields = device.fields
        item_bits = p["width_bits"] * p["dimension"]
        parts = [[(item + PAD * length)[:length] for item in items] for length in lengths(p)]
        self._items = [Buckets(part, p["salt"], item_bits) for part in [*parts, list(items)]]
        self._function_bits = p["width_bits"] * (p["dimension"] - 1)
        bits = p["precision"] + p["width_bits"] + p["slots_bits"] + p["families_bits"] + self._function_bits
        self.noise_bytes = (bits + 7) // 8

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        p = self._p
        keep = bernoulli(field(noise, 0, p["precision"]), p["threshold"])
        at = p["precision"]
        anywhere = field(noise, at, p["width_bits"])
        at += p["width_bits"]
        slot = field(noise, at, p["slots_bits"])
        at += p["slots_bits"]
        family = field(noise, at, p["families_bits"])
        function = field(noise, at + p["families_bits"], self._function_bits)
        part = slot * np.uint64(p["levels"] + 1) >> np.uint64(p["slots_bits"])
        item = np.zeros(len(noise), np.uint64)
        for i, items in enumerate(self._items):
            of = part == i
            number = (np.uint64(i) << np.uint64(p["families_bits"])) + family[of]
            item[of] = items.of(index[of], number)
        own = linear_buckets(item.view(np.int64), function.view(np.int64), p["width_bits"], p["dimension"])
        own = own.view(np.uint64)
        return pack(self._fields, [slot, family, function, np.where(keep == 1, own, anywhere)])
