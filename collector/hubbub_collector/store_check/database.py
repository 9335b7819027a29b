"""Names what is damaged in one database: its log, its tables, the structure that SQLite sees, every row's checksum."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hubbub_collector.sqlite import is_corrupt
from hubbub_collector.store_check.findings import Finding
from hubbub_collector.store_check.kinds import Kind, Row, columns
from hubbub_collector.wal import log_of, read_log

OLDER = "of the older format"
"""Begins what is said of a database that is not damaged for all that can be told, and that has no checksums yet."""
_MOST = 100
"""Faults of its structure that SQLite lists."""


def check_database(path: Path, kind: Kind) -> list[Finding]:
    """What is damaged in the database ``path``, which others may use. Raises OSError, sqlite3.OperationalError."""
    found = list(_check_log(path, kind))
    if found and any("would be dropped" in finding.what for finding in found):
        return found  # to open it would drop them
    try:
        with closing(read_only(path)) as db:
            found += _check_tables(path, db, kind)
            if not found or all(finding.where.startswith("log") for finding in found):
                found += _check_structure(path, db)
                for name in kind.tables:
                    found += _check_rows(path, db, kind, name)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if not is_corrupt(error):
            raise
        found.append(Finding(str(path), "", f"SQLite cannot read it: {error}"))
    return found


def read_only(path: Path) -> sqlite3.Connection:
    """The database ``path``, which stays as it is, also when the last connection to it closes."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _check_log(path: Path, kind: Kind) -> Iterator[Finding]:
    for _ in range(2):  # twice, in case somebody was writing just then
        try:
            log = read_log(log_of(path).read_bytes(), kind.page)
        except FileNotFoundError:
            return
        if not log.damaged:
            return
    for place, page in log.damaged:
        where = f"log, frame {place} (page {page})" if place else "log, header"
        if log.commits_behind:
            what = f"damaged, and {log.commits_behind} commits behind it would be dropped by whoever opens the file"
        else:
            what = "damaged, in the last commit: a crash may have torn that before it was acknowledged"
        yield Finding(str(path), where, what)


def _check_tables(path: Path, db: sqlite3.Connection, kind: Kind) -> Iterator[Finding]:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    strange = [name for name, expected in kind.expected().items() if columns(db, name) != expected]
    if 0 < version < kind.version and strange:
        yield Finding(str(path), "", f"{OLDER} {version}: run hubbub collect or hubbub seal once, then check")
    elif version != kind.version:
        yield Finding(str(path), "page 1", f"its format is {version}, which is none of this version's")
    else:
        for name in strange:
            yield Finding(str(path), "page 1", f"the table {name} is not as it was made")


def _check_structure(path: Path, db: sqlite3.Connection) -> Iterator[Finding]:
    for (text,) in db.execute(f"PRAGMA integrity_check({_MOST})"):
        if text == "ok":
            continue
        for line in text.splitlines():
            if line.strip("* "):
                page = re.search(r"[Pp]age (\d+)", line)
                yield Finding(str(path), f"page {page[1]}" if page else "", line.strip("* "))


def _check_rows(path: Path, db: sqlite3.Connection, kind: Kind, name: str) -> Iterator[Finding]:
    table = kind.tables[name]
    last: Row | None = None
    try:
        for row in db.execute(f"SELECT * FROM {name}"):  # noqa: S608 - a name of ours
            if not (table.fits(row) and table.whole(row)):
                yield Finding(str(path), f"{name}, row {label(row)}", "its checksum does not match")
            last = row
    except sqlite3.Error as error:
        if not is_corrupt(error):
            raise
        after = "its beginning" if last is None else f"row {label(last)}"
        yield Finding(str(path), f"{name}, after {after}", f"cannot be read: {error}")


def label(row: Row) -> str:
    """What names a row: its first values, without its content."""
    return " ".join(value.hex() if isinstance(value, bytes) else str(value) for value in row[:3] if _short(value))


def _short(value: object) -> bool:
    return not isinstance(value, bytes) or len(value) <= 16
