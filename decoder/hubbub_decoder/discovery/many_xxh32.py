"""XXH32 (``hubbub_client.xxh32``) of many byte strings of one length at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_P1, _P2, _P3, _P4, _P5 = (np.uint32(p) for p in (2654435761, 2246822519, 3266489917, 668265263, 374761393))
_MASK = 0xFFFFFFFF
UInt32 = npt.NDArray[np.uint32]


def xxh32(rows: npt.NDArray[np.uint8], seed: int) -> UInt32:
    """The hash of each row of ``rows`` (n, length) under ``seed``, below 2**32; shape (n,)."""
    n, length = rows.shape
    at = 0
    if length >= 16:
        lanes = [np.full(n, start & _MASK, np.uint32) for start in _starts(seed)]
        while at + 16 <= length:
            for i in range(4):
                lanes[i] = _rotated(lanes[i] + _word(rows, at) * _P2, 13) * _P1
                at += 4
        total = _rotated(lanes[0], 1) + _rotated(lanes[1], 7) + _rotated(lanes[2], 12) + _rotated(lanes[3], 18)
    else:
        total = np.full(n, (seed + int(_P5)) & _MASK, np.uint32)
    total += np.uint32(length)
    while at + 4 <= length:
        total = _rotated(total + _word(rows, at) * _P3, 17) * _P4
        at += 4
    while at < length:
        total = _rotated(total + rows[:, at].astype(np.uint32) * _P5, 11) * _P1
        at += 1
    total = (total ^ (total >> np.uint32(15))) * _P2
    total = (total ^ (total >> np.uint32(13))) * _P3
    hashed: UInt32 = total ^ (total >> np.uint32(16))
    return hashed


def _starts(seed: int) -> tuple[int, int, int, int]:
    return seed + int(_P1) + int(_P2), seed + int(_P2), seed, seed - int(_P1)


def _rotated(words: UInt32, count: int) -> UInt32:
    turned: UInt32 = (words << np.uint32(count)) | (words >> np.uint32(32 - count))
    return turned


def _word(rows: npt.NDArray[np.uint8], at: int) -> UInt32:
    """Bytes ``at`` to ``at + 4`` of each row, little-endian."""
    word: UInt32 = rows[:, at].astype(np.uint32)
    for i in range(1, 4):
        word |= rows[:, at + i].astype(np.uint32) << np.uint32(8 * i)
    return word
