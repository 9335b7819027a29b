"""The sequence fragment puzzle for many devices; see ``hubbub_client.mechanisms.sequence_fragment_puzzle``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.mechanisms.sequence_fragment_puzzle import (
    Part,
    fragment_at,
    fragment_item,
    fragment_part,
    puzzle_piece,
    whole_part,
)
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Words, bernoulli, field, pack
from hubbub_simulations.buckets import Buckets


class Encoder:
    """Encodes any values into noisy buckets of theirs, and of one of their fragments each."""

    def __init__(self, metric: Metric, items: Sequence[bytes]) -> None:
        device = metric.device
        p = device.parameters
        self._fields = device.fields
        self._whole, self._fragment = whole_part(p), fragment_part(p)
        self._positions = 1 << p["positions_bits"]
        self._whole_buckets = _buckets(self._whole, items)
        pieces = [puzzle_piece(item, p) for item in items]
        self._fragment_buckets = _buckets(
            self._fragment,
            [
                fragment_item(fragment_at(item, position, p["fragment_bytes"]), piece)
                for item, piece in zip(items, pieces, strict=True)
                for position in range(self._positions)
            ],
        )
        self._fragment_at = 8 * _noise_bytes(self._whole)
        self.noise_bytes = _noise_bytes(self._whole) + _noise_bytes(self._fragment)

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records of n devices."""
        own, j = _respond(self._whole, self._whole_buckets, index, noise, 0)
        function = _function(self._fragment, noise, self._fragment_at)
        position = function % np.uint64(self._positions)
        item = index * self._positions + position.astype(np.intp)
        fragment, _ = _respond(self._fragment, self._fragment_buckets, item, noise, self._fragment_at)
        return pack(self._fields, [j, own, position, function // np.uint64(self._positions), fragment])


def _buckets(part: Part, items: Sequence[bytes]) -> Buckets:
    return Buckets(items, part.parameters["salt"], part.parameters["width_bits"])


def _noise_bytes(part: Part) -> int:
    return (part.bits + part.parameters["precision"] + 7) // 8


def _function(part: Part, noise: Bytes, at: int) -> Words:
    """The hash numbers, which local hashing draws behind the bits of its flip and its bucket."""
    p = part.parameters
    return field(noise, at + p["precision"] + p["width_bits"], p["hashes_bits"])


def _respond(part: Part, buckets: Buckets, index: NDArray[np.intp], noise: Bytes, at: int) -> tuple[Words, Words]:
    """Local hashing of item ``index[i]`` for each device: buckets and hash numbers."""
    p = part.parameters
    keep = bernoulli(field(noise, at, p["precision"]), p["threshold"])
    anywhere = field(noise, at + p["precision"], p["width_bits"])
    j = _function(part, noise, at)
    return np.where(keep == 1, buckets.of(index, j), anywhere), j
