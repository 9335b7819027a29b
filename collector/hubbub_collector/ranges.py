"""Checks that records hold what their fields allow.

A field of b bits whose domain is smaller than 2**b, and the padding up to a whole byte, leave bit strings that no
client sends. Most metrics have neither, and then every string of the right length is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Check = Callable[[bytes | bytearray], bool]
"""Takes a whole number of records; says whether every one of them is valid."""

_FEW = 16
"""Below this many records a loop over Python integers costs less than numpy's fixed cost."""
_WIDEST = 56
"""Bits of the widest bounded field: with the 7 bits it may start late, it still fits in 64."""


def range_check(fields: Sequence[tuple[str, int, int]], record_bytes: int) -> Check | None:
    """A check for records of ``fields``, each ``(name, bits, domain)``, or None where every bit string is valid.

    A domain of 0 means any bits. Raises ValueError for a bounded field of more than 56 bits.
    """
    narrow: list[tuple[int, bytes]] = []
    wide: list[tuple[int, int, int]] = []
    at = 0
    for name, bits, domain in (*fields, ("padding", 8 * record_bytes - sum(bits for _, bits, _ in fields), 1)):
        if domain and domain < 1 << bits:
            if bits > _WIDEST:
                raise ValueError(f"field {name}: a domain that is no power of two takes at most {_WIDEST} bits")
            if at % 8 + bits <= 8:
                narrow.append((at // 8, _allowed(at % 8, bits, domain)))
            else:
                wide.append((at, bits, domain))
        at += bits
    if not narrow and not wide:
        return None

    def few(records: bytes | bytearray) -> bool:
        for start in range(0, len(records), record_bytes):
            record = int.from_bytes(records[start : start + record_bytes], "little")
            for at, bits, domain in wide:
                if (record >> at) & ((1 << bits) - 1) >= domain:
                    return False
        return True

    def many(records: bytes | bytearray) -> bool:
        table = np.frombuffer(records, np.uint8).reshape(-1, record_bytes)
        return all(bool((_field(table, at, bits) < domain).all()) for at, bits, domain in wide)

    def check(records: bytes | bytearray) -> bool:
        for column, allowed in narrow:
            if records[column::record_bytes].translate(None, allowed):  # what is left when these are taken out
                return False
        return not wide or (few(records) if len(records) < _FEW * record_bytes else many(records))

    return check


def _allowed(at: int, bits: int, domain: int) -> bytes:
    """The bytes in which the ``bits`` bits from bit ``at`` are below ``domain``."""
    return bytes(byte for byte in range(256) if (byte >> at) & ((1 << bits) - 1) < domain)


def _field(table: npt.NDArray[np.uint8], at: int, bits: int) -> npt.NDArray[np.uint64]:
    """The ``bits`` bits from bit ``at`` of every row of ``table``, as integers."""
    first = at // 8
    values = np.zeros(len(table), np.uint64)
    for column in range(first, (at + bits + 7) // 8):
        values |= table[:, column].astype(np.uint64) << np.uint64(8 * (column - first))
    return (values >> np.uint64(at % 8)) & np.uint64((1 << bits) - 1)
