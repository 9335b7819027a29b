"""Databases of earlier formats are brought up to date where they are opened, with all that is in them."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from hubbub_collector.checksums import row_crc
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.store_check import verify

from tests.collector.uploads import NOW, TODAY, batch, counts, load, records, sealed, split, upload

WORKER_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE groups (id INTEGER PRIMARY KEY AUTOINCREMENT, crc INTEGER NOT NULL, bodies BLOB NOT NULL);
CREATE TABLE quarantine (
    upload BLOB NOT NULL, batch INTEGER NOT NULL, fingerprint BLOB NOT NULL, period INTEGER NOT NULL,
    records BLOB NOT NULL, PRIMARY KEY (upload, batch)
) WITHOUT ROWID;
PRAGMA user_version = 1
"""
UPLOADS = "fingerprint BLOB NOT NULL, period INTEGER NOT NULL, upload BLOB NOT NULL"
SORTED_1 = f"""
CREATE TABLE watermarks (store BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE batches ({UPLOADS}, records BLOB NOT NULL, PRIMARY KEY (fingerprint, period, upload)) WITHOUT ROWID;
CREATE TABLE ids ({UPLOADS}, PRIMARY KEY (fingerprint, period, upload)) WITHOUT ROWID;
CREATE TABLE intents (
    fingerprint BLOB NOT NULL, period INTEGER NOT NULL, metric TEXT NOT NULL, seal INTEGER NOT NULL, last BLOB NOT NULL,
    PRIMARY KEY (fingerprint, period)
) WITHOUT ROWID;
PRAGMA user_version = 1
"""
SORTED_2 = f"""
{SORTED_1};
CREATE TABLE damaged (store BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (store, id)) WITHOUT ROWID;
CREATE TABLE forgotten (fingerprint BLOB PRIMARY KEY, period INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 2
"""


@pytest.mark.parametrize("script", [SORTED_1, SORTED_2], ids=["1", "2"])
def test_older_databases_are_used_as_they_are(tmp_path: Path, script: str) -> None:
    """What waits in them is sealed, what was sealed is a repeat, and verify finds them whole afterwards."""
    registry, data = load(tmp_path), DataDirectory(tmp_path / "data")
    sketch = registry.metric("sketch")
    contents = [records(sketch, 2) for _ in range(4)]
    ids = [os.urandom(16) for _ in contents]
    bodies = [upload(batch(sketch, content), id=id) for content, id in zip(contents, ids, strict=True)]
    data.intake.mkdir(parents=True)
    data.sorted_store.parent.mkdir()
    with closing(sqlite3.connect(data.worker_store(0))) as db:
        db.executescript(WORKER_1)
        db.execute("INSERT INTO meta VALUES ('identity', ?), ('late', 86400)", (os.urandom(16),))
        for body in (bodies[0], bodies[1]):
            db.execute("INSERT INTO groups (crc, bodies) VALUES (?, ?)", (zlib.crc32(body), body))
        strange = (ids[2], 0, sketch.fingerprint, TODAY, contents[2])
        db.execute("INSERT INTO quarantine VALUES (?, ?, ?, ?, ?)", strange)
        db.commit()
    with closing(sqlite3.connect(data.sorted_store)) as db:
        db.executescript(script)
        db.execute("INSERT INTO ids VALUES (?, ?, ?)", (sketch.fingerprint, TODAY, ids[1]))
        db.execute("INSERT INTO batches VALUES (?, ?, ?, ?)", (sketch.fingerprint, TODAY, ids[3], contents[3]))
        db.commit()
    report = seal(registry, data, SealOptions(1, everything=True), NOW)
    assert (report.batches, report.repeats, report.released, report.problems) == (2, 1, 1, [])
    assert counts(sealed(data, sketch)).keys() == {
        record for number in (0, 2, 3) for record in split(contents[number], sketch)
    }
    assert verify(data) == []


def test_a_row_s_checksum_tells_its_values_apart() -> None:
    """Values that are the same bytes end to end, or of another type, have another checksum."""
    rows: list[tuple[bytes | int | str | None, ...]] = [
        (b"ab", b"c"),
        (b"a", b"bc"),
        ("ab", b"c"),
        (b"ab", 99),
        (b"abc",),
        (b"abc", None),
    ]
    assert len({row_crc(*row) for row in rows}) == len(rows)
