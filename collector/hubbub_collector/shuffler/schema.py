"""The shuffler's one database: what is held until there is a crowd, and mixed batches on their way to the analyst.

Nothing in it is in the order of arrival: uploads lie by their ids, which are random. ``day`` is all that is known of
when an upload came.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hubbub_collector.sqlite import connect

FORMAT = 1
_SCHEMA = """
CREATE TABLE seen (upload BLOB PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE held (
    key BLOB NOT NULL, size INTEGER NOT NULL, upload BLOB NOT NULL, ciphertexts BLOB NOT NULL, crc INTEGER NOT NULL,
    PRIMARY KEY (key, size, upload)
) WITHOUT ROWID;
CREATE TABLE batches (
    id BLOB PRIMARY KEY, key BLOB NOT NULL, size INTEGER NOT NULL, ciphertexts BLOB NOT NULL, crc INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE damaged (
    part TEXT NOT NULL, id BLOB NOT NULL, key BLOB NOT NULL, size INTEGER NOT NULL, ciphertexts BLOB NOT NULL,
    crc INTEGER NOT NULL
)
"""
_SETUP = {"page_size": 16384, "wal_autocheckpoint": 512, "cache_size": -8192}


def open_database(path: Path) -> sqlite3.Connection:
    """Opens or makes it. Raises CollectorError."""
    return connect(path, _SCHEMA, FORMAT, _SETUP)
