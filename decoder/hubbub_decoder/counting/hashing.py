"""The client's hash family (``hubbub_client.hashing``) for many candidates and hash indices at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_client.hashing import item_key

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
UIntArray = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Keys:
    """The two 32-bit halves of each candidate's key; both of shape (d,)."""

    first: UIntArray
    second: UIntArray

    def __len__(self) -> int:
        return len(self.first)


def item_keys(values: Sequence[str], salt: int) -> Keys:
    """The keys of ``values``, already NFC-normalised."""
    pairs = [item_key(value.encode(), salt) for value in values]
    first, second = (np.array([pair[half] for pair in pairs], np.uint64) for half in (0, 1))
    return Keys(first, second)


def splitmix64(salt: int, indices: UIntArray) -> UIntArray:
    """Outputs number ``indices`` (from 0) of the SplitMix64 stream seeded with ``salt``; modulo 2**64."""
    z = np.uint64(salt) + (indices + np.uint64(1)) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: UIntArray = z ^ (z >> np.uint64(31))
    return mixed


def buckets(keys: Keys, salt: int, indices: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.int64]:
    """The bucket below ``2**bits`` of every candidate under every hash function; shape (len(indices), d).

    Pair-multiply-shift, as ``hubbub_client.hashing.bucket``: equal to it number for number.
    """
    if bits == 0:
        return np.zeros((len(indices), len(keys)), np.int64)
    at = np.add.outer(indices.astype(np.uint64) * np.uint64(3), np.arange(3, dtype=np.uint64))
    a1, a2, b = np.hsplit(splitmix64(salt, at), 3)
    hashed = a1 + keys.second
    hashed *= a2 + keys.first
    hashed += b
    hashed >>= np.uint64(64 - bits)
    return hashed.view(np.int64)
