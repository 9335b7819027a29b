"""Telling the same transmission again, without remembering who sent it.

What is kept is a keyed hash under a key of this process's own, in memory, for a while: after a restart nothing of it
is left, and nothing of it can be told then.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST = 1 << 16


class Duplicates:
    """The transmissions of the last ``seconds``, at most 65,536 of them. Not safe for several threads."""

    def __init__(self, seconds: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._seen: OrderedDict[bytes, float] = OrderedDict()

    def token(self, repetition: str, frame: bytes) -> bytes:
        """What a transmission is known by here. The frame is in it, for sensors whose counter begins anew."""
        name = repetition.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(len(name).to_bytes(8, "big") + name + frame, key=self._key, digest_size=16).digest()

    def seen(self, token: bytes) -> bool:
        """Whether it was added lately."""
        now = self._clock()
        while self._seen and now - next(iter(self._seen.values())) > self._seconds:
            self._seen.popitem(last=False)
        return token in self._seen

    def add(self, token: bytes) -> None:
        """Remembers a transmission; the oldest is forgotten where there are too many."""
        self._seen[token] = self._clock()
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)
