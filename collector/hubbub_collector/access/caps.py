"""How much each token has contributed: the file ``access/caps.sqlite``, which the workers of a collector share.

It keeps two things, and nothing that joins them. ``used``: how many records a token has sent for a metric and period.
``charged``: for how many records of one batch somebody has been charged, under a hash of its upload id, metric and
period, so that an upload that is sent again is not charged again. Both are gone once the period is accepted no more,
by the greatest ``--late`` that any collector on the file had, and by what the sealer has closed: another run with a
greater ``--late``, or a right clock after a wrong one, must not find a cap refilled. Neither is in order of arrival.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hubbub_collector.checksums import with_crc
from hubbub_collector.errors import CollectorError, UnreadableError
from hubbub_collector.sqlite import connect, is_corrupt, store_error

FORMAT = 3
PAGE = 4096
_MARGIN = 86_400
"""Counts are kept this many seconds past the acceptance window: the clock may have been set back meanwhile."""
_LATE = "CREATE TABLE late (seconds INTEGER PRIMARY KEY, crc INTEGER) WITHOUT ROWID"
SCHEMA = f"""
{_LATE};
CREATE TABLE used (
    token TEXT NOT NULL, fingerprint BLOB NOT NULL, period INTEGER NOT NULL, records INTEGER NOT NULL,
    ends INTEGER NOT NULL, crc INTEGER, PRIMARY KEY (token, fingerprint, period)
) WITHOUT ROWID;
CREATE TABLE charged (
    batch BLOB PRIMARY KEY, records INTEGER NOT NULL, ends INTEGER NOT NULL, crc INTEGER
) WITHOUT ROWID;
"""
_CHECKSUMS = """
ALTER TABLE used ADD COLUMN crc INTEGER;
UPDATE used SET crc = row_crc(token, fingerprint, period, records, ends);
ALTER TABLE charged ADD COLUMN crc INTEGER;
UPDATE charged SET crc = row_crc(batch, records, ends)
"""
_FROM_1 = f"{_LATE}; {_CHECKSUMS}"
_FROM_2 = f"""
ALTER TABLE late RENAME TO before;
{_LATE};
INSERT INTO late SELECT max(seconds), row_crc(max(seconds)) FROM before HAVING count(*) > 0;
DROP TABLE before;
{_CHECKSUMS}
"""  # noqa: S608 - all of it is ours
# A row that is damaged keeps its checksum, so that it stays known for what it is.
_USE = """
INSERT INTO used VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET
    records = records + excluded.records,
    crc = iif(
        crc = row_crc(token, fingerprint, period, records, ends),
        row_crc(token, fingerprint, period, records + excluded.records, ends), crc
    )
"""
_CHARGE = """
INSERT INTO charged VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET
    records = excluded.records,
    crc = iif(crc = row_crc(batch, records, ends), row_crc(batch, excluded.records, ends), crc)
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

    def __init__(self, path: Path, late: int) -> None:
        """Opens or creates ``path``, for a collector that accepts periods for ``late`` seconds after their end. Raises
        CollectorError where it cannot be written, and its kind UnreadableError where it is damaged.
        """
        self._path = path
        self._db = connect(path, SCHEMA, FORMAT, {"page_size": PAGE}, {1: _FROM_1, 2: _FROM_2})
        try:
            self._note(late)
        except sqlite3.Error as error:
            self._db.close()
            raise (UnreadableError if is_corrupt(error) else CollectorError)(str(store_error(path, error))) from None

    def _note(self, late: int) -> None:
        if late > self._greatest_late():
            self._db.execute("BEGIN IMMEDIATE")
            if late > self._greatest_late():  # nobody else did meanwhile
                self._db.execute("DELETE FROM late")
                self._db.execute("INSERT INTO late VALUES (?, ?)", with_crc(late))
            self._db.execute("COMMIT")

    def _greatest_late(self) -> int:
        return self._number("SELECT coalesce(max(seconds), 0) FROM late")

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
        self._db.execute(_USE, with_crc(*of, more, one.ends))
        self._db.execute(_CHARGE, with_crc(key, one.records, one.ends))
        return True

    def used(self, token: str, fingerprint: bytes, period: int) -> int:
        """How many records ``token`` has contributed to a metric and period."""
        query = "SELECT records FROM used WHERE (token, fingerprint, period) = (?, ?, ?)"
        return self._number(query, token, fingerprint, period)

    def prune(self, now: int, closed: int) -> None:
        """Forgets periods that are accepted no more at Unix time ``now``, and that had ended by ``closed`` (Unix time),
        which is what the sealer has announced. Raises StoreError.
        """
        try:
            before = min(now - self._greatest_late() - _MARGIN, closed)
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
