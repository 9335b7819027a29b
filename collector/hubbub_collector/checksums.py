"""A checksum for each row that the collector or the sealer relies on: SQLite has none, and a flipped bit in a value is
as well-formed as any other.
"""

from __future__ import annotations

import sqlite3
import zlib

import msgpack


def row_crc(*values: bytes | int | str | None) -> int:
    """The CRC-32 of a row's values, each with its type and length."""
    return zlib.crc32(msgpack.packb(values))


def with_crc(*values: bytes | int | str | None) -> tuple[bytes | int | str | None, ...]:
    """The row with its checksum at its end, as tables have it."""
    return (*values, row_crc(*values))


def register(db: sqlite3.Connection) -> None:
    """Makes ``row_crc(...)`` known to the statements of ``db``."""
    db.create_function("row_crc", -1, row_crc, deterministic=True)
