"""A worker's quarantine: batches whose fingerprint no metric of its registry has, kept apart until one has it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hubbub_collector.checksums import row_crc, with_crc
from hubbub_collector.sqlite import store_error
from hubbub_collector.upload import Batch

SCHEMA = """
CREATE TABLE quarantine (
    upload BLOB NOT NULL, batch INTEGER NOT NULL, fingerprint BLOB NOT NULL, period INTEGER NOT NULL,
    records BLOB NOT NULL, crc INTEGER, PRIMARY KEY (upload, batch)
) WITHOUT ROWID
"""
_NEXT = "SELECT upload, batch, fingerprint, period, records, crc FROM quarantine WHERE (upload, batch) > (?, ?)"
ROW_BYTES = 64
"""What a batch takes besides its records, so that many small ones cannot take much more than the budget."""
_AT_ONCE = 256
"""Batches deleted in one transaction, so that the intake never waits long."""


class Quarantined(NamedTuple):
    """A batch in quarantine; ``number`` is its place in its upload."""

    upload: bytes
    number: int
    batch: Batch


class Kept(NamedTuple):
    """What lies in quarantine for one fingerprint and period."""

    fingerprint: bytes
    period: int
    batches: int
    bytes: int


def space(batch: Batch) -> int:
    """The bytes that ``batch`` counts for against the quarantine's budget."""
    return len(batch.records) + ROW_BYTES


class Quarantine:
    """The table of one store, on the store's connection. Methods raise StoreError."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        """``path`` is what errors name."""
        self._path = path
        self._db = db
        self._version: int | None = None
        self._space = 0

    def add(self, quarantined: Sequence[Quarantined]) -> None:
        """Adds batches within the caller's transaction; a retry of what is already here adds nothing."""
        for upload, number, batch in quarantined:
            cursor = self._db.execute(
                "INSERT OR IGNORE INTO quarantine VALUES (?, ?, ?, ?, ?, ?)", with_crc(upload, number, *batch)
            )
            self._space += space(batch) * cursor.rowcount

    def forget_space(self) -> None:
        """Has the space counted anew: the transaction of an ``add`` failed."""
        self._version = None

    def space(self) -> int:
        """The bytes that all of it counts for. Counts anew only where another connection has changed the file."""
        try:
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                query = "SELECT count(*), coalesce(sum(length(records)), 0) FROM quarantine"
                batches, records = self._db.execute(query).fetchone()
                self._space = records + ROW_BYTES * batches
                self._version = version
        except sqlite3.Error as error:
            raise store_error(self._path, error) from None
        return self._space

    def batches(self, fingerprints: Collection[bytes], damaged: list[str] | None = None) -> Iterator[Quarantined]:
        """The batches with one of ``fingerprints``, by upload. Each is read by a statement of its own, so that no long
        read keeps the log from being checkpointed. What is damaged is left out, and named in ``damaged``.
        """
        marks = ", ".join("?" * len(fingerprints))
        query = f"{_NEXT} AND fingerprint IN ({marks}) ORDER BY upload, batch LIMIT 1"
        after: tuple[bytes, int] = (b"", -1)
        while True:
            try:
                row = self._db.execute(query, (*after, *fingerprints)).fetchone()
            except sqlite3.Error as error:
                raise store_error(self._path, error) from None
            if row is None:
                return
            upload, number, *batch, crc = row
            after = upload, number
            if crc == row_crc(upload, number, *batch):
                yield Quarantined(upload, number, Batch(*batch))
            elif damaged is not None:
                damaged.append(
                    f"{self._path}: batch {number} of upload {upload.hex()} in quarantine is damaged (its checksum "
                    "does not match); it was left where it is, hubbub store repair sets it aside"
                )

    def delete(self, keys: Sequence[tuple[bytes, int]]) -> None:
        """Deletes the batches with these upload ids and numbers."""
        try:
            for at in range(0, len(keys), _AT_ONCE):
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("DELETE FROM quarantine WHERE upload = ? AND batch = ?", keys[at : at + _AT_ONCE])
                self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.rollback()
            raise store_error(self._path, error) from None
        self.forget_space()

    def listing(self) -> list[Kept]:
        """What lies here, by fingerprint and period; ``bytes`` are those of the records."""
        query = (
            "SELECT fingerprint, period, count(*), sum(length(records)) FROM quarantine"
            " GROUP BY fingerprint, period ORDER BY fingerprint, period"
        )
        try:
            return [Kept(*row) for row in self._db.execute(query)]
        except sqlite3.Error as error:
            raise store_error(self._path, error) from None

    def count(self) -> int:
        """How many batches lie here."""
        return sum(kept.batches for kept in self.listing())

    def purge(self, fingerprint: bytes | None) -> int:
        """Deletes the batches of ``fingerprint``, or all where it is None; returns how many."""
        query = "SELECT upload, batch FROM quarantine WHERE ?1 IS NULL OR fingerprint = ?1"
        try:
            keys = self._db.execute(query, (fingerprint,)).fetchall()
        except sqlite3.Error as error:
            raise store_error(self._path, error) from None
        self.delete(keys)
        return len(keys)
