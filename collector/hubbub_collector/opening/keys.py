"""The analyst's private key: made, kept in a file of its own, and used to open records."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from hubbub_collector.durable import sync_directory
from hubbub_collector.errors import CollectorError
from hubbub_sealing.keys import INFO, PRIVATE, PUBLIC, SCHEMA, SUITE, SUITE_NAME, key_id, read_key_file

SHARED = "shuffler.secret"
_SECRET_BYTES = 32


class PrivateKey:
    """Opens what was sealed to its public key, whose ``id`` it has."""

    def __init__(self, raw: bytes) -> None:
        """``raw`` is 32 bytes."""
        self._key = X25519PrivateKey.from_private_bytes(raw)
        self.id = key_id(self._key.public_key().public_bytes_raw())

    @staticmethod
    def load(path: str | Path) -> PrivateKey:
        """The key in a file of ``hubbub keys new``. Raises KeyFileError, CollectorError."""
        try:
            return PrivateKey(read_key_file(path, PRIVATE))
        except OSError as error:
            raise CollectorError(f"{path}: cannot be read ({error.strerror}); name a private key's file") from None

    def open(self, ciphertext: bytes) -> bytes | None:
        """What was sealed; None where that was to another key, or is not what was sealed."""
        try:
            return SUITE.decrypt(ciphertext, self._key, INFO)
        except (InvalidTag, ValueError):
            return None


def new_keys(folder: Path) -> tuple[str, list[Path]]:
    """Makes a key pair and a shuffler's secret in ``folder``; returns the key's id and the files. Raises CollectorError
    where a file cannot be made.

    The private key and the secret are their owner's to read. No file is ever written over.
    """
    key = X25519PrivateKey.generate()
    public = key.public_key().public_bytes_raw()
    id = key_id(public).hex()
    files = {
        f"{id}.private.json": (_document(PRIVATE, id, key.private_bytes_raw()), 0o600),
        f"{id}.public.json": (_document(PUBLIC, id, public), 0o644),
        SHARED: (secrets.token_urlsafe(_SECRET_BYTES) + "\n", 0o600),
    }
    made = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, (content, mode) in files.items():
            if name == SHARED and (folder / name).exists():  # of an earlier key: one shuffler, many keys
                continue
            with os.fdopen(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            made.append(folder / name)
        sync_directory(folder)
    except OSError as error:
        raise CollectorError(f"{folder}: no key can be made there ({error.strerror}); name another folder") from None
    return id, made


def _document(kind: str, id: str, raw: bytes) -> str:
    return (
        json.dumps({"kind": kind, "schema": SCHEMA, "suite": SUITE_NAME, "id": id, "key": raw.hex()}, indent=1) + "\n"
    )
