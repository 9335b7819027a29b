"""How often one source may send: a token bucket a source, in a table of bounded size."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from hubbub_collector.errors import Refusal

TABLE = 65_536
"""Sources remembered at one time. The one that sent longest ago is forgotten, which gives it a full bucket again."""
ENTRY_BYTES = 256
"""What one source takes at most: its hash, its time, and its place in the table."""
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Rate:
    """``count`` requests in ``seconds``, and as many at once."""

    count: int
    seconds: int


def parse_rate(text: str) -> Rate:
    """``"50/s"`` or ``"1000/h"`` as a Rate. Raises ValueError."""
    match = re.fullmatch(r"([1-9][0-9]{0,8})/([smh])", text)
    if match is None:
        raise ValueError("write a number, / and one of s, m or h, such as 50/s")
    return Rate(int(match[1]), _SECONDS[match[2]])


class RateLimit:
    """Generic cell rate algorithm (ITU-T I.371): for each source the one time when its bucket will be full again."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic, table: int = TABLE) -> None:
        self._interval = rate.seconds / rate.count
        self._burst = float(rate.seconds)
        self._clock = clock
        self._table = table
        self._full_at: dict[Hashable, float] = {}

    def __len__(self) -> int:
        return len(self._full_at)

    def spend(self, source: Hashable) -> None:
        """Counts a request of ``source``. Raises Refusal (429), counting nothing, where it has sent too many."""
        now = self._clock()
        full_at = self._full_at
        mine = max(full_at.pop(source, now), now) + self._interval  # out and in again: the oldest stays first
        wait = mine - now - self._burst
        if wait > 1e-9 * self._burst:
            full_at[source] = mine - self._interval
            raise Refusal(429, "rate", "this source sends too many requests", retry_after=max(1, math.ceil(wait)))
        full_at[source] = mine
        if len(full_at) > self._table:
            del full_at[next(iter(full_at))]

    def forget(self) -> None:
        """Forgets every source."""
        self._full_at.clear()
