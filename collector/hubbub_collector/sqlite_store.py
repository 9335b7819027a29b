"""The store in one SQLite file: one row a group commit, and the quarantine."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hubbub_collector import quarantine
from hubbub_collector.checksums import row_crc, with_crc
from hubbub_collector.errors import (
    CollectorError,
    DamagedError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    UnreadableError,
)
from hubbub_collector.quarantine import Quarantine, Quarantined
from hubbub_collector.sqlite import BUSY_SECONDS, LogInUseError, connect, is_corrupt, settle, store_error

FORMAT = 2
SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value, crc INTEGER) WITHOUT ROWID;
CREATE TABLE groups (id INTEGER PRIMARY KEY AUTOINCREMENT, crc INTEGER NOT NULL, bodies BLOB NOT NULL);
{quarantine.SCHEMA}
"""
_FROM_1 = """
ALTER TABLE meta ADD COLUMN crc INTEGER;
UPDATE meta SET crc = row_crc(key, value);
ALTER TABLE quarantine ADD COLUMN crc INTEGER;
UPDATE quarantine SET crc = row_crc(upload, batch, fingerprint, period, records)
"""
SETUP = {"page_size": 16384, "wal_autocheckpoint": 512, "cache_size": -8192}
_NOTE = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"
_IDENTITY_BYTES = 16
_CHECK_SECONDS = 5.0


class SqliteStore:
    """The store in the file ``path``. Ids never restart (AUTOINCREMENT), and ``identity`` is new for each new file.

    A group is a row: the bodies of a group commit, end to end; each is one msgpack array, so nothing separates them.
    """

    def __init__(self, path: Path, late: int | None = None, closed: int = 0) -> None:
        """Opens or creates ``path``. A collector gives ``late`` (seconds), which is noted for the sealer: it must
        remember upload ids for as long as uploads are accepted. For a collector the store also puts on stable storage
        what it finds there, and keeps ``closed`` if that is later than what it has. Raises CollectorError where the
        file cannot be written, and its kind UnreadableError where it is damaged.
        """
        self.path = path
        self._db = connect(path, SCHEMA, FORMAT, SETUP, {1: _FROM_1})
        self._unsettled = False
        self.quarantine = Quarantine(path, self._db)
        try:
            identity = self._noted("identity")
            if not isinstance(identity, bytes) or len(identity) != _IDENTITY_BYTES:
                identity = os.urandom(_IDENTITY_BYTES)
                self._db.execute(_NOTE, with_crc("identity", identity))
            self.identity: bytes = identity
            if late is not None:
                self._settle_or_wait()
                self._note("late", max(late, self.late()))
                self._note("closed", max(closed, self.closed()))
            self.quarantine.space()
        except (sqlite3.Error, StoreError) as error:
            self._db.close()
            if isinstance(error, StoreDamagedError) or (isinstance(error, sqlite3.Error) and is_corrupt(error)):
                raise UnreadableError(
                    f"{path}: cannot be used, it is damaged ({error}); see hubbub store verify"
                ) from None
            raise CollectorError(
                f"{path}: cannot be written ({error}); free some space, or correct its rights"
            ) from None

    def _settle_or_wait(self) -> None:
        """Settles what is found, or, while somebody reads the file, leaves that to the first commit.

        A long read, such as of ``hubbub store verify``, must not keep a worker from starting.
        """
        try:
            self._db.execute("PRAGMA busy_timeout = 1000")
            settle(self._db)
        except LogInUseError:
            self._unsettled = True
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {round(1000 * BUSY_SECONDS)}")

    def check(self) -> None:
        """Looks through the file, for some seconds at most, and raises UnreadableError where its structure is damaged.
        Groups are not read: a damaged one is in nobody's way.
        """
        until = time.monotonic() + _CHECK_SECONDS
        self._db.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        try:
            found = [text for (text,) in self._db.execute("PRAGMA quick_check(1)")]
        except sqlite3.Error as error:
            found = [str(error)] if is_corrupt(error) else ["ok"]
        finally:
            self._db.set_progress_handler(None, 0)
        if found != ["ok"]:
            raise UnreadableError(f"{self.path}: it is damaged ({' '.join(found[0].split())})")

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined] = ()) -> None:
        """See ``Store``. Raises StoreFullError where the disk is full, StoreDamagedError where the file is damaged.

        After any other failure nothing is committed until all that was before is on stable storage for certain.
        """
        try:
            if self._unsettled:
                settle(self._db)
                self._unsettled = False
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
            self._undo()
            if quarantined:
                self.quarantine.forget_space()
            failed = store_error(self.path, error)
            self._unsettled = self._unsettled or not isinstance(failed, StoreFullError)
            raise failed from None

    def _undo(self) -> None:
        if self._db.in_transaction:
            with contextlib.suppress(sqlite3.Error):  # what it failed for is what is told
                self._db.rollback()

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
        return _integer(self._noted("late"))

    def closed(self) -> int:
        """See ``Store``; 0 where the sealer has not said so."""
        return _integer(self._noted("closed"))

    def close_before(self, time: int) -> None:
        """For the sealer: sets ``closed``. Raises StoreError."""
        try:
            self._note("closed", time)
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def _note(self, key: str, value: int) -> None:
        if self._noted(key) != value:
            self._db.execute(_NOTE, with_crc(key, value))

    def _noted(self, key: str) -> int | bytes | None:
        row = self._one("SELECT value, crc FROM meta WHERE key = ?", key)
        if row is None:
            return None
        value: int | bytes = row[0]
        if row[1] != row_crc(key, value):
            raise StoreDamagedError(f"{self.path}: what it notes as {key} is damaged; see hubbub store repair")
        return value

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
                "others were taken; restore the file from a copy, or set the group aside with hubbub store repair"
            )
        return bytes(bodies)

    def checksum(self, id: int) -> int | None:
        """The checksum of group ``id``, None where it is gone."""
        row = self._one("SELECT crc FROM groups WHERE id = ?", id)
        return None if row is None else int(row[0])

    def delete(self, ids: Iterable[int], at_once: int = 64) -> None:
        """Deletes groups, a few a transaction, so that the intake never waits long."""
        left = sorted(ids)
        try:
            for at in range(0, len(left), at_once):
                some = json.dumps(left[at : at + at_once])
                self._db.execute("DELETE FROM groups WHERE id IN (SELECT value FROM json_each(?))", (some,))
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def _one(self, query: str, *parameters: int | str) -> Any:
        try:
            return self._db.execute(query, parameters).fetchone()
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


def _integer(value: int | bytes | None) -> int:
    return value if isinstance(value, int) else 0
