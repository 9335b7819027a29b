"""How much of the database is taken: by all hosts together, told to each worker as its share."""

from __future__ import annotations

import time
from typing import LiteralString

from hubbub_collector.postgres.link import Link

_LEAST_SECONDS = 0.5
_TIMES = 50


class Space:
    """A number of bytes that ``query`` counts, divided by ``share``: so the workers of a host add up to all of it, and
    each compares its share with its share of the budget. Counting reads the table, so it rests for 50 times as long as
    it took; what this worker adds in between counts at once, and in full.
    """

    def __init__(self, link: Link, query: LiteralString, share: int) -> None:
        self._link = link
        self._query = query
        self._share = share
        self._due = 0.0
        self._counted = 0
        self._added = 0

    def add(self, size: int) -> None:
        """Counts what was committed."""
        self._added += size

    def value(self) -> int:
        """In bytes. Raises StoreError."""
        began = time.monotonic()
        if began >= self._due:
            with self._link.use() as db:
                row = db.execute(self._query).fetchone()
            self._counted = -(-int(row[0] if row else 0) // self._share)
            self._added = 0
            took = time.monotonic() - began
            self._due = began + took + max(_LEAST_SECONDS, _TIMES * took)
        return self._counted + self._added
