"""A worker's store: one SQLite file, one row a group commit, and the quarantine."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from hubbub_collector import quarantine
from hubbub_collector.errors import CollectorError, DamagedError, StoreError
from hubbub_collector.quarantine import Quarantine, Quarantined
from hubbub_collector.sqlite import connect, is_corrupt, store_error

__all__ = ["Quarantined", "SqliteStore", "Store"]

FORMAT = 1
_SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE groups (id INTEGER PRIMARY KEY AUTOINCREMENT, crc INTEGER NOT NULL, bodies BLOB NOT NULL);
{quarantine.SCHEMA}
"""
_SETUP = {"page_size": 16384, "wal_autocheckpoint": 512, "cache_size": -8192}


class Store(Protocol):
    """What the writer needs of a store. One thread at a time may use it."""

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined]) -> None:
        """Stores all of it, or none and raises StoreError. Returns only once it is on stable storage.

        With nothing to store it still writes durably: the way to find out whether a full disk has room again.
        """

    def used_bytes(self) -> int:
        """The space that is taken, without what sealing has freed inside the file. Raises StoreError."""

    def quarantined_bytes(self) -> int:
        """The bytes that the quarantine counts for, less what the sealer has taken out meanwhile. Raises StoreError."""

    def close(self) -> None:
        """Closes the store. What was committed stays."""


class SqliteStore:
    """The store in one SQLite file. Ids never restart (AUTOINCREMENT), and ``identity`` is new for each new file.

    Together they let the sealer remember which rows it has taken, even where somebody has removed the file. A group is
    a row: the bodies of a group commit, end to end; each is one msgpack array, so nothing separates them.
    """

    def __init__(self, path: Path, late: int | None = None) -> None:
        """Opens or creates ``path``. ``late`` (seconds), where given, is noted for the sealer: it must remember upload
        ids for as long as uploads are accepted. Raises CollectorError where the file cannot be written.
        """
        self.path = path
        self._db = connect(path, _SCHEMA, FORMAT, _SETUP)
        self.quarantine = Quarantine(path, self._db)
        try:
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (os.urandom(16),))
            if late is not None:
                self._db.execute(
                    "INSERT INTO meta VALUES ('late', ?)"
                    " ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)",
                    (late,),
                )
            self.identity: bytes = self._one("SELECT value FROM meta WHERE key = 'identity'")[0]
            self.quarantine.space()
        except (sqlite3.Error, StoreError) as error:
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
            self.quarantine.add(quarantined)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.rollback()
            if quarantined:
                self.quarantine.forget_space()
            raise store_error(self.path, error) from None

    def _insert(self, bodies: Sequence[bytes]) -> None:
        packed = b"".join(bodies)
        self._db.execute("INSERT INTO groups (crc, bodies) VALUES (?, ?)", (zlib.crc32(packed), packed))

    def used_bytes(self) -> int:
        """The space taken by rows, in whole pages."""
        try:
            pages, free, size = (
                self._db.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None
        return int((pages - free) * size)

    def quarantined_bytes(self) -> int:
        """See ``Store``."""
        return self.quarantine.space()

    def late(self) -> int:
        """For how many seconds after a period's end its uploads may have been accepted; 0 where no collector said."""
        row = self._one("SELECT value FROM meta WHERE key = 'late'")
        return 0 if row is None else int(row[0])

    def last_id(self) -> int:
        """The id of the newest group, 0 where there is none. Raises StoreError, as do those below."""
        return int(self._one("SELECT coalesce(max(id), 0) FROM groups")[0])

    def ids(self, after: int, up_to: int) -> Iterator[int]:
        """The ids of the groups with ``after < id <= up_to``, oldest first.

        Each is read by a statement of its own, so that no long read keeps the log from being checkpointed.
        """
        while True:
            (found,) = self._one("SELECT min(id) FROM groups WHERE id > ? AND id <= ?", after, up_to)
            if found is None:
                return
            after = found
            yield after

    def group(self, id: int) -> bytes | None:
        """The bodies of group ``id``, end to end; None where it is gone. Raises DamagedError too."""
        query = "SELECT crc, CAST(bodies AS BLOB) FROM groups WHERE id = ?"
        try:
            row = self._db.execute(query, (id,)).fetchone()
        except sqlite3.Error as error:
            if not is_corrupt(error):
                raise store_error(self.path, error) from None
            row = (None, b"")
        if row is None:
            return None
        crc, bodies = row
        if bodies is None or zlib.crc32(bodies) != crc:
            raise DamagedError(
                f"{self.path}: group {id} is damaged (its checksum does not match); it was left where it is and the "
                "others were taken; restore the file from a copy, or delete that row to give the group up"
            )
        return bytes(bodies)

    def delete(self, up_to: int, keep: Collection[int] = (), at_once: int = 64) -> None:
        """Deletes the groups with ``id <= up_to`` but those in ``keep``, a few a transaction, so that the intake never
        waits long.
        """
        query = (
            "DELETE FROM groups WHERE id IN (SELECT id FROM groups WHERE id <= ?"
            " AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?)"
        )
        kept = json.dumps(sorted(keep))
        try:
            while self._db.execute(query, (up_to, kept, at_once)).rowcount:
                pass
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def _one(self, query: str, *parameters: int) -> Any:
        try:
            return self._db.execute(query, parameters).fetchone()
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def close(self) -> None:
        """Closes the file."""
        self._db.close()
