"""The sealer's own database: uploads by metric and period, what is being sealed, and which upload ids were."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hubbub_collector.sqlite import connect

FORMAT = 2
_SINCE_2 = """
CREATE TABLE damaged (store BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (store, id)) WITHOUT ROWID;
CREATE TABLE forgotten (fingerprint BLOB PRIMARY KEY, period INTEGER NOT NULL) WITHOUT ROWID
"""
# Keyed by the random upload id and without row numbers: the order of arrival ends here.
_SCHEMA = f"""
CREATE TABLE watermarks (store BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE batches (
    fingerprint BLOB NOT NULL, period INTEGER NOT NULL, upload BLOB NOT NULL, records BLOB NOT NULL,
    PRIMARY KEY (fingerprint, period, upload)
) WITHOUT ROWID;
CREATE TABLE ids (
    fingerprint BLOB NOT NULL, period INTEGER NOT NULL, upload BLOB NOT NULL,
    PRIMARY KEY (fingerprint, period, upload)
) WITHOUT ROWID;
CREATE TABLE intents (
    fingerprint BLOB NOT NULL, period INTEGER NOT NULL, metric TEXT NOT NULL, seal INTEGER NOT NULL, last BLOB NOT NULL,
    PRIMARY KEY (fingerprint, period)
) WITHOUT ROWID;
{_SINCE_2}
"""
_SETUP = {"page_size": 8192, "cache_size": -65536}
_INSERT = """
INSERT OR IGNORE INTO batches SELECT ?1, ?2, ?3, ?4
WHERE NOT EXISTS (SELECT 1 FROM ids WHERE fingerprint = ?1 AND period = ?2 AND upload = ?3)
"""
_RANGE = "fingerprint = ? AND period = ? AND upload <= ?"

Row = tuple[bytes, int, bytes, bytes]
"""fingerprint, period, upload id, records"""


class Waiting(NamedTuple):
    """What waits for one metric and period: a number of uploads, and the bytes of their records."""

    fingerprint: bytes
    period: int
    uploads: int
    record_bytes: int


class Intent(NamedTuple):
    """A part that is being written: number ``seal``, of the uploads up to and with the id ``last``."""

    fingerprint: bytes
    period: int
    metric: str
    seal: int
    last: bytes


class SortedStore:
    """The database ``sealing/sorted.sqlite``. Used by one sealer at a time; methods raise sqlite3.Error."""

    def __init__(self, path: Path) -> None:
        """Opens or creates it. Raises CollectorError."""
        self.path = path
        self._db = connect(path, _SCHEMA, FORMAT, _SETUP, {1: _SINCE_2})

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.rollback()

    def watermark(self, store: bytes) -> int:
        """The last group taken from the worker store with the identity ``store``, 0 for a new one."""
        row = self._db.execute("SELECT id FROM watermarks WHERE store = ?", (store,)).fetchone()
        return 0 if row is None else int(row[0])

    def damaged(self, store: bytes) -> set[int]:
        """The groups of that store, up to its watermark, that were damaged and are not taken."""
        return {id for (id,) in self._db.execute("SELECT id FROM damaged WHERE store = ?", (store,))}

    def add(self, rows: Sequence[Row], store: bytes, watermark: int, damaged: Collection[int] = ()) -> int:
        """Adds the uploads of ``store`` up to group ``watermark``, all but those of the ``damaged`` groups, and notes
        both, in one transaction.

        Returns how many rows were new: an upload id already here, or sealed, in the same metric and period is dropped.
        """
        with self._transaction() as db:
            added = db.executemany(_INSERT, rows).rowcount
            db.execute("INSERT OR REPLACE INTO watermarks VALUES (?, ?)", (store, watermark))
            db.execute("DELETE FROM damaged WHERE store = ?", (store,))
            db.executemany("INSERT INTO damaged VALUES (?, ?)", [(store, id) for id in sorted(damaged)])
        return max(added, 0)  # -1 where there were no rows

    def release(self, rows: Sequence[Row]) -> int:
        """Adds uploads from a quarantine, in one transaction; returns how many were new, as ``add`` does.

        There is no watermark: whoever adds the same rows again, after a crash, adds nothing.
        """
        with self._transaction() as db:
            return max(db.executemany(_INSERT, rows).rowcount, 0)

    def waiting(self) -> list[Waiting]:
        """What waits, by metric and period."""
        query = (
            "SELECT fingerprint, period, count(*), sum(length(records)) FROM batches"
            " GROUP BY fingerprint, period ORDER BY fingerprint, period"
        )
        return [Waiting(*row) for row in self._db.execute(query)]

    def lengths(self, fingerprint: bytes, period: int) -> Iterator[tuple[bytes, int]]:
        """(upload id, bytes of records) of what waits for one metric and period, in the order of the ids."""
        query = "SELECT upload, length(records) FROM batches WHERE fingerprint = ? AND period = ? ORDER BY upload"
        yield from self._db.execute(query, (fingerprint, period))

    def records(self, intent: Intent) -> bytearray:
        """The records of a part, end to end."""
        gathered = bytearray()
        query = f"SELECT records FROM batches WHERE {_RANGE}"  # noqa: S608 - constants
        for (records,) in self._db.execute(query, (intent.fingerprint, intent.period, intent.last)):
            gathered += records
        return gathered

    def intend(self, intent: Intent) -> None:
        """Notes what is about to be written, before any of it is."""
        with self._transaction() as db:
            db.execute("INSERT INTO intents VALUES (?, ?, ?, ?, ?)", intent)

    def intents(self) -> list[Intent]:
        """What a crash may have interrupted."""
        return [Intent(*row) for row in self._db.execute("SELECT * FROM intents")]

    def finish(self, intent: Intent) -> None:
        """The part is committed: forgets its records, and keeps its upload ids with no link to them."""
        key = (intent.fingerprint, intent.period, intent.last)
        with self._transaction() as db:
            db.execute(f"INSERT INTO ids SELECT fingerprint, period, upload FROM batches WHERE {_RANGE}", key)  # noqa: S608
            db.execute(f"DELETE FROM batches WHERE {_RANGE}", key)  # noqa: S608 - constants
            self._forget(db, intent)

    def abandon(self, intent: Intent) -> None:
        """The part is not committed: its uploads wait again."""
        with self._transaction() as db:
            self._forget(db, intent)

    @staticmethod
    def _forget(db: sqlite3.Connection, intent: Intent) -> None:
        db.execute("DELETE FROM intents WHERE fingerprint = ? AND period = ?", (intent.fingerprint, intent.period))

    def prune(self, fingerprint: bytes, before: int) -> None:
        """Forgets the upload ids of the periods below ``before``: no upload for them is accepted any more."""
        with self._transaction() as db:
            db.execute("DELETE FROM ids WHERE fingerprint = ? AND period < ?", (fingerprint, before))
            db.execute(
                "INSERT INTO forgotten VALUES (?, ?)"
                " ON CONFLICT (fingerprint) DO UPDATE SET period = excluded.period WHERE excluded.period > period",
                (fingerprint, before),
            )

    def forgotten(self, fingerprint: bytes) -> int:
        """The period below which upload ids were forgotten, so that a repeat would not be noticed; 0 for none."""
        row = self._db.execute("SELECT period FROM forgotten WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return 0 if row is None else int(row[0])

    def close(self) -> None:
        """Closes the file."""
        self._db.close()
