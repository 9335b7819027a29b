"""The sealer's side: what all hosts have committed, taken exactly as it is from a worker's file."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, LiteralString

from hubbub_collector.errors import CollectorError, DamagedError, StoreError
from hubbub_collector.postgres.link import Link
from hubbub_collector.postgres.quarantine import PostgresQuarantine
from hubbub_collector.postgres.schema import Connection
from hubbub_collector.postgres.store import prepare
from hubbub_collector.postgres.url import parse_url
from hubbub_collector.quarantine import Kept

_LOCK = "SELECT pg_try_advisory_lock(1752523362, 2)"
_IDS_AT_ONCE = 1024
_DELETE_AT_ONCE = 64


class PostgresSource:
    """See ``Source``. Holds the sealer's lock on the database for as long as it is open; the lock is the connection's,
    so where that is lost every further call raises StoreError. Methods raise StoreError.
    """

    def __init__(self, url: str) -> None:
        """Raises CollectorError where the database cannot be used, or another sealer uses it."""
        prepare(url, 0)
        self._link = Link(parse_url(url), self._lock, again=False)
        self.path = self._link.url.shown
        self.quarantine = PostgresQuarantine(self._link)
        try:
            self.identity = bytes(self._one("SELECT identity FROM hubbub.pool")[0])
        except StoreError as error:
            self.close()
            raise CollectorError(str(error)) from None

    def _lock(self, db: Connection) -> None:
        row = db.execute(_LOCK).fetchone()
        if row is None or not row[0]:
            raise StoreError(f"{self._link.url.shown}: another sealer is using this database; wait until it has ended")

    def seal_into(self, data_set: str) -> None:
        """Notes that ``data_set``, a name that no other has, takes these uploads for good: it alone knows which ones
        were counted. Raises CollectorError where another one does.
        """
        try:
            with self._link.use() as db:
                db.execute("UPDATE hubbub.pool SET sealed_by = %s WHERE sealed_by IS NULL", (data_set,))
            (found,) = self._one("SELECT sealed_by FROM hubbub.pool")
        except StoreError as error:
            raise CollectorError(str(error)) from None
        if found != data_set:
            raise CollectorError(
                f"{self.path}: its uploads are sealed into another data directory; name that one with --data"
            )

    def late(self) -> int:
        """For how many seconds after a period's end any host may have accepted its uploads."""
        return int(self._one("SELECT late FROM hubbub.pool")[0])

    def close_before(self, time: int) -> None:
        """Sets ``Store.closed`` for every host."""
        with self._link.use() as db:
            db.execute("UPDATE hubbub.pool SET closed = %s WHERE closed <> %s", (time, time))

    def last_id(self) -> int:
        """The id of the newest group, 0 where there is none."""
        return int(self._one("SELECT coalesce(max(id), 0) FROM hubbub.groups")[0])

    def ids(self, after: int, up_to: int) -> Iterator[int]:
        """The ids of the groups with ``after < id <= up_to`` that are committed, in their order. One that commits while
        this runs may be missed, and is there the next time.
        """
        query = f"SELECT id FROM hubbub.groups WHERE id > %s AND id <= %s ORDER BY id LIMIT {_IDS_AT_ONCE}"  # noqa: S608 - constants
        while True:
            with self._link.use() as db:
                rows = db.execute(query, (after, up_to)).fetchall()
            yield from (id for (id,) in rows)
            if len(rows) < _IDS_AT_ONCE:
                return
            after = rows[-1][0]

    def group(self, id: int) -> bytes | None:
        """The bodies of group ``id``, end to end; None where it is gone. Raises DamagedError too."""
        row = self._one("SELECT crc, bodies FROM hubbub.groups WHERE id = %s", id)
        if row is None:
            return None
        crc, bodies = row
        if zlib.crc32(bodies) != crc:
            raise DamagedError(
                f"{self.path}: group {id} is damaged (its checksum does not match); it was left where it is and the "
                "others were taken; restore the database from a copy, or delete that row of hubbub.groups"
            )
        return bytes(bodies)

    def checksum(self, id: int) -> int | None:
        """The checksum of group ``id``, None where it is gone."""
        row = self._one("SELECT crc FROM hubbub.groups WHERE id = %s", id)
        return None if row is None else int(row[0])

    def delete(self, ids: Iterable[int]) -> None:
        """Deletes groups, a few a transaction."""
        left = sorted(ids)
        for at in range(0, len(left), _DELETE_AT_ONCE):
            with self._link.use() as db:
                db.execute("DELETE FROM hubbub.groups WHERE id = ANY(%s)", (left[at : at + _DELETE_AT_ONCE],))

    def _one(self, query: LiteralString, *parameters: int) -> Any:
        with self._link.use() as db:
            return db.execute(query, parameters, binary=True).fetchone()

    def close(self) -> None:
        """Closes the connection, and with it gives up the lock."""
        self._link.close()


def list_database(url: str) -> list[Kept]:
    """What lies in the quarantine of the database ``url``; asks for no lock. Raises CollectorError, StoreError."""
    with closing(Link(parse_url(url), _as_it_is)) as link:
        return PostgresQuarantine(link).listing()


def _as_it_is(db: Connection) -> None:
    """For reading alone nothing has to be made or locked."""
