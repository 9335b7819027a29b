"""Which store the settings ask for: SQLite files in the data directory, or a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.quarantine import Kept
from hubbub_collector.quarantine_listing import list_quarantine
from hubbub_collector.store import Store
from hubbub_collector.worker_store import WorkerStore

if TYPE_CHECKING:
    from hubbub_collector.postgres.source import PostgresSource
    from hubbub_collector.worker import WorkerSettings


def prepare_stores(settings: WorkerSettings, count: int) -> None:
    """Makes what ``count`` workers need, in the parent, where an error can be told plainly. Raises CollectorError."""
    if settings.store is not None:
        _require_psycopg()
        from hubbub_collector.postgres.store import prepare

        prepare(settings.store, settings.late)
        return
    for number in range(count):
        WorkerStore(DataDirectory(Path(settings.data)), number, settings.late).close()


def worker_store(settings: WorkerSettings) -> Store:
    """The store of one worker. Raises CollectorError."""
    if settings.store is not None:
        from hubbub_collector.postgres.store import PostgresStore

        return PostgresStore(settings.store, settings.late, settings.share)
    return WorkerStore(DataDirectory(Path(settings.data)), settings.number, settings.late)


def database_source(url: str) -> PostgresSource:
    """What collectors have committed to the database ``url``, locked for one sealer. Raises CollectorError."""
    _require_psycopg()
    from hubbub_collector.postgres.source import PostgresSource

    return PostgresSource(url)


def kept_aside(settings: WorkerSettings) -> list[Kept]:
    """What lies in quarantine. Raises CollectorError, StoreError."""
    if settings.store is None:
        return list_quarantine(DataDirectory(Path(settings.data)))
    from hubbub_collector.postgres.source import list_database

    return list_database(settings.store)


def _require_psycopg() -> None:
    try:
        import psycopg  # noqa: F401 - asked for only where a database is
    except ImportError:  # also where it is there, and the library that it needs is not
        raise CollectorError("--store: needs psycopg; run: pip install 'hubbub[collector,postgres]'") from None
