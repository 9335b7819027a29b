"""A body of ciphertexts, parsed strictly: what a device sends to a shuffler, and a shuffler to the analyst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgpack

from hubbub_collector.errors import Refusal
from hubbub_collector.unpacking import ERRORS, unpack

VERSION = 1
ID_BYTES = 16
KEY_ID_BYTES = 8
MOST = 4096
"""Ciphertexts in one body. Also the longest array the parser will allocate for a declared length."""
LEAST_BYTES = 83
"""Of a ciphertext: HPKE's 48, the 34 before a record, and a record."""
MOST_BYTES = 48 + 34 + (1 << 16) - 1


class SealedBody(NamedTuple):
    """``id`` is that of the upload or of the batch, ``key`` the id of the key that the ciphertexts are for."""

    id: bytes
    key: bytes
    ciphertexts: list[bytes]

    @property
    def size(self) -> int:
        """The bytes of each ciphertext."""
        return len(self.ciphertexts[0])


def parse(body: bytes) -> SealedBody:
    """The ciphertexts in ``body``, all of one size. Raises Refusal (400) with the reason."""
    try:
        document = unpack(body, MOST)
    except ERRORS:
        raise Refusal(400, "not-msgpack", "the body is not one msgpack array of at most 4096 ciphertexts") from None
    if type(document) is not list or len(document) != 4:
        raise Refusal(400, "sealed-shape", "send an array [version, id, key id, ciphertexts]")
    version, id, key, ciphertexts = document
    if type(version) is not int or version != VERSION:
        raise Refusal(400, "sealed-version", f"the version must be the integer {VERSION}")
    if type(id) is not bytes or len(id) != ID_BYTES:
        raise Refusal(400, "sealed-id", f"the id must be a bin of {ID_BYTES} bytes")
    if type(key) is not bytes or len(key) != KEY_ID_BYTES:
        raise Refusal(400, "sealed-key", f"the key id must be a bin of {KEY_ID_BYTES} bytes")
    if type(ciphertexts) is not list or not ciphertexts or any(type(one) is not bytes for one in ciphertexts):
        raise Refusal(400, "sealed-ciphertexts", "the ciphertexts must be an array of at least one bin")
    size = len(ciphertexts[0])
    if not LEAST_BYTES <= size <= MOST_BYTES or any(len(one) != size for one in ciphertexts):
        raise Refusal(
            400, "ciphertext-size", f"every ciphertext must have the same size, of {LEAST_BYTES} to {MOST_BYTES} bytes"
        )
    return SealedBody(id, key, ciphertexts)


def pack(id: bytes, key: bytes, ciphertexts: Sequence[bytes]) -> bytes:
    """The body with these ciphertexts."""
    body: bytes = msgpack.packb([VERSION, id, key, list(ciphertexts)])
    return body
