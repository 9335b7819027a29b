"""A token: what its holder sends, and what is kept of it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

_FORM = re.compile(r"hubbub\.([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")
_SECRET_BYTES = 32
_ID_BYTES = 8


@dataclass(frozen=True)
class Token:
    """What is kept of a token. ``id`` is public and says nothing; ``digest`` is the SHA-256 of the secret, which has
    256 random bits, so that it needs no slow hash. ``metrics`` are names or fingerprints in hexadecimal, empty for all;
    ``cap`` the records that it may contribute to one metric and period, None for any number.
    """

    id: str
    digest: bytes
    label: str = ""
    metrics: tuple[str, ...] = ()
    cap: int | None = None
    issued: str = ""
    revoked: bool = False

    def opens(self, secret: str) -> bool:
        """Whether ``secret`` is this token's, in a time that does not depend on where it differs."""
        return hmac.compare_digest(_digest(secret), self.digest) and not self.revoked


NOBODY = Token("", bytes(32), revoked=True)
"""Compared with where there is no such id, so that this takes as long."""


def draw_token() -> tuple[str, str, bytes]:
    """A new token: the text for its holder, which is nowhere else; its id; and the digest of its secret."""
    id = secrets.token_hex(_ID_BYTES)
    secret = base64.urlsafe_b64encode(secrets.token_bytes(_SECRET_BYTES)).rstrip(b"=").decode()
    return f"hubbub.{id}.{secret}", id, _digest(secret)


def split_token(text: str) -> tuple[str, str] | None:
    """The id and the secret of a token's text, None where it is none."""
    match = _FORM.fullmatch(text)
    return None if match is None else (match[1], match[2])


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
