"""Which bucket a value falls into: the same integers on a board, in an app and on the host.

A value is hashed once, to two 32-bit halves; every hash function of the family then costs a few integer operations.
"""

try:
    from xxhash import xxh32_intdigest as xxh32
except ImportError:  # a board
    from hubbub_client.xxh32 import xxh32  # type: ignore[assignment]

_MASK64 = 0xFFFFFFFFFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15


def item_key(data: bytes, salt: int) -> "tuple[int, int]":
    """The 64-bit key of a value as two halves: XXH32 under the low and under the high half of ``salt``."""
    return xxh32(data, salt & 0xFFFFFFFF), xxh32(data, salt >> 32)


def splitmix64(salt: int, index: int) -> int:
    """Output number ``index`` (from 0) of the SplitMix64 stream seeded with ``salt``.

    Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 16 and section 5.
    """
    z = (salt + (index + 1) * _GOLDEN) & _MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
    return z ^ (z >> 31)


def bucket(key: "tuple[int, int]", salt: int, index: int, bits: int) -> int:
    """The bucket, of ``2**bits``, that hash function number ``index`` gives ``key``; ``0 <= bits <= 32``.

    Pair-multiply-shift, strongly universal over 64-bit keys (Thorup, "High speed hashing for integers and strings",
    arXiv 1504.06804, section 3.5). Widths are powers of two, so there is no modulo and no modulo bias.
    """
    a1 = splitmix64(salt, 3 * index)
    a2 = splitmix64(salt, 3 * index + 1)
    b = splitmix64(salt, 3 * index + 2)
    return (((a1 + key[1]) * (a2 + key[0]) + b) & _MASK64) >> (64 - bits)
