"""What a gateway has answered for and the collector does not have yet: one SQLite file.

A report lies under a random token, in a table that is ordered by it, so what is on disk has no order of arrival, and
taking the first ones takes a random choice (the write-ahead log does have it, until its next checkpoint). An upload is
made of reports in one transaction: a report is in exactly one of the two tables, whenever the power fails.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hubbub_client.errors import HubbubError
from hubbub_client.upload import ID_BYTES, batches_of, build
from hubbub_firmware.bridge.errors import BridgeError
from hubbub_firmware.gateway.frames import FrameReport, FrameTrouble

MOST_REPORTS = 4096
"""In one upload; with records of the size of frames it stays far below what a collector takes."""
_TOKEN_BYTES = 16
_TROUBLES = "SELECT reason, min(count, 4294967295) FROM troubles WHERE count > 0"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting
    (token BLOB PRIMARY KEY, fingerprint BLOB, period INTEGER, record BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uploads (id BLOB PRIMARY KEY, reports INTEGER, body BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS troubles (reason TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;
"""


class FullError(HubbubError):
    """There are as many reports here as there may be: the collector has not taken any for long."""


class GatewayStore:
    """Reports, uploads and troubles in the file ``path``, at most ``limit`` reports. Safe for several threads.

    Every method raises sqlite3.Error where the disk fails; nothing is then changed.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, timeout=1, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute("PRAGMA secure_delete = ON")
        self._database.executescript(_SCHEMA)
        (self.waiting,) = self._database.execute("SELECT count(*) FROM waiting").fetchone()
        (self._packed,) = self._database.execute("SELECT coalesce(sum(reports), 0) FROM uploads").fetchone()

    def add(self, said: Iterable[FrameReport | FrameTrouble]) -> None:
        """Keeps what frames said, durably once it returns. Raises FullError."""
        said = list(said)
        reports = [one for one in said if isinstance(one, FrameReport)]
        with self._lock:
            if self.waiting + self._packed + len(reports) > self._limit:
                raise FullError(f"{self._limit} reports wait for the collector, and no more are taken")
            with _Transaction(self._database):
                self._database.executemany(
                    "INSERT INTO waiting VALUES (?, ?, ?, ?)",
                    [(os.urandom(_TOKEN_BYTES), one.fingerprint, one.period, one.record) for one in reports],
                )
                self._database.executemany(
                    "INSERT INTO troubles VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
                    [(one.reason, one.count) for one in said if isinstance(one, FrameTrouble)],
                )
            self.waiting += len(reports)

    def pack(self) -> None:
        """Makes an upload of the reports that wait, or of a random choice of them where there are too many."""
        with self._lock:
            packed = self._pack()
            # After the commit, which may fail: what waits would else be forgotten until the next start.
            self.waiting -= packed
            self._packed += packed

    def _pack(self) -> int:
        with _Transaction(self._database):
            rows = self._database.execute(
                "SELECT token, fingerprint, period, record FROM waiting ORDER BY token LIMIT ?", (MOST_REPORTS,)
            ).fetchall()
            if not rows:
                return 0
            upload_id = os.urandom(ID_BYTES)
            body = build(upload_id, batches_of([row[1:] for row in rows]))
            self._database.execute("INSERT INTO uploads VALUES (?, ?, ?)", (upload_id, len(rows), body))
            self._database.executemany("DELETE FROM waiting WHERE token = ?", [row[:1] for row in rows])
        return len(rows)

    def next_upload(self) -> tuple[bytes, int, bytes] | None:
        """An upload that is to be sent: its id, its number of reports and its body; None where there is none."""
        with self._lock:
            found: tuple[bytes, int, bytes] | None = self._database.execute(
                "SELECT id, reports, body FROM uploads ORDER BY id LIMIT 1"
            ).fetchone()
        return found

    def settle(self, upload_id: bytes) -> None:
        """Forgets an upload that the collector has a verdict on."""
        with self._lock:
            with _Transaction(self._database):
                row = self._database.execute("SELECT reports FROM uploads WHERE id = ?", (upload_id,)).fetchone()
                self._database.execute("DELETE FROM uploads WHERE id = ?", (upload_id,))
            self._packed -= row[0] if row else 0

    def troubles(self) -> dict[str, int]:
        """Reason -> count, of what the collector was not told; at most what one request may say."""
        with self._lock:
            return dict(self._database.execute(_TROUBLES).fetchall())

    def troubles_told(self, counts: dict[str, int]) -> None:
        """Takes off what the collector was told."""
        with self._lock, _Transaction(self._database):
            self._database.executemany(
                "UPDATE troubles SET count = count - ? WHERE reason = ?", [(n, reason) for reason, n in counts.items()]
            )

    def close(self) -> None:
        """Gives the file free."""
        with self._lock:
            self._database.close()


def open_store(folder: Path, limit: int) -> GatewayStore:
    """The store in ``folder``, which is made (mode 0700). Raises BridgeError where another gateway has it; OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return GatewayStore(folder / "gateway.sqlite", limit)
    except sqlite3.OperationalError as error:
        raise BridgeError(f"{folder}: the store cannot be opened ({error}); give each gateway its own --data") from None


class _Transaction:
    """All of it or nothing."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with closing(self._database.cursor()) as cursor:
            if self._database.in_transaction:
                try:
                    cursor.execute("COMMIT" if kind is None else "ROLLBACK")
                except sqlite3.Error:
                    if self._database.in_transaction:  # a full disk may leave it open
                        cursor.execute("ROLLBACK")
                    raise
