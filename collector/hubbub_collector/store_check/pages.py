"""Reads the rows of an SQLite file page by page, as its format is documented (sqlite.org/fileformat2.html).

No page is reached through another, so that damage to a header, a schema or an inner page of a tree costs no row that is
whole elsewhere. What comes out is not to be believed: a row counts where its own checksum says so.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x0A, 0x02
_HEADER_BYTES = {_TABLE_LEAF: 8, _INDEX_LEAF: 8, _INDEX_INNER: 12}
_FIRST_PAGE_BYTES = 100
_MOST_VALUES = 16
_FAILURES = 4
"""So many in a row that cannot be read, and there are none."""
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}

Value = bytes | int | str | float | None
Fetch = Callable[[int], bytes | None]
"""Gives the page of a number, from 1; None where there is none."""


class Cell(NamedTuple):
    """A row on page ``page``: its row id, None in a table without them, and its values."""

    page: int
    rowid: int | None
    values: tuple[Value, ...]


def cells(number: int, page: bytes, fetch: Fetch) -> Iterator[Cell | None]:
    """The rows on ``page``, which is page ``number``; None for each that is there and cannot be read. What overflows
    the page is read with ``fetch``.
    """
    at = _begin(number)
    kind = page[at]
    if kind in _HEADER_BYTES:
        (count,) = struct.unpack_from(">H", page, at + 3)
        yield from _read(number, page, kind, count, fetch)


def guessed(number: int, page: bytes, fetch: Fetch) -> Iterator[Cell]:
    """What may be rows on ``page``, whose own account of its kind and of how many there are is not to be relied on."""
    for kind in _HEADER_BYTES:
        yield from (cell for cell in _read(number, page, kind, len(page), fetch) if cell is not None)


def _begin(number: int) -> int:
    return _FIRST_PAGE_BYTES if number == 1 else 0


def _read(number: int, page: bytes, kind: int, count: int, fetch: Fetch) -> Iterator[Cell | None]:
    first = _begin(number) + _HEADER_BYTES[kind]
    lowest = len(page)  # the pointers end where the rows begin
    failed = 0
    for place in range(first, min(first + 2 * count, len(page) - 1), 2):
        (start,) = struct.unpack_from(">H", page, place)
        lowest = min(lowest, start) if start > place else lowest
        if place >= lowest or failed == _FAILURES:
            return
        try:
            yield _cell(number, page, kind, start, fetch)
            failed = 0
        except (IndexError, ValueError, struct.error, OverflowError):
            failed += 1
            yield None


def _cell(number: int, page: bytes, kind: int, at: int, fetch: Fetch) -> Cell:
    if kind == _INDEX_INNER:
        at += 4  # the page to the left
    size, at = _varint(page, at)
    rowid = None
    if kind == _TABLE_LEAF:
        rowid, at = _varint(page, at)
    if _record_bytes(page, at) != size:
        raise ValueError("its values are not as long as it is")
    return Cell(number, rowid, _record(_payload(page, kind, size, at, fetch)))


def _payload(page: bytes, kind: int, size: int, at: int, fetch: Fetch) -> bytes:
    usable = len(page)
    most = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
    if size <= most:
        return _cut(page, at, size)
    least = (usable - 12) * 32 // 255 - 23
    here = least + (size - least) % (usable - 4)
    if here > most:
        here = least
    parts = [_cut(page, at, here)]
    (following,) = struct.unpack_from(">I", page, at + here)
    left = size - here
    seen = set()
    while left > 0:
        overflow = fetch(following)
        if overflow is None or following in seen:
            raise ValueError("the chain ends early, or never")
        seen.add(following)
        (following,) = struct.unpack_from(">I", overflow)
        part = overflow[4 : 4 + left]
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _record_bytes(page: bytes, at: int) -> int:
    """How long a record is that begins at ``at``, by the types in its header."""
    begin = at
    length, at = _varint(page, at)
    size = length
    for _ in range(_MOST_VALUES):
        if at >= begin + length:
            return size
        kind, at = _varint(page, at)
        size += (kind - 12) // 2 if kind >= 12 else _INTEGER_BYTES.get(kind, 8 if kind == 7 else 0)
    raise ValueError("no row of ours has so many values")


def _record(payload: bytes) -> tuple[Value, ...]:
    length, at = _varint(payload, 0)
    kinds = []
    while at < length:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    at = length
    values: list[Value] = []
    for kind in kinds:
        value, at = _value(payload, kind, at)
        values.append(value)
    return tuple(values)


def _value(payload: bytes, kind: int, at: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in _INTEGER_BYTES:
        end = at + _INTEGER_BYTES[kind]
        return int.from_bytes(_cut(payload, at, end - at), "big", signed=True), end
    if kind == 7:
        return float(struct.unpack_from(">d", payload, at)[0]), at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise ValueError("no such type")
    size = (kind - 12) // 2
    content = _cut(payload, at, size)
    return (content.decode() if kind % 2 else content), at + size


def _cut(data: bytes, at: int, size: int) -> bytes:
    part = data[at : at + size]
    if len(part) != size:
        raise ValueError("it is cut off")
    return part


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at ``at``, of up to nine bytes, and where it ends."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9
