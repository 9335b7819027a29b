"""One connection to the database, opened when it is needed, and opened again after it broke."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from hubbub_collector.errors import StoreError, StoreFullError
from hubbub_collector.postgres.schema import Connection
from hubbub_collector.postgres.url import Url

_LEAST_SERVER = 120_000
"""From version 12 on, PostgreSQL stops when an fsync fails, and does not take lost pages for written."""
_WEAK = ("off", "local", "remote_write")


class Link:
    """One thread at a time may use it. ``ready`` is called with every new connection. Unless ``again`` is set, a
    connection that is lost stays lost: what it held, such as a lock, is gone as well.
    """

    def __init__(self, url: Url, ready: Callable[[Connection], None], again: bool = True) -> None:
        self.url = url
        self._ready = ready
        self._again = again
        self._db: Connection | None = None
        self._lost = False
        self._warnings: list[str] = []

    @contextmanager
    def use(self) -> Iterator[Connection]:
        """A connection whose statements commit by themselves. Whatever the server says against them closes it, and
        raises StoreError: its kind StoreFullError where the server's disk is full.
        """
        try:
            db = self._db if self._db is not None else self._open()
            self._warnings.clear()
            yield db
            # Such as that a commit no longer waits for a standby, because somebody cancelled the wait.
            if self._warnings:
                raise StoreError(f"{self.url.shown}: the server warned ({self._warnings[0]}); taken as not committed")
        except psycopg.Error as error:
            self.close()
            raise self._said(error) from None
        except StoreError:
            self.close()
            raise

    def _open(self) -> Connection:
        if self._lost and not self._again:
            raise StoreError(f"{self.url.shown}: the connection was lost")
        try:
            db: Connection = psycopg.connect(autocommit=True, **self.url.parameters)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise StoreError(f"{self.url.shown}: cannot be reached ({self.url.told(error)})") from None
        self._db = db
        db.add_notice_handler(self._notice)
        if db.info.server_version < _LEAST_SERVER:
            raise StoreError(f"{self.url.shown}: the server is older than PostgreSQL 12")
        row = db.execute("SELECT current_setting('fsync'), current_setting('synchronous_commit')").fetchone()
        fsync, durable = row or ("off", "off")
        if fsync != "on":
            raise StoreError(f"{self.url.shown}: the server runs with fsync off, and may lose what it has committed")
        if durable in _WEAK:
            db.execute("SET synchronous_commit = on")
        self._ready(db)
        return db

    def _notice(self, notice: errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._warnings.append(notice.sqlstate or "without a code")

    def _said(self, error: psycopg.Error) -> StoreError:
        """The server's own message may quote a row; its code is enough."""
        if isinstance(error, errors.DiskFull):
            return StoreFullError(f"{self.url.shown}: the server's disk is full; free some space there")
        code = error.sqlstate or "the connection was lost"
        return StoreError(f"{self.url.shown}: failed ({type(error).__name__}, {code})")

    def close(self) -> None:
        """Closes the connection. The next use opens another, where ``again`` is set."""
        if self._db is not None:
            self._lost = True
            with contextlib.suppress(psycopg.Error):
                self._db.close()
            self._db = None
