"""What the writer of the shuffler commits to: sealed uploads, each once."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgpack

from hubbub_collector.checksums import row_crc
from hubbub_collector.errors import CollectorError, StoreFullError
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.shuffler.schema import open_database
from hubbub_collector.sqlite import settle, store_error

DAY = 86_400
_SEEN = "INSERT OR IGNORE INTO seen VALUES (?, ?)"
_HELD = "INSERT INTO held VALUES (?, ?, ?, ?, ?)"


class HeldStore:
    """See ``Store``; a shuffler has no quarantine, and no period that closes."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        """Opens or makes it, with all that is in it on stable storage. Raises CollectorError."""
        self.path = path
        self._clock = clock
        self._db = open_database(path)
        self._unsettled = False
        try:
            settle(self._db)
        except sqlite3.Error as error:
            self._db.close()
            raise CollectorError(
                f"{path}: cannot be written ({error}); free some space, or see that its disk works"
            ) from None

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined] = ()) -> None:  # noqa: ARG002 - Store
        """Stores the uploads that are not known yet. Raises StoreError, and has stored none of them then.

        An id is remembered after its upload has gone: one that comes again must not pass for another device's.
        """
        today = int(self._clock() // DAY)
        try:
            if self._unsettled:
                settle(self._db)
                self._unsettled = False
            self._db.execute("BEGIN IMMEDIATE")
            for body in bodies:
                _, upload, key, ciphertexts = msgpack.unpackb(body)
                if self._db.execute(_SEEN, (upload, today)).rowcount:
                    row = key, len(ciphertexts[0]), upload, b"".join(ciphertexts)
                    self._db.execute(_HELD, (*row, row_crc(*row)))
            if not bodies:
                self._db.execute("PRAGMA user_version = 1")  # a write, to find out whether there is room again
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                with contextlib.suppress(sqlite3.Error):  # what it failed for is what is told
                    self._db.rollback()
            failed = store_error(self.path, error)
            self._unsettled = self._unsettled or not isinstance(failed, StoreFullError)
            raise failed from None

    def used_bytes(self) -> int:
        """See ``Store``."""
        try:
            pages, free, size = (
                self._db.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None
        return int((pages - free) * size)

    def quarantined_bytes(self) -> int:
        """Nothing: a shuffler cannot tell what it does not know."""
        return 0

    def closed(self) -> int:
        """Never: a shuffler sees no period."""
        return 0

    def close(self) -> None:
        """Closes the file."""
        self._db.close()
