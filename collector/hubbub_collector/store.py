"""A worker's store: one SQLite file, one row a group commit."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hubbub_collector.errors import CollectorError
from hubbub_collector.sqlite import connect, store_error
from hubbub_collector.upload import Batch

FORMAT = 1
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE groups (id INTEGER PRIMARY KEY AUTOINCREMENT, crc INTEGER NOT NULL, bodies BLOB NOT NULL);
CREATE TABLE quarantine (
    upload BLOB NOT NULL, batch INTEGER NOT NULL, fingerprint BLOB NOT NULL, period INTEGER NOT NULL,
    records BLOB NOT NULL, PRIMARY KEY (upload, batch)
) WITHOUT ROWID
"""
_SETUP = {"page_size": 16384, "wal_autocheckpoint": 512, "cache_size": -8192}


class Quarantined(NamedTuple):
    """A batch whose fingerprint no metric has; ``number`` is its place among the unknown ones of its upload."""

    upload: bytes
    number: int
    batch: Batch


class Group(NamedTuple):
    """One row: the bodies of a group commit, end to end; each is one msgpack array, so nothing separates them."""

    id: int
    bodies: bytes


class Store(Protocol):
    """What the writer needs of a store. One thread at a time may use it."""

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined]) -> None:
        """Stores all of it, or none and raises StoreError. Returns only once it is on stable storage.

        With nothing to store it still writes durably: the way to find out whether a full disk has room again.
        """

    def used_bytes(self) -> int:
        """The space that is taken, without what sealing has freed inside the file."""

    def quarantined_bytes(self) -> int:
        """The bytes of the records in quarantine."""

    def close(self) -> None:
        """Closes the store. What was committed stays."""


class SqliteStore:
    """The store in one SQLite file. Ids never restart (AUTOINCREMENT), and ``identity`` is new for each new file.

    Together they let the sealer remember which rows it has taken, even where somebody has removed the file.
    """

    def __init__(self, path: Path, late: int | None = None) -> None:
        """Opens or creates ``path``. ``late`` (seconds), where given, is noted for the sealer: it must remember upload
        ids for as long as uploads are accepted. Raises CollectorError where the file cannot be written.
        """
        self.path = path
        self._db = connect(path, _SCHEMA, FORMAT, _SETUP)
        try:
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (os.urandom(16),))
            if late is not None:
                self._db.execute(
                    "INSERT INTO meta VALUES ('late', ?)"
                    " ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)",
                    (late,),
                )
            self.identity: bytes = self._meta("identity")
            (self._quarantined,) = self._db.execute(
                "SELECT coalesce(sum(length(records)), 0) FROM quarantine"
            ).fetchone()
        except sqlite3.Error as error:
            self._db.close()
            raise CollectorError(
                f"{path}: cannot be written ({error}); free some space, or correct its rights"
            ) from None

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined] = ()) -> None:
        """See ``Store``. Raises StoreFullError where the disk is full."""
        try:
            if not quarantined:
                # One statement, which commits by itself.
                if bodies:
                    self._insert(bodies)
                else:
                    self._db.execute("UPDATE meta SET value = value WHERE key = 'identity'")
                return
            self._db.execute("BEGIN IMMEDIATE")
            if bodies:
                self._insert(bodies)
            added = self._quarantine(quarantined)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.rollback()
            raise store_error(self.path, error) from None
        self._quarantined += added

    def _insert(self, bodies: Sequence[bytes]) -> None:
        packed = b"".join(bodies)
        self._db.execute("INSERT INTO groups (crc, bodies) VALUES (?, ?)", (zlib.crc32(packed), packed))

    def _quarantine(self, quarantined: Sequence[Quarantined]) -> int:
        added = 0
        for upload, number, batch in quarantined:
            # A retry of an upload that is already here adds nothing.
            cursor = self._db.execute(
                "INSERT OR IGNORE INTO quarantine VALUES (?, ?, ?, ?, ?)", (upload, number, *batch)
            )
            added += len(batch.records) * cursor.rowcount
        return added

    def used_bytes(self) -> int:
        """The space taken by rows, in whole pages. Raises StoreError."""
        try:
            pages, free, size = (
                self._db.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None
        return int((pages - free) * size)

    def quarantined_bytes(self) -> int:
        """The bytes of the records in quarantine."""
        return int(self._quarantined)

    def late(self) -> int:
        """For how many seconds after a period's end its uploads may have been accepted; 0 where no collector said."""
        try:
            return int(self._meta("late"))
        except LookupError:
            return 0

    def last_id(self) -> int:
        """The id of the newest group, 0 where there is none."""
        (last,) = self._db.execute("SELECT coalesce(max(id), 0) FROM groups").fetchone()
        return int(last)

    def groups(self, after: int, up_to: int) -> Iterator[Group]:
        """The groups with ``after < id <= up_to``, oldest first. Raises CollectorError at a damaged one.

        Each is read by a statement of its own, so that no long read keeps the log from being checkpointed.
        """
        while True:
            row = self._db.execute(
                "SELECT id, crc, bodies FROM groups WHERE id > ? AND id <= ? ORDER BY id LIMIT 1", (after, up_to)
            ).fetchone()
            if row is None:
                return
            after, crc, bodies = row
            if zlib.crc32(bodies) != crc:
                raise CollectorError(
                    f"{self.path}: group {after} is damaged (its checksum does not match); nothing was removed, "
                    "restore the file from a copy, or delete that row to give the group up"
                )
            yield Group(after, bodies)

    def delete(self, up_to: int, at_once: int = 64) -> None:
        """Deletes the groups with ``id <= up_to``, a few a transaction, so that the intake never waits long."""
        try:
            while self._db.execute(
                "DELETE FROM groups WHERE id IN (SELECT id FROM groups WHERE id <= ? ORDER BY id LIMIT ?)",
                (up_to, at_once),
            ).rowcount:
                pass
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def quarantined_batches(self) -> int:
        """How many batches are in quarantine."""
        (count,) = self._db.execute("SELECT count(*) FROM quarantine").fetchone()
        return int(count)

    def _meta(self, key: str) -> Any:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise LookupError(key)
        return row[0]

    def close(self) -> None:
        """Closes the file."""
        self._db.close()
