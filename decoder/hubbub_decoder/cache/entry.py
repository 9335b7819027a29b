"""One entry of the cache as bytes: what was counted of a part, under a checksum."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgpack

from hubbub_decoder.counting.state import State
from hubbub_decoder.errors import StateError
from hubbub_decoder.screen import Verdict

SCHEMA = 1
_DIGEST = hashlib.sha256().digest_size


class Counted(NamedTuple):
    """All that decoding needs of one sealed part."""

    state: State
    verdict: Verdict
    """What the screen said of its records."""


def pack(key: bytes, counted: Counted) -> bytes:
    """The entry that belongs to ``key``: a SHA-256, then msgpack."""
    body: bytes = msgpack.packb([SCHEMA, key, counted.verdict.p_value, counted.verdict.what, counted.state.to_bytes()])
    return hashlib.sha256(body).digest() + body


def unpack(key: bytes, data: bytes) -> Counted | None:
    """What ``pack`` was given; None where a byte is not as it was written, or the entry belongs to another key."""
    digest, body = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        return None
    try:
        schema, found, p_value, what, state = msgpack.unpackb(body, max_bin_len=len(body))
        if schema != SCHEMA or found != key:
            return None
        return Counted(State.from_bytes(state), Verdict(float(p_value), what))
    except (ValueError, TypeError, msgpack.UnpackException, StateError):
        return None
