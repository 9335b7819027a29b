"""Permanent noise from a device secret: HMAC-SHA256 as a pseudorandom function, with nothing stored per value."""

from hubbub_client.errors import StateError

try:
    from hmac import digest as _digest

    def hmac_sha256(key: bytes, message: bytes) -> bytes:
        """HMAC-SHA256 of ``message`` (RFC 2104)."""
        return _digest(key, message, "sha256")

except ImportError:  # a board
    from hubbub_client.hmac_sha256 import hmac_sha256

# Below it a secret could be guessed, and the permanent noise with it.
LEAST_SECRET_BYTES = 16


def expand(secret: bytes, label: bytes, context: bytes, count: int) -> bytes:
    """``count`` pseudorandom bytes that only the holder of ``secret`` can tell from uniform ones.

    The counter-mode key derivation of NIST SP 800-108r1, section 4.1, with HMAC-SHA256: 32-bit counter, label, a zero
    byte, context, 32-bit output length in bits. The label must hold no zero byte. Two different (label, context)
    pairs give streams that share nothing, which is why the context holds everything that tells two noises apart.
    Raises StateError for a secret of fewer than 16 bytes.
    """
    if len(secret) < LEAST_SECRET_BYTES:
        raise StateError(
            "a device secret of %d bytes can be guessed; give at least %d random ones"
            % (len(secret), LEAST_SECRET_BYTES)
        )
    tail = label + b"\x00" + context + (8 * count).to_bytes(4, "big")
    blocks = []
    for i in range(1, (count + 31) // 32 + 1):
        blocks.append(hmac_sha256(secret, i.to_bytes(4, "big") + tail))
    return b"".join(blocks)[:count]
