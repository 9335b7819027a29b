"""Opening SQLite files the one way that the collector uses them, and saying what their errors mean."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from hubbub_collector.durable import sync_directory
from hubbub_collector.errors import CollectorError, StoreError, StoreFullError

BUSY_SECONDS = 30.0
"""How long to wait while the other side (intake or sealer) holds the write lock; it never holds it for long."""
_OTHERS = 0o077


def connect(
    path: Path, schema: str, version: int, setup: Mapping[str, int] | None = None,
    upgrades: Mapping[int, str] | None = None,
) -> sqlite3.Connection:  # fmt: skip
    """Opens, and where needed creates, the database ``path`` for durable writing.

    WAL, synchronous=FULL (a commit returns once it is on stable storage), and secure_delete: what is deleted is
    overwritten, since the order in the file is the order of arrival. Statements commit by themselves outside of a
    BEGIN. ``schema`` makes the tables where the file is new, ``upgrades[v]`` what a file of format v lacks. The file
    and its folder are nobody else's to read. Raises CollectorError where the file cannot be used.
    """
    connection: sqlite3.Connection | None = None
    try:
        _make_private(path)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        for pragma, value in (setup or {}).items():
            connection.execute(f"PRAGMA {pragma} = {value}")
        connection.execute("PRAGMA secure_delete = ON")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        if mode != "wal":
            raise CollectorError(f"{path}: its file system cannot hold a write-ahead log; use a local disk")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        steps = {0: schema, **(upgrades or {})}
        if found not in (*steps, version):
            raise CollectorError(f"{path}: written by another version of hubbub (format {found}); use that version")
        if found != version:
            connection.executescript(f"BEGIN IMMEDIATE; {steps[found]}; PRAGMA user_version = {version}; COMMIT;")
        sync_directory(path.parent)
        sync_directory(path.parent.parent)
        return connection
    except (sqlite3.Error, OSError) as error:
        if connection is not None:
            connection.close()
        raise CollectorError(
            f"{path}: cannot be opened for writing ({_said(error)}); "
            "the data directory must be on a local disk with free space, and writable by this user"
        ) from None
    except CollectorError:
        if connection is not None:
            connection.close()
        raise


def _make_private(path: Path) -> None:
    """What is in the file is not shuffled yet: its folder is 0700, and it and SQLite's files beside it are 0600.

    SQLite gives those the mode of the database, so that it is the database's that has to be right from the start.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _close_to_others(path.parent)
    try:
        # Only a file that is new: closing one that is open elsewhere in this process would drop SQLite's locks on it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        for existing in path.parent.glob(f"{path.name}*"):
            _close_to_others(existing)


def _close_to_others(path: Path) -> None:
    try:
        mode = path.stat().st_mode
        if mode & _OTHERS:
            path.chmod(mode & 0o7777 & ~_OTHERS)
    except FileNotFoundError:  # SQLite removes its files when the last connection closes
        pass


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether SQLite found its file damaged, rather than busy, full or out of reach."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT


def store_error(path: Path, error: sqlite3.Error | OSError) -> StoreError:
    """The StoreError for what SQLite or the file system raised: StoreFullError where the disk is full."""
    if _is_full(path, error):
        return StoreFullError(f"{path}: the disk is full; free some space, and it goes on by itself")
    return StoreError(f"{path}: not committed ({_said(error)})")


def _is_full(path: Path, error: sqlite3.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in _FULL_ERRNOS
    code = getattr(error, "sqlite_errorcode", 0)
    if code & 0xFF == sqlite3.SQLITE_FULL:
        return True
    if code & 0xFF == sqlite3.SQLITE_IOERR:
        # The log's shared memory cannot grow either on a full disk, and that is reported as an I/O error.
        try:
            status = os.statvfs(path.parent)
        except OSError:
            return False
        return status.f_bavail * status.f_frsize < _ROOM
    return False


def _said(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"{error}, {getattr(error, 'sqlite_errorname', type(error).__name__)}"


_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})
_ROOM = 1 << 16
