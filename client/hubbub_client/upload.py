"""The body of an upload, in msgpack: ``[1, upload_id, [[fingerprint, period, records], ...]]``.

Written by hand because boards have no msgpack and the shape is fixed; tested against the msgpack package.
"""

VERSION = 1
ID_BYTES = 16


def build(upload_id: bytes, batches: "list[tuple[bytes, int, bytes]]") -> bytes:
    """The body that carries ``batches`` of ``(fingerprint, period, records)``; records are joined end to end."""
    parts = [_array(3), _unsigned(VERSION), _binary(upload_id), _array(len(batches))]
    for fingerprint, period, records in batches:
        parts += [_array(3), _binary(fingerprint), _unsigned(period), _binary(records)]
    return b"".join(parts)


def batches_of(reports: "list[tuple[bytes, int, bytes]]") -> "list[tuple[bytes, int, bytes]]":
    """Reports ``(fingerprint, period, record)`` as batches, one for each fingerprint and period.

    Everything is sorted by content, so the result says nothing of the order of recording, and is the same each time.
    """
    groups: dict[tuple[bytes, int], list[bytes]] = {}
    for fingerprint, period, record in reports:
        key = (fingerprint, period)
        if key not in groups:
            groups[key] = []
        groups[key].append(record)
    return [(key[0], key[1], b"".join(sorted(groups[key]))) for key in sorted(groups)]


def _array(count: int) -> bytes:
    if count < 16:
        return bytes([0x90 | count])
    if count < 1 << 16:
        return b"\xdc" + count.to_bytes(2, "big")
    return b"\xdd" + count.to_bytes(4, "big")


def _binary(data: bytes) -> bytes:
    count = len(data)
    if count < 1 << 8:
        return b"\xc4" + count.to_bytes(1, "big") + data
    if count < 1 << 16:
        return b"\xc5" + count.to_bytes(2, "big") + data
    return b"\xc6" + count.to_bytes(4, "big") + data


def _unsigned(number: int) -> bytes:
    if number < 1 << 7:
        return bytes([number])
    if number < 1 << 8:
        return b"\xcc" + number.to_bytes(1, "big")
    if number < 1 << 16:
        return b"\xcd" + number.to_bytes(2, "big")
    if number < 1 << 32:
        return b"\xce" + number.to_bytes(4, "big")
    return b"\xcf" + number.to_bytes(8, "big")
