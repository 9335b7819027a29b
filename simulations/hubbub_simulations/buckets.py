"""Which buckets many devices' values fall into, each under the hash function its device drew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_client.hashing import item_key
from hubbub_decoder.counting.hashing import splitmix64
from hubbub_simulations.bits import Words


class Buckets:
    """The buckets of ``items`` under one metric's family of hash functions; each item is hashed once."""

    def __init__(self, items: Sequence[bytes], salt: int, bits: int) -> None:
        self._keys = np.array([item_key(item, salt) for item in items], np.uint64).reshape(-1, 2)
        self._salt = salt
        self._bits = bits

    def of(self, index: NDArray[np.intp], function: Words) -> Words:
        """The bucket ``(n,)`` that hash function ``function[i]`` gives ``items[index[i]]``."""
        keys = self._keys[index]
        a1, a2, b = (splitmix64(self._salt, function * np.uint64(3) + np.uint64(i)) for i in range(3))
        return ((a1 + keys[:, 1]) * (a2 + keys[:, 0]) + b) >> np.uint64(64 - self._bits)
