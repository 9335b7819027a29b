"""An upload with each of its records sealed, as a shuffler takes it: ``[1, id, key id, [ciphertext, ...]]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

import msgpack

from hubbub_sealing.keys import OVERHEAD, PublicKey
from hubbub_sealing.record import HEAD_BYTES, SealedRecord, pack, record_id

VERSION = 1
PATH = "/v1/sealed"
ID_BYTES = 16
MOST = 4096
"""Ciphertexts in one sealed upload."""
_BODY_BYTES = 1 << 19
"""A sealed upload stays below this; a shuffler takes 1 MiB."""


class UnknownFingerprintError(ValueError):
    """An upload has records of a metric that is in no plan at hand, so that they cannot be told apart."""


def build(id: bytes, key_id: bytes, ciphertexts: Sequence[bytes]) -> bytes:
    """The body of one sealed upload."""
    body: bytes = msgpack.packb([VERSION, id, key_id, list(ciphertexts)])
    return body


def seal_upload(body: bytes, key: PublicKey, widths: Mapping[bytes, int], room: int) -> list[bytes]:
    """The sealed uploads that carry what the upload ``body`` does: one, or a few where padding makes it long.

    ``widths`` is fingerprint -> bytes of a record. Sealed again, after a crash say, the same upload has other
    ciphertexts of the same records, with the same ids inside and outside. Raises UnknownFingerprintError.
    """
    _, upload_id, batches = msgpack.unpackb(body)
    # By id, which is as good as random: where a record stands says nothing of its metric.
    records = sorted(_records(upload_id, batches, widths))
    most = max(1, min(MOST, _BODY_BYTES // (room + HEAD_BYTES + OVERHEAD + 5)))
    uploads = []
    for first in range(0, len(records), most):
        some = records[first : first + most]
        # An id stands for these very records: cut otherwise, for another room say, it is another one.
        cut = b"".join(number.to_bytes(4, "big") for number in (room, first, len(some)))
        id = sha256(b"hubbub sealed upload 1" + upload_id + key.id + cut).digest()[:ID_BYTES]
        uploads.append(build(id, key.id, [key.seal(pack(record, room)) for record in some]))
    return uploads


def _records(
    upload_id: bytes, batches: Sequence[tuple[bytes, int, bytes]], widths: Mapping[bytes, int]
) -> Iterator[SealedRecord]:
    place = 0
    for fingerprint, period, records in batches:
        width = widths.get(fingerprint)
        if width is None or len(records) % width:
            raise UnknownFingerprintError(fingerprint.hex())
        for at in range(0, len(records), width):
            yield SealedRecord(record_id(upload_id, place), fingerprint, period, records[at : at + width])
            place += 1
