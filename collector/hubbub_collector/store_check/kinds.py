"""The kinds of database: what tables each has, and which rows of them are whole."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass

from hubbub_collector import sqlite_store
from hubbub_collector.access import caps
from hubbub_collector.checksums import register, row_crc
from hubbub_collector.seal import sorted_schema
from hubbub_collector.seal.sorted_store import OVERDUE
from hubbub_collector.store_check.pages import Value

Row = tuple[Value, ...]


@dataclass(frozen=True)
class Table:
    """A table: the types of its values, and whether a row is whole."""

    types: tuple[type, ...]
    whole: Callable[[Row], bool]

    def fits(self, row: Row) -> bool:
        """Whether ``row`` may be one of this table's."""
        return len(row) == len(self.types) and all(map(isinstance, row, self.types))


@dataclass(frozen=True)
class Kind:
    """A kind of database. ``page`` is its page size in bytes."""

    name: str
    schema: str
    version: int
    page: int
    tables: Mapping[str, Table]

    def expected(self) -> dict[str, list[tuple[object, ...]]]:
        """The columns of each table, as SQLite describes them."""
        with closing(sqlite3.connect(":memory:")) as db:
            register(db)
            db.executescript(self.schema)
            return {name: columns(db, name) for name in self.tables}


def columns(db: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """The names, types and keys of a table's columns."""
    return [(name, kind, key) for _, name, kind, _, _, key in db.execute(f"PRAGMA table_info({table})")]


def _group(row: Row) -> bool:
    return isinstance(row[2], bytes) and zlib.crc32(row[2]) == row[1]


def _plain(row: Row) -> bool:
    return row_crc(*row[:-1]) == row[-1]  # type: ignore[arg-type]


def _overdue(row: Row) -> bool:
    return row_crc(*row[:-1], OVERDUE) == row[-1]  # type: ignore[arg-type]


_UPLOAD = (bytes, int, bytes, bytes, int)
WORKER = Kind(
    "worker", sqlite_store.SCHEMA, sqlite_store.FORMAT, sqlite_store.SETUP["page_size"],
    {
        "meta": Table((str, (int, bytes), int), _plain),  # type: ignore[arg-type]
        "groups": Table((int, int, bytes), _group),
        "quarantine": Table((bytes, int, bytes, int, bytes, int), _plain),
    },
)  # fmt: skip
SORTED = Kind(
    "sorted", sorted_schema.SCHEMA, sorted_schema.FORMAT, sorted_schema.SETUP["page_size"],
    {
        "meta": Table((str, int, int), _plain),
        "batches": Table(_UPLOAD, _plain),
        "overdue": Table(_UPLOAD, _overdue),
        "ids": Table((bytes, int, bytes, int), _plain),
        "intents": Table((bytes, int, str, int, bytes, int), _plain),
        "forgotten": Table((bytes, int, int), _plain),
        "taken": Table((bytes, int, int, int), _plain),
    },
)  # fmt: skip
CAPS = Kind(
    "caps", caps.SCHEMA, caps.FORMAT, caps.PAGE,
    {
        "late": Table((int, int), _plain),
        "used": Table((str, bytes, int, int, int, int), _plain),
        "charged": Table((bytes, int, int, int), _plain),
    },
)  # fmt: skip
