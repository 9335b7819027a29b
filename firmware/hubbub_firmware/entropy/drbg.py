"""HMAC_DRBG with SHA-256: NIST SP 800-90A revision 1, section 10.1.2; checked against the CAVP vectors.

Security strength 256 bits. After each request the key is replaced by a one-way function of itself, so whoever reads the
state learns nothing of what was given out before (backtracking resistance).
"""

from hashlib import sha256

from hubbub_client.errors import EntropyError

# Requests between two reseeds, at most. The standard allows 2**48; a board has fresh noise long before this.
RESEED_LIMIT = 1 << 16
# Bytes in one request, at most: 2**19 bits, table 2 of the standard.
MOST_BYTES = 1 << 16
# Bytes of entropy that make a state, at least: the security strength.
LEAST_ENTROPY = 32
_BLOCK = 64
_INNER = int.from_bytes(b"\x36" * _BLOCK, "big")
_OUTER = int.from_bytes(b"\x5c" * _BLOCK, "big")


class HmacDrbg:
    """One instantiation: ``entropy`` (at least 32 bytes of full entropy), a nonce of at least 16 bytes, and any bytes.

    ``requests`` counts as the standard's reseed counter does: 1 when new, one more after each ``generate``. Raises
    EntropyError where the entropy or the nonce is too short.
    """

    def __init__(self, entropy: bytes, nonce: bytes, personalization: bytes = b"") -> None:
        if len(entropy) < LEAST_ENTROPY or 2 * len(nonce) < LEAST_ENTROPY:
            raise EntropyError(
                "a generator made of %d bytes of entropy and a nonce of %d could be guessed"
                % (len(entropy), len(nonce))
            )
        self._value = b"\x01" * 32
        self._set_key(bytes(32))
        self._update(entropy + nonce + personalization)
        self.requests = 1

    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        """Mixes in fresh entropy, at least 32 bytes of it; raises EntropyError where it is less."""
        if len(entropy) < LEAST_ENTROPY:
            raise EntropyError("a reseed of %d bytes is no fresh start" % len(entropy))
        self._update(entropy + additional)
        self.requests = 1

    def generate(self, count: int, additional: bytes = b"") -> bytes:
        """``count`` bytes, 0 to 65,536. Raises ValueError outside that; EntropyError where a reseed is overdue."""
        if not 0 <= count <= MOST_BYTES:
            raise ValueError("a request for %d random bytes; ask for 0 to %d at a time" % (count, MOST_BYTES))
        if self.requests > RESEED_LIMIT:
            raise EntropyError("the generator must be reseeded before it gives anything more")
        if additional:
            self._update(additional)
        blocks = []
        for _ in range((count + 31) // 32):
            self._value = self._mac(self._value)
            blocks.append(self._value)
        self._update(additional)
        self.requests += 1
        return b"".join(blocks)[:count]

    def _update(self, provided: bytes) -> None:
        """HMAC_DRBG_Update, section 10.1.2.2."""
        self._set_key(self._mac(self._value + b"\x00" + provided))
        self._value = self._mac(self._value)
        if provided:
            self._set_key(self._mac(self._value + b"\x01" + provided))
            self._value = self._mac(self._value)

    def _set_key(self, key: bytes) -> None:
        """Keeps a key as its two padded blocks (RFC 2104): on a board, padding costs more than hashing."""
        padded = int.from_bytes(key + bytes(_BLOCK - len(key)), "big")
        self._inner = (padded ^ _INNER).to_bytes(_BLOCK, "big")
        self._outer = (padded ^ _OUTER).to_bytes(_BLOCK, "big")

    def _mac(self, message: bytes) -> bytes:
        inner = sha256(self._inner)
        inner.update(message)
        outer = sha256(self._outer)
        outer.update(inner.digest())
        return outer.digest()
