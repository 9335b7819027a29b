"""How much each token has contributed: the file ``access/caps.sqlite``, which the workers of a collector share.

It keeps two things, and nothing that joins them. ``used``: how many records a token has sent for a metric and period.
``charged``: for how many records of one batch somebody has been charged, under a hash of its upload id, metric and
period, so that an upload that is sent again is not charged again. Both are gone once the period is accepted no more.
Neither is in order of arrival.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hubbub_collector.sqlite import connect, store_error

FORMAT = 1
_SCHEMA = """
CREATE TABLE used (
    token TEXT NOT NULL, fingerprint BLOB NOT NULL, period INTEGER NOT NULL, records INTEGER NOT NULL,
    ends INTEGER NOT NULL, PRIMARY KEY (token, fingerprint, period)
) WITHOUT ROWID;
CREATE TABLE charged (batch BLOB PRIMARY KEY, records INTEGER NOT NULL, ends INTEGER NOT NULL) WITHOUT ROWID;
"""
_USE = """
INSERT INTO used VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET records = records + excluded.records
"""
_CHARGE = """
INSERT INTO charged VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET records = excluded.records
"""


class Charge(NamedTuple):
    """A batch that counts against a cap. ``ends`` is the Unix time at which its period ends."""

    token: str
    cap: int
    upload: bytes
    fingerprint: bytes
    period: int
    records: int
    ends: int


class Caps:
    """The counters. One thread at a time may use them; other workers have their own connection to the file."""

    def __init__(self, path: Path) -> None:
        """Opens or creates ``path``. Raises CollectorError where it cannot be written."""
        self._path = path
        self._db = connect(path, _SCHEMA, FORMAT)

    def charge(self, charges: Sequence[Charge]) -> list[bool]:
        """Charges what fits under its cap, and returns which did. On stable storage when it returns. Raises StoreError,
        having charged nothing.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            fits = [self._charge(one) for one in charges]
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.rollback()
            raise store_error(self._path, error) from None
        return fits

    def _charge(self, one: Charge) -> bool:
        key = _key(one)
        before = self._number("SELECT records FROM charged WHERE batch = ?", key)
        more = one.records - before
        if more <= 0:
            return True
        of = one.token, one.fingerprint, one.period
        used = self._number("SELECT records FROM used WHERE (token, fingerprint, period) = (?, ?, ?)", *of)
        if used + more > one.cap:
            return False
        self._db.execute(_USE, (*of, more, one.ends))
        self._db.execute(_CHARGE, (key, one.records, one.ends))
        return True

    def used(self, token: str, fingerprint: bytes, period: int) -> int:
        """How many records ``token`` has contributed to a metric and period."""
        query = "SELECT records FROM used WHERE (token, fingerprint, period) = (?, ?, ?)"
        return self._number(query, token, fingerprint, period)

    def prune(self, before: int) -> None:
        """Forgets periods that ended before the Unix time ``before``. Raises StoreError."""
        try:
            for table in ("used", "charged"):
                self._db.execute(f"DELETE FROM {table} WHERE ends < ?", (before,))  # noqa: S608 - one of two names
        except sqlite3.Error as error:
            raise store_error(self._path, error) from None

    def _number(self, query: str, *parameters: object) -> int:
        row = self._db.execute(query, parameters).fetchone()
        return 0 if row is None else int(row[0])

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


def _key(one: Charge) -> bytes:
    place = one.upload + one.fingerprint + one.period.to_bytes(8, "big")
    return hashlib.blake2b(place, digest_size=16).digest()
