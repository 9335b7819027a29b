"""HMAC-SHA256 for boards, whose standard library has the hash and not the MAC; tested against CPython's."""

from hashlib import sha256


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA256 of ``message`` (RFC 2104)."""
    if len(key) > 64:
        key = sha256(key).digest()
    key = key + bytes(64 - len(key))
    inner = sha256(bytes([byte ^ 0x36 for byte in key]) + message).digest()
    return sha256(bytes([byte ^ 0x5C for byte in key]) + inner).digest()
