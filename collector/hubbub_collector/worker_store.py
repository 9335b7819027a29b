"""The store that a worker uses: where its file is damaged, the next one, so that no damage ends the intake."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TypeVar

from hubbub_collector.errors import CollectorError, StoreDamagedError, StoreError, UnreadableError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.sqlite_store import SqliteStore

log = logging.getLogger("hubbub.collector")

_T = TypeVar("_T")


class WorkerStore:
    """The newest store of worker ``number``; see ``Store``. A damaged one is left as it is, under its name: moving a
    database and its log is not one step, and the sealer still takes from it what can be read.
    """

    def __init__(self, data: DataDirectory, number: int, late: int) -> None:
        """Opens it, or makes it, or the next one where it is damaged. Raises CollectorError."""
        self._data = data
        self._number = number
        self._late = late
        self._store = self._open()

    def _open(self) -> SqliteStore:
        generation = self._data.newest_generation(self._number)
        path = self._data.worker_store(self._number, generation)
        closed = floor(self._data)
        try:
            store = SqliteStore(path, self._late, closed)
            try:
                store.check()
            except BaseException:
                store.close()
                raise
            return store
        except UnreadableError as error:
            return self._next(generation, closed, error)

    def _next(self, generation: int, closed: int, error: Exception) -> SqliteStore:
        path = self._data.worker_store(self._number, generation + 1)
        log.error("%s. It is left as it is and %s is used from now on; see hubbub store repair", error, path.name)
        return SqliteStore(path, self._late, closed)

    def _use(self, use: Callable[[SqliteStore], _T]) -> _T:
        """What ``use`` gives, of the next store where the one there is turns out to be damaged. Nothing of it was
        committed then, and if it had been, the upload ids would tell.
        """
        try:
            return use(self._store)
        except StoreDamagedError as error:
            generation = self._data.newest_generation(self._number)
            try:
                following = self._next(generation, floor(self._data), error)
            except CollectorError as failure:
                raise StoreError(str(failure)) from None
            self._store.close()
            self._store = following
            return use(following)

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined]) -> None:
        """See ``Store``."""
        self._use(lambda store: store.commit(bodies, quarantined))

    def used_bytes(self) -> int:
        """See ``Store``."""
        return self._use(SqliteStore.used_bytes)

    def quarantined_bytes(self) -> int:
        """See ``Store``."""
        return self._use(SqliteStore.quarantined_bytes)

    def closed(self) -> int:
        """See ``Store``."""
        return self._use(SqliteStore.closed)

    def close(self) -> None:
        """See ``Store``."""
        self._store.close()


def floor(data: DataDirectory) -> int:
    """What the sealer has announced to any worker: a store that is new must refuse what the others do."""
    found = 0
    for path in data.worker_stores():
        try:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
                row = db.execute("SELECT value FROM meta WHERE key = 'closed' AND typeof(value) = 'integer'").fetchone()
        except sqlite3.Error:  # a damaged one says nothing
            continue
        found = max(found, 0 if row is None else row[0])
    return found
