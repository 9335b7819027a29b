"""Opening SQLite files the one way that the collector uses them, and saying what their errors mean."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hubbub_collector.checksums import register
from hubbub_collector.durable import sync_directory
from hubbub_collector.errors import CollectorError, StoreDamagedError, StoreError, StoreFullError, UnreadableError
from hubbub_collector.wal import check_log

BUSY_SECONDS = 30.0
"""How long to wait while the other side (intake or sealer) holds the write lock; it never holds it for long."""
REPAIRED = ".repaired"
"""Ends the name of a database that is to take the place of a damaged one."""
_OTHERS = 0o077


def connect(
    path: Path, schema: str, version: int, setup: Mapping[str, int] | None = None,
    upgrades: Mapping[int, str] | None = None,
) -> sqlite3.Connection:  # fmt: skip
    """Opens, and where needed creates, the database ``path`` for durable writing.

    WAL, synchronous=FULL (a commit returns once it is on stable storage), and secure_delete: what is deleted is
    overwritten, since the order in the file is the order of arrival. Statements commit by themselves outside of a
    BEGIN. ``schema`` makes the tables where the file is new, ``upgrades[v]`` what a file of format v lacks. The file
    and its folder are nobody else's to read. Raises CollectorError where the file cannot be used, and its kind
    UnreadableError where that is because the file is damaged.
    """
    connection: sqlite3.Connection | None = None
    try:
        finish_repair(path)
        check_log(path)
        _make_private(path)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        register(connection)
        for pragma, value in (setup or {}).items():
            connection.execute(f"PRAGMA {pragma} = {value}")
        connection.execute("PRAGMA secure_delete = ON")
        with _alone(path.parent):  # of several that want to turn a new file's log on, SQLite makes none wait
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        if mode != "wal":
            raise CollectorError(f"{path}: its file system cannot hold a write-ahead log; use a local disk")
        if _format(connection) != version:
            _bring_up_to_date(connection, path, {0: schema, **(upgrades or {})}, version)
        sync_directory(path.parent)
        sync_directory(path.parent.parent)
        return connection
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        if connection is not None:
            connection.close()
        if not isinstance(error, OSError) and is_corrupt(error):
            raise UnreadableError(
                f"{path}: cannot be opened, it is damaged ({_said(error)}); "
                "hubbub store verify says what of it is, and hubbub store repair keeps all that is intact"
            ) from None
        raise CollectorError(
            f"{path}: cannot be opened for writing ({_said(error)}); "
            "the data directory must be on a local disk with free space, and writable by this user"
        ) from None
    except CollectorError:
        if connection is not None:
            connection.close()
        raise


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _bring_up_to_date(connection: sqlite3.Connection, path: Path, steps: Mapping[int, str], version: int) -> None:
    """Runs ``steps[its format]``, statements with no semicolon in them. Raises CollectorError where there is none.

    The format is asked for once more behind the lock: of two workers that open one file at once, one is first.
    """
    connection.execute("BEGIN IMMEDIATE")
    found = _format(connection)
    if found not in (*steps, version):
        raise CollectorError(f"{path}: written by another version of hubbub (format {found}); use that version")
    if found != version:
        for statement in steps[found].split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("COMMIT")


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


def finish_repair(path: Path) -> None:
    """Puts the repaired copy of the database ``path``, where there is one, in its place. Raises OSError.

    The copy has its name once it is whole. The log goes first, since SQLite would take it for the copy's; a crash in
    between leaves the copy, and whoever opens the database next goes on here. One at a time: of two workers that open
    it, the second must not take the log away that the first has begun.
    """
    repaired = path.with_name(path.name + REPAIRED)
    if not repaired.exists():
        return
    with _alone(path.parent):
        if repaired.exists():
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            sync_directory(path.parent)
            os.replace(repaired, path)
            sync_directory(path.parent)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds the lock of ``folder``, once whoever has it is done. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class LogInUseError(sqlite3.OperationalError):
    """Others read the database, and what they read keeps its log from being written back."""


def settle(connection: sqlite3.Connection) -> None:
    """Puts all that ``connection`` can read on stable storage, in the database itself. Raises sqlite3.Error.

    What is read after an fsync that failed, by this process or one before it, may be in memory only: the system takes
    pages that it could not write for written, and whoever opens the log next finds its last commits whole. What is
    committed on top of those would be lost with them. Here they are all written once more, to another file, and synced.
    """
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise LogInUseError("the log could not be written back while others read it")


def is_corrupt(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Whether SQLite found its file damaged, rather than busy, full or out of reach.

    A plain "error" is a table or a column that is not there, or a schema that is no SQL: our statements are right. A
    text that is not UTF-8 is found by Python, and where SQLite's own message quotes it, that is no sqlite3.Error.
    """
    if "decode" in str(error).lower():
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or (code == sqlite3.SQLITE_ERROR and _strange(error))


def _strange(error: Exception) -> bool:
    return any(words in str(error) for words in ("no such", "malformed", "has no column", "unsupported file format"))


def store_error(path: Path, error: sqlite3.Error | OSError) -> StoreError:
    """The StoreError for what SQLite or the file system raised: StoreFullError where the disk is full."""
    if _is_full(path, error):
        return StoreFullError(f"{path}: the disk is full; free some space, and it goes on by itself")
    if isinstance(error, sqlite3.Error) and is_corrupt(error):
        return StoreDamagedError(f"{path}: it is damaged ({_said(error)}); see hubbub store verify")
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


def _said(error: sqlite3.Error | OSError | UnicodeDecodeError) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"{error}, {getattr(error, 'sqlite_errorname', type(error).__name__)}"


_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})
_ROOM = 1 << 16
