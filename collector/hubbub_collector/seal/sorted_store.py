"""The sealer's own database: uploads by metric and period, what is being sealed, and which upload ids were."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hubbub_collector.checksums import row_crc, with_crc
from hubbub_collector.errors import CollectorError, DamagedError
from hubbub_collector.seal.sorted_schema import FORMAT, SCHEMA, SETUP, UPGRADES
from hubbub_collector.sqlite import connect, settle

_INSERT = """
INSERT OR IGNORE INTO batches SELECT ?1, ?2, ?3, ?4, ?5
WHERE NOT EXISTS (SELECT 1 FROM ids WHERE fingerprint = ?1 AND period = ?2 AND upload = ?3)
"""
_INSERT_OVERDUE = """
INSERT OR IGNORE INTO overdue SELECT ?1, ?2, ?3, ?4, ?5
WHERE NOT EXISTS (SELECT 1 FROM batches WHERE fingerprint = ?1 AND period = ?2 AND upload = ?3)
"""
OVERDUE = "overdue"
"""Is in the checksum of an upload that is kept aside: it must not be taken for one that waits."""
_RANGE = "fingerprint = ? AND period = ? AND upload <= ?"
_NOTE = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"

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


class Added(NamedTuple):
    """How many uploads were new, and how many came when the ids of their period were forgotten."""

    new: int
    overdue: int


class SortedStore:
    """The database ``sealing/sorted.sqlite``. Used by one sealer at a time; methods raise sqlite3.Error."""

    def __init__(self, path: Path) -> None:
        """Opens or creates it, with all that is in it on stable storage. Raises CollectorError."""
        self.path = path
        self._db = connect(path, SCHEMA, FORMAT, SETUP, UPGRADES)
        try:
            settle(self._db)
        except sqlite3.Error as error:
            self._db.close()
            raise CollectorError(
                f"{path}: cannot be written ({error}); free some space, or see that its disk works"
            ) from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.rollback()

    def taken(self, store: bytes) -> dict[int, int]:
        """The groups of the worker store with the identity ``store`` that were sorted last, and may not be deleted
        there yet: the id of each, and the CRC-32 of what it held.
        """
        return dict(self._db.execute("SELECT id, content FROM taken WHERE store = ?", (store,)))

    def add(self, rows: Sequence[Row], store: bytes = b"", taken: Mapping[int, int] | None = None) -> Added:
        """Adds uploads, and notes which groups of ``store`` they were where ``taken`` says so, in one transaction.

        An upload id that is here already, or sealed, in the same metric and period is dropped. Whoever adds the same
        rows again, after a crash, adds nothing. Where the ids of a period are forgotten a repeat could not be told:
        what comes for it is kept aside.
        """
        floors: dict[bytes, int] = dict(self._db.execute("SELECT fingerprint, period FROM forgotten"))
        overdue = [row for row in rows if row[1] < floors.get(row[0], 0)]
        if overdue:
            rows = [row for row in rows if row[1] >= floors.get(row[0], 0)]
        with self._transaction() as db:
            new = db.executemany(_INSERT, (with_crc(*row) for row in rows)).rowcount
            late = db.executemany(_INSERT_OVERDUE, ((*row, row_crc(*row, OVERDUE)) for row in overdue)).rowcount
            if taken is not None:
                db.execute("DELETE FROM taken WHERE store = ?", (store,))
                notes = (with_crc(store, id, content) for id, content in taken.items())
                db.executemany("INSERT INTO taken VALUES (?, ?, ?, ?)", notes)
        return Added(max(new, 0), max(late, 0))  # -1 where there were no rows

    def waiting(self) -> list[Waiting]:
        """What waits, by metric and period."""
        query = (
            "SELECT fingerprint, period, count(*), sum(length(records)) FROM batches"
            " GROUP BY fingerprint, period ORDER BY fingerprint, period"
        )
        return [Waiting(*row) for row in self._db.execute(query)]

    def overdue(self) -> int:
        """How many uploads are kept aside."""
        return int(self._db.execute("SELECT count(*) FROM overdue").fetchone()[0])

    def lengths(self, fingerprint: bytes, period: int) -> Iterator[tuple[bytes, int]]:
        """(upload id, bytes of records) of what waits for one metric and period, in the order of the ids."""
        query = "SELECT upload, length(records) FROM batches WHERE fingerprint = ? AND period = ? ORDER BY upload"
        yield from self._db.execute(query, (fingerprint, period))

    def records(self, intent: Intent) -> bytearray:
        """The records of a part, end to end. Raises DamagedError where one is not what was added."""
        gathered = bytearray()
        query = f"SELECT upload, records, crc FROM batches WHERE {_RANGE}"  # noqa: S608 - constants
        for upload, records, crc in self._db.execute(query, (intent.fingerprint, intent.period, intent.last)):
            if crc != row_crc(intent.fingerprint, intent.period, upload, records):
                raise DamagedError(
                    f"{self.path}: upload {upload.hex()} of metric {intent.metric}, period {intent.period} is damaged "
                    "(its checksum does not match); nothing of that period is sealed until hubbub store repair"
                )
            gathered += records
        return gathered

    def intend(self, intent: Intent) -> None:
        """Notes what is about to be written, before any of it is."""
        with self._transaction() as db:
            db.execute("INSERT INTO intents VALUES (?, ?, ?, ?, ?, ?)", with_crc(*intent))

    def intents(self) -> list[Intent]:
        """What a crash may have interrupted. Raises DamagedError."""
        rows = self._db.execute("SELECT * FROM intents").fetchall()
        if any(row_crc(*row[:-1]) != row[-1] for row in rows):
            raise DamagedError(f"{self.path}: what was being sealed cannot be read; hubbub store repair mends that")
        return [Intent(*row[:-1]) for row in rows]

    def finish(self, intent: Intent) -> None:
        """The part is committed: forgets its records, and keeps its upload ids with no link to them."""
        key = (intent.fingerprint, intent.period, intent.last)
        with self._transaction() as db:
            query = "SELECT fingerprint, period, upload, row_crc(fingerprint, period, upload) FROM batches"
            db.execute(f"INSERT INTO ids {query} WHERE {_RANGE}", key)
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
        """Forgets the upload ids of the periods below ``before``: no upload for them is taken any more."""
        if before <= self.forgotten(fingerprint):
            return
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?)", with_crc(fingerprint, before))
            db.execute("DELETE FROM ids WHERE fingerprint = ? AND period < ?", (fingerprint, before))

    def forgotten(self, fingerprint: bytes) -> int:
        """The period below which upload ids were forgotten, so that a repeat would not be noticed; 0 for none."""
        row = self._db.execute("SELECT period FROM forgotten WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return 0 if row is None else int(row[0])

    @property
    def identity(self) -> int:
        """A number that no other file has."""
        if not self.noted("identity"):
            self.note("identity", int.from_bytes(os.urandom(7), "big") + 1)
        return self.noted("identity")

    def note(self, key: str, value: int) -> None:
        """Keeps a number for the next run."""
        with self._transaction() as db:
            db.execute(_NOTE, with_crc(key, value))

    def noted(self, key: str) -> int:
        """A number that an earlier run kept, 0 for none. Raises DamagedError."""
        row = self._db.execute("SELECT value, crc FROM meta WHERE key = ?", (key,)).fetchone()
        if row is not None and row_crc(key, row[0]) != row[1]:
            raise DamagedError(f"{self.path}: what it notes as {key} is damaged; hubbub store repair mends that")
        return 0 if row is None else int(row[0])

    def close(self) -> None:
        """Closes the file."""
        self._db.close()
