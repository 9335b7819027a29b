"""The analyst's public key: HPKE (RFC 9180) in base mode, one message a record."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from hubbub_client.errors import HubbubError

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
SUITE_NAME = "DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM"
OVERHEAD = 48
"""Bytes that a ciphertext has more than its plaintext: the encapsulated key (32) before it, the tag (16) after it."""
INFO = b"hubbub sealed record 1"
"""HPKE's ``info``: no other message to the same key can be taken for a record."""
KEY_ID_BYTES = 8
SCHEMA = 1
PUBLIC = "hubbub public key"
PRIVATE = "hubbub private key"


class KeyFileError(HubbubError):
    """A file that holds no key of the kind that is needed."""


class PublicKey:
    """Seals records for whoever has the private key. ``id``, 8 bytes, says which key that is."""

    def __init__(self, raw: bytes) -> None:
        """``raw`` is the X25519 public key, 32 bytes. Raises ValueError for one that no private key has."""
        self.raw = raw
        self.id = key_id(raw)
        self._key = X25519PublicKey.from_public_bytes(raw)
        self.seal(b"")  # a point of small order fails here, and not at the first report

    @staticmethod
    def load(path: str | Path) -> PublicKey:
        """The key in a file of ``hubbub keys new``. Raises KeyFileError, OSError."""
        raw = read_key_file(path, PUBLIC)
        try:
            return PublicKey(raw)
        except ValueError:
            raise KeyFileError(f"{path}: is no usable X25519 key; make one with hubbub keys new") from None

    def seal(self, plaintext: bytes) -> bytes:
        """A ciphertext of ``OVERHEAD`` more bytes, another one each time."""
        return SUITE.encrypt(plaintext, self._key, INFO)


def key_id(raw: bytes) -> bytes:
    """The id of the public key ``raw``."""
    return sha256(b"hubbub key id 1" + raw).digest()[:KEY_ID_BYTES]


def read_key_file(path: str | Path, kind: str) -> bytes:
    """The key in ``path``, raw. Raises KeyFileError where the file is not of ``kind``, or damaged; OSError."""
    try:
        document = json.loads(Path(path).read_bytes())
        if document["kind"] == kind and document["schema"] == SCHEMA and document["suite"] == SUITE_NAME:
            raw = bytes.fromhex(document["key"])
            if len(raw) == 32 and (kind != PUBLIC or document["id"] == key_id(raw).hex()):
                return raw
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise KeyFileError(f"{path}: is not a {kind}, or is damaged; name the file that hubbub keys new made")
