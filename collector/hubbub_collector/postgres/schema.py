"""The tables, in the schema ``hubbub`` of the database, and the steps that lead to them.

``pool`` has one row: what the collectors and the sealer tell one another. A row of ``groups`` is a group commit. Groups
get their numbers before they commit, so a lower number may appear after a higher one: nothing here relies on order.
"""

from __future__ import annotations

import os
from typing import Any, LiteralString

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]

_FIRST = """
CREATE TABLE hubbub.pool (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    identity bytea NOT NULL, late bigint NOT NULL DEFAULT 0, closed bigint NOT NULL DEFAULT 0, sealed_by text
);
CREATE TABLE hubbub.groups (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, crc bigint NOT NULL, bodies bytea NOT NULL
);
-- Randomised reports do not compress, and to try costs time.
ALTER TABLE hubbub.groups ALTER COLUMN bodies SET STORAGE EXTERNAL;
CREATE TABLE hubbub.quarantine (
    upload bytea NOT NULL, batch integer NOT NULL, fingerprint bytea NOT NULL, period bigint NOT NULL,
    records bytea NOT NULL, PRIMARY KEY (upload, batch)
);
ALTER TABLE hubbub.quarantine ALTER COLUMN records SET STORAGE EXTERNAL;
"""
MIGRATIONS: tuple[LiteralString, ...] = (_FIRST,)
"""Migration number n, from 1, is what version n - 1 lacks. None is ever changed once it is released."""
VERSION = len(MIGRATIONS)
_LOCK = "SELECT pg_advisory_lock(1752523362, 1)"  # "hubb": one process at a time makes tables
_UNLOCK = "SELECT pg_advisory_unlock(1752523362, 1)"


def version(db: Connection) -> int:
    """The version of the tables, 0 where there are none. Raises psycopg.Error."""
    row = db.execute("SELECT to_regclass('hubbub.migrations') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return 0
    row = db.execute("SELECT coalesce(max(version), 0) FROM hubbub.migrations").fetchone()
    return 0 if row is None else int(row[0])


def migrate(db: Connection, migrations: tuple[LiteralString, ...] = MIGRATIONS) -> int:
    """Brings the tables up to date, all of it or nothing, and returns the version they have then. Raises psycopg.Error.

    Writes nothing where there is nothing to do: so only the first run needs a user that may create a schema.
    """
    found = version(db)
    if found >= len(migrations):
        return found
    db.execute(_LOCK)  # before the transaction: one that has begun need not see what was made while it waited
    with db.transaction():
        found = version(db)  # another process may have been first
        if not found:
            db.execute("CREATE SCHEMA IF NOT EXISTS hubbub")
            db.execute(
                "CREATE TABLE IF NOT EXISTS hubbub.migrations"
                " (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"
            )
        for number in range(found + 1, len(migrations) + 1):
            db.execute(migrations[number - 1])
            db.execute("INSERT INTO hubbub.migrations (version) VALUES (%s)", (number,))
        db.execute("INSERT INTO hubbub.pool (identity) VALUES (%b) ON CONFLICT DO NOTHING", (os.urandom(16),))
    db.execute(_UNLOCK)  # after an error it goes with the connection
    return max(found, len(migrations))
