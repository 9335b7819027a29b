"""Files of the state that tell when they were damaged: a SHA-256, then JSON."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hubbub_client.errors import StateError

if TYPE_CHECKING:
    from hubbub_client.storage import Storage

_CHECK = 32


def read_checked(storage: Storage, name: str) -> Any:
    """The document in ``name``; None where there is none. Raises StateError where it is damaged, and OSError."""
    data = storage.read(name)
    if data is None:
        return None
    if sha256(data[_CHECK:]).digest() != data[:_CHECK]:
        raise StateError(f"state, {name}: it is damaged, so nothing more is released")
    return json.loads(data[_CHECK:])


def write_checked(storage: Storage, name: str, document: Any) -> None:
    """Replaces ``name``, atomically and durably. Raises OSError."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    storage.write(name, sha256(text).digest() + text)
