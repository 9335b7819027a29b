"""The quarantine of all hosts; see ``hubbub_collector.quarantine`` for a worker's own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from hubbub_collector.postgres.link import Link
from hubbub_collector.postgres.schema import Connection
from hubbub_collector.quarantine import ROW_BYTES, Kept, Quarantined, space
from hubbub_collector.upload import Batch

SPACE = f"SELECT coalesce(sum(octet_length(records)), 0) + count(*) * {ROW_BYTES} FROM hubbub.quarantine"  # noqa: S608 - constants
_NEXT = """
SELECT upload, batch, fingerprint, period, records FROM hubbub.quarantine
WHERE (upload, batch) > (%b, %s) AND fingerprint = ANY(%s) ORDER BY upload, batch LIMIT 64
"""
_AT_ONCE = 256


def add(db: Connection, quarantined: Sequence[Quarantined]) -> int:
    """Adds batches within the caller's transaction, and returns the bytes that those count for which are new.

    In one order everywhere: two hosts that add the same ones at the same time wait for each other, and never both.
    """
    added = 0
    for upload, number, batch in sorted(quarantined):
        cursor = db.execute(
            "INSERT INTO hubbub.quarantine VALUES (%b, %s, %b, %s, %b) ON CONFLICT DO NOTHING",
            (upload, number, batch.fingerprint, batch.period, batch.records),
        )
        added += space(batch) * cursor.rowcount
    return added


class PostgresQuarantine:
    """What the sealer and the operator do with it. Methods raise StoreError."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def batches(self, fingerprints: Collection[bytes], damaged: list[str] | None = None) -> Iterator[Quarantined]:  # noqa: ARG002 - the server has checksums of its own
        """The batches with one of ``fingerprints``, by upload, some at a time: no transaction stays open."""
        after: tuple[bytes, int] = (b"", -1)
        while True:
            with self._link.use() as db:
                rows = db.execute(_NEXT, (*after, list(fingerprints)), binary=True).fetchall()
            for upload, number, *batch in rows:
                yield Quarantined(upload, number, Batch(*batch))
                after = upload, number
            if not rows:
                return

    def delete(self, keys: Sequence[tuple[bytes, int]]) -> None:
        """Deletes the batches with these upload ids and numbers."""
        for at in range(0, len(keys), _AT_ONCE):
            with self._link.use() as db, db.transaction():
                cursor = db.cursor()
                cursor.executemany(
                    "DELETE FROM hubbub.quarantine WHERE upload = %b AND batch = %s", sorted(keys[at : at + _AT_ONCE])
                )

    def listing(self) -> list[Kept]:
        """What lies here, by fingerprint and period; ``bytes`` are those of the records."""
        with self._link.use() as db:
            rows = db.execute(
                "SELECT fingerprint, period, count(*), sum(octet_length(records))::bigint FROM hubbub.quarantine"
                " GROUP BY fingerprint, period ORDER BY fingerprint, period",
                binary=True,
            ).fetchall()
        return [Kept(*row) for row in rows]

    def count(self) -> int:
        """How many batches lie here."""
        return sum(kept.batches for kept in self.listing())

    def purge(self, fingerprint: bytes | None) -> int:
        """Deletes the batches of ``fingerprint``, or all where it is None; returns how many."""
        with self._link.use() as db:
            if fingerprint is None:
                return db.execute("DELETE FROM hubbub.quarantine").rowcount
            return db.execute("DELETE FROM hubbub.quarantine WHERE fingerprint = %b", (fingerprint,)).rowcount
