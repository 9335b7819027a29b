"""The client's integer sampling and packing for many devices at once, on numpy arrays.

Each function is the twin of one in ``hubbub_client.sampling`` or ``hubbub_client.records`` and gives, row by row, the
very same bits from the same random bytes. Arrays of random bytes are ``uint8 (n, bytes)``, a row a device; bit vectors
are ``uint8 (n, ceil(bits / 8))``, lowest bit first; small integers are ``uint64 (n,)``.

For simulation only: a table lookup or a comparison here may depend on the value, and on a device it may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Floats: TypeAlias = NDArray[np.float64]


def field(noise: Bytes, start: int, bits: int) -> Words:
    """Bits ``start`` to ``start + bits`` of each row, as integers; ``bits <= 64``, and they lie within the row."""
    first, shift = divmod(start, 8)
    result = np.zeros(len(noise), np.uint64)
    for i in range((shift + bits + 7) // 8):
        byte = noise[:, first + i].astype(np.uint64)
        at = 8 * i - shift
        result |= byte << np.uint64(at) if at >= 0 else byte >> np.uint64(-at)
    return result & np.uint64((1 << bits) - 1)


def bernoulli(uniform: Words, threshold: int) -> Words:
    """1 with probability ``threshold / 2**precision``, from uniform integers of ``precision`` bits."""
    return (uniform < np.uint64(threshold)).astype(np.uint64)


def bernoulli_lanes(noise: Bytes, start: int, lanes: int, threshold: int, precision: int) -> Bytes:
    """``lanes`` bits a row, each 1 with probability ``threshold / 2**precision``, from the bytes from ``start`` on."""
    size = (lanes + 7) // 8
    result = np.zeros((len(noise), size), np.uint8)
    for i in range(precision):
        word = noise[:, start + i * size : start + (i + 1) * size]
        combine = np.bitwise_or if (threshold >> i) & 1 else np.bitwise_and
        combine(result, word, out=result)
    result[:, -1] &= np.uint8(0xFF >> (-lanes % 8))
    return result


def uniform_below(low: Words, high: Words, high_bits: int, domain: int) -> Words:
    """``(uniform * domain) >> (64 + high_bits)`` with ``uniform = high * 2**64 + low``, without a 128-bit integer.

    ``high_bits`` and the bits of ``domain`` together must be below 64, and ``domain`` at most 2**31.
    """
    d = np.uint64(domain)
    half = np.uint64(32)
    # The upper 64 bits of low * domain: both partial products stay below 2**64.
    carried = ((low >> half) * d + (((low & np.uint64(0xFFFFFFFF)) * d) >> half)) >> half
    return (high * d + carried) >> np.uint64(high_bits)


def parity(words: Words) -> Words:
    """The parity of integers below 2**32."""
    for shift in (16, 8, 4, 2, 1):
        words = words ^ (words >> np.uint64(shift))
    return words & np.uint64(1)


def place(vectors: Bytes, positions: Words) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], Bytes]:
    """Where bit ``positions[i]`` of row i lies: an index of ``vectors`` that picks its byte, and the bit's mask."""
    rows = np.arange(len(vectors), dtype=np.intp)
    columns = (positions >> np.uint64(3)).astype(np.intp)
    masks = np.left_shift(np.uint8(1), (positions & np.uint64(7)).astype(np.uint8))
    return (rows, columns), masks


def pack(fields: Sequence[tuple[str, int, int]], values: Sequence[Words | Bytes]) -> Bytes:
    """The records of ``n`` devices, ``uint8 (n, record_bytes)``: one array of ``values`` for each field.

    A field is given as integers ``(n,)`` or as a bit vector ``(n, bytes)``, with no bit set beyond its width.
    """
    width = (sum(bits for _, bits, _ in fields) + 7) // 8
    records = np.zeros((len(values[0]), width), np.uint8)
    at = 0
    for (_, bits, _), value in zip(fields, values, strict=True):
        if bits:
            vector = value if value.ndim == 2 else value.astype("<u8").view(np.uint8).reshape(-1, 8)
            _or_shifted(records, vector[:, : (bits + 7) // 8].astype(np.uint8, copy=False), at)
        at += bits
    return records


def _or_shifted(records: Bytes, vector: Bytes, at: int) -> None:
    first, shift = divmod(at, 8)
    end = min(records.shape[1], first + vector.shape[1])
    records[:, first:end] |= vector[:, : end - first] << np.uint8(shift)
    if shift:
        end = min(records.shape[1], first + 1 + vector.shape[1])
        records[:, first + 1 : end] |= vector[:, : end - first - 1] >> np.uint8(8 - shift)
