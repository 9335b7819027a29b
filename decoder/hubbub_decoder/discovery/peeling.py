"""Which candidates are there themselves, and which only share an item with one that is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.counting.hashing import Keys
from hubbub_decoder.discovery.parts import Part


def standing(part: Part, keys: Keys, least: FloatArray) -> npt.NDArray[np.int64]:
    """The places of those candidates (in falling order of support) that stand on items of their own; shape (kept,).

    Among millions of candidates some have, in one of the families, the very item of a frequent one, and with it a part
    of its support. So the candidates are gone through in order, each claims its items, and one whose support without
    claimed items is no more than its ``least`` (d,) standard deviations of noise high is passed over. A true one that
    shares an item loses one family's part of its evidence.
    """
    items = part.items_of(keys)
    excess = part.excess(items)
    needed = least * np.sqrt(part.null_variance())
    claimed: list[set[int]] = [set() for _ in items]
    kept = []
    for i in range(len(keys)):
        own = [item not in taken for item, taken in zip(items[:, i].tolist(), claimed, strict=True)]
        if excess[own, i].sum() > needed[i]:
            kept.append(i)
            for item, taken in zip(items[:, i].tolist(), claimed, strict=True):
                taken.add(item)
    return np.array(kept, np.int64)
