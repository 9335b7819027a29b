"""What is inside a ciphertext: one record, at a length that says nothing of its metric.

16 bytes record id, 8 fingerprint, 8 period, 2 length of the record, the record, zeros up to the room that all records
of a plan have. Integers are big-endian.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

RECORD_ID_BYTES = 16
_FINGERPRINT_BYTES = 8
_INTEGER_BYTES = 8
_LENGTH_BYTES = 2
_LENGTH_AT = RECORD_ID_BYTES + _FINGERPRINT_BYTES + _INTEGER_BYTES
HEAD_BYTES = _LENGTH_AT + _LENGTH_BYTES
MAX_PERIOD = (1 << 53) - 1
MAX_ROOM = (1 << 8 * _LENGTH_BYTES) - 1


class SealedRecord(NamedTuple):
    """One record with what an upload says of it. ``id`` is the same in every attempt to send it, and in no other."""

    id: bytes
    fingerprint: bytes
    period: int
    record: bytes


def pack(sealed: SealedRecord, room: int) -> bytes:
    """``HEAD_BYTES + room`` bytes. Raises ValueError for a record that is empty or takes more than ``room``."""
    length = len(sealed.record)
    if not 0 < length <= room <= MAX_ROOM:
        raise ValueError(f"a record of {length} bytes does not fit into {room}")
    head = sealed.id + sealed.fingerprint + sealed.period.to_bytes(_INTEGER_BYTES, "big")
    return head + length.to_bytes(_LENGTH_BYTES, "big") + sealed.record + bytes(room - length)


def unpack(plaintext: bytes) -> SealedRecord:
    """The record in ``plaintext``. Raises ValueError for what ``pack`` cannot have made."""
    length = int.from_bytes(plaintext[_LENGTH_AT:HEAD_BYTES], "big")
    end = HEAD_BYTES + length
    period = int.from_bytes(plaintext[RECORD_ID_BYTES + _FINGERPRINT_BYTES : _LENGTH_AT], "big")
    if not length or end > len(plaintext) or any(plaintext[end:]) or period > MAX_PERIOD:
        raise ValueError("not a record")
    fingerprint = plaintext[RECORD_ID_BYTES : RECORD_ID_BYTES + _FINGERPRINT_BYTES]
    return SealedRecord(plaintext[:RECORD_ID_BYTES], fingerprint, period, plaintext[HEAD_BYTES:end])


def record_id(upload_id: bytes, place: int) -> bytes:
    """The id of the record at ``place`` in the upload ``upload_id``, which no sealed upload shows: whoever sees ids of
    records, and no upload id, cannot tell which belong together.
    """
    return sha256(b"hubbub record id 1" + upload_id + place.to_bytes(4, "big")).digest()[:RECORD_ID_BYTES]
