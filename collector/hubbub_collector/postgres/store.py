"""The workers' side: group commits from every host into one table."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from hubbub_collector.errors import CollectorError, StoreError
from hubbub_collector.postgres import quarantine
from hubbub_collector.postgres.link import Link
from hubbub_collector.postgres.schema import VERSION, Connection, migrate, version
from hubbub_collector.postgres.space import Space
from hubbub_collector.postgres.url import parse_url
from hubbub_collector.quarantine import Quarantined

_INSERT = "INSERT INTO hubbub.groups (crc, bodies) VALUES (%s, %b)"
_SPACE = "SELECT coalesce(sum(octet_length(bodies)), 0) FROM hubbub.groups"
_LATE = "UPDATE hubbub.pool SET late = %(late)s WHERE late < %(late)s"
_NOTHING = "UPDATE hubbub.pool SET late = late"


class PostgresStore:
    """See ``Store``. The database may be away when this is made, and at any time after: then methods raise StoreError,
    and the next call tries again.
    """

    def __init__(self, url: str, late: int, share: int = 1) -> None:
        """``late`` is noted for the sealer, which must remember upload ids for as long as any host accepts uploads.
        ``share`` is how many workers this host has; see ``Space``. Raises CollectorError where ``url`` is none.
        """
        self._late = late
        self._link = Link(parse_url(url), self._ready)
        self._used = Space(self._link, _SPACE, share)
        self._quarantined = Space(self._link, quarantine.SPACE, share)

    def _ready(self, db: Connection) -> None:
        found = version(db)
        if found != VERSION:
            raise StoreError(
                f"{self._link.url.shown}: its tables have version {found}, and this hubbub needs {VERSION}; start it"
                " again, in the same version on every host"
            )
        db.execute(_LATE, {"late": self._late})

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined] = ()) -> None:
        """See ``Store``. Where the connection breaks meanwhile it may have been committed all the same: then the
        client, which was told that it was not, sends it again, and its upload id drops the repeat.
        """
        packed = b"".join(bodies)
        parked = 0
        with self._link.use() as db:
            if quarantined:
                with db.transaction():
                    if packed:
                        db.execute(_INSERT, (zlib.crc32(packed), packed))
                    parked = quarantine.add(db, quarantined)
            elif packed:
                db.execute(_INSERT, (zlib.crc32(packed), packed))
            else:
                db.execute(_NOTHING)
        self._used.add(len(packed))
        self._quarantined.add(parked)

    def used_bytes(self) -> int:
        """See ``Store``: this worker's share of what all hosts have committed."""
        return self._used.value()

    def quarantined_bytes(self) -> int:
        """See ``Store``: this worker's share."""
        return self._quarantined.value()

    def closed(self) -> int:
        """See ``Store``."""
        with self._link.use() as db:
            row = db.execute("SELECT closed FROM hubbub.pool").fetchone()
        return 0 if row is None else int(row[0])

    def close(self) -> None:
        """Closes the connection."""
        self._link.close()


def prepare(url: str, late: int) -> None:
    """Makes or updates the tables, and sees that a worker can use them. Raises CollectorError."""
    link = Link(parse_url(url), lambda db: _migrate(db, link))
    try:
        with link.use() as db:
            db.execute(_LATE, {"late": late})
    except StoreError as error:
        raise CollectorError(f"{error}; see that the server runs and that this user may write there") from None
    finally:
        link.close()


def _migrate(db: Connection, link: Link) -> None:
    found = migrate(db)
    if found > VERSION:
        raise StoreError(f"{link.url.shown}: its tables have version {found}, of a newer hubbub; use that")
