"""XXH32 in plain integers, for boards without the xxhash package; tested against it.

Source: Y. Collet, xxHash fast digest algorithm, specification 0.1.1, "XXH32 Algorithm Description".
"""

_P1 = 2654435761
_P2 = 2246822519
_P3 = 3266489917
_P4 = 668265263
_P5 = 374761393
_MASK = 0xFFFFFFFF


def _rotate(word: int, count: int) -> int:
    return ((word << count) | (word >> (32 - count))) & _MASK


def xxh32(data: bytes, seed: int) -> int:
    """The 32-bit hash of ``data`` under ``seed``, an integer below 2**32."""
    length = len(data)
    at = 0
    if length >= 16:
        lanes = [(seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed & _MASK, (seed - _P1) & _MASK]
        while at + 16 <= length:
            for i in range(4):
                word = int.from_bytes(data[at : at + 4], "little")
                lanes[i] = (_rotate((lanes[i] + word * _P2) & _MASK, 13) * _P1) & _MASK
                at += 4
        acc = _rotate(lanes[0], 1) + _rotate(lanes[1], 7) + _rotate(lanes[2], 12) + _rotate(lanes[3], 18)
    else:
        acc = seed + _P5
    acc = (acc + length) & _MASK
    while at + 4 <= length:
        acc = (acc + int.from_bytes(data[at : at + 4], "little") * _P3) & _MASK
        acc = (_rotate(acc, 17) * _P4) & _MASK
        at += 4
    while at < length:
        acc = (acc + data[at] * _P5) & _MASK
        acc = (_rotate(acc, 11) * _P1) & _MASK
        at += 1
    acc = ((acc ^ (acc >> 15)) * _P2) & _MASK
    acc = ((acc ^ (acc >> 13)) * _P3) & _MASK
    return acc ^ (acc >> 16)
