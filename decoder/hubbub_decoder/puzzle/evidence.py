"""How strongly the sketch of one position speaks for each fragment with each puzzle piece."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.sequence_fragment_puzzle import PIECE_BYTES, fragment_part
from hubbub_decoder.counting.hashing import Keys, buckets
from hubbub_decoder.counting.state import State
from hubbub_decoder.discovery.many_xxh32 import xxh32
from hubbub_registry import Metric

Scores = npt.NDArray[np.float32]
# Items x hash functions whose buckets are in memory at a time, and items among these: so that they stay in the cache.
_BUCKETS_AT_ONCE, _ITEMS_AT_ONCE = 1 << 16, 1 << 13


class Evidence:
    """The keys of all fragments with all pieces, and what a state says of them."""

    def __init__(self, metric: Metric, state: State, fragments: Sequence[bytes]) -> None:
        self._parameters = p = metric.device.parameters
        self._counts = state.arrays["fragments"]
        self._salt = fragment_part(p).parameters["salt"]
        self._shape = (1 << p["piece_bits"], len(fragments))
        items = _items(fragments, self._shape[0])
        seeds = self._salt & 0xFFFFFFFF, self._salt >> 32
        self._keys = Keys(*(xxh32(items, seed).astype(np.uint64) for seed in seeds))

    def at(self, position: int) -> Scores:
        """The standard score of every (piece, fragment): above 0 where more reports than chance gives support it.

        Of an absent fragment the reports of the position support it with probability 1/m. The spread over all of
        them, of which hardly any is there, holds what collisions add to that as well.
        """
        counts = np.ascontiguousarray(self._counts[:, position])
        reports, width = int(counts.sum()), counts.shape[1]
        support = self._support(counts, position) - reports / width
        spread = max(float(support.std()), (reports * (1 - 1 / width) / width) ** 0.5)
        scores: Scores = (support / (spread or 1.0)).astype(np.float32).reshape(self._shape)
        return scores

    def _support(self, counts: npt.NDArray[np.integer[npt.NBitBase]], position: int) -> npt.NDArray[np.float64]:
        """How many reports of the position support each item: one bucket under each of its hash functions."""
        p = self._parameters
        used = np.flatnonzero(counts.any(axis=1))
        functions = position + (used << p["positions_bits"])
        total = np.zeros(len(self._keys), np.float64)
        for first in range(0, len(self._keys), _ITEMS_AT_ONCE):
            block = slice(first, first + _ITEMS_AT_ONCE)
            keys = Keys(self._keys.first[block], self._keys.second[block])
            step = max(1, _BUCKETS_AT_ONCE // len(keys))
            for start in range(0, len(used), step):
                rows = slice(start, start + step)
                at = buckets(keys, self._salt, functions[rows], p["fragment_width_bits"])
                at += (np.arange(len(at)) << p["fragment_width_bits"])[:, np.newaxis]
                total[block] += counts[used[rows]].ravel().take(at).sum(axis=0, dtype=np.int64)
        return total


def _items(fragments: Sequence[bytes], pieces: int) -> npt.NDArray[np.uint8]:
    """What is hashed of every piece with every fragment (``fragment_item``), a row each, the fragments in turn."""
    spelt = np.frombuffer(b"".join(fragments), np.uint8).reshape(len(fragments), -1)
    prefix = np.arange(pieces).astype("<u4").view(np.uint8).reshape(pieces, PIECE_BYTES)
    return np.column_stack([np.repeat(prefix, len(fragments), axis=0), np.tile(spelt, (pieces, 1))])
