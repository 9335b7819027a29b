"""The tables of ``sealing/sorted.sqlite``, and what earlier formats lack of them.

The last column of each is a checksum of the others. All are keyed by what they hold and have no row numbers: an upload
id is random, so the order of arrival ends here.
"""

from __future__ import annotations

FORMAT = 3
SETUP = {"page_size": 8192, "cache_size": -65536}

_UPLOADS = """(
    fingerprint BLOB NOT NULL, period INTEGER NOT NULL, upload BLOB NOT NULL, records BLOB NOT NULL, crc INTEGER,
    PRIMARY KEY (fingerprint, period, upload)
) WITHOUT ROWID"""
# What a store's groups were that are sorted and not deleted yet; uploads that came too late to tell whether they are
# repeats; and what one run tells the next.
_SINCE_3 = f"""
CREATE TABLE taken (store BLOB NOT NULL, id INTEGER NOT NULL, content INTEGER NOT NULL, crc INTEGER,
    PRIMARY KEY (store, id)) WITHOUT ROWID;
CREATE TABLE overdue {_UPLOADS};
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL, crc INTEGER) WITHOUT ROWID
"""
SCHEMA = f"""
CREATE TABLE batches {_UPLOADS};
CREATE TABLE ids (
    fingerprint BLOB NOT NULL, period INTEGER NOT NULL, upload BLOB NOT NULL, crc INTEGER,
    PRIMARY KEY (fingerprint, period, upload)
) WITHOUT ROWID;
CREATE TABLE intents (
    fingerprint BLOB NOT NULL, period INTEGER NOT NULL, metric TEXT NOT NULL, seal INTEGER NOT NULL, last BLOB NOT NULL,
    crc INTEGER, PRIMARY KEY (fingerprint, period)
) WITHOUT ROWID;
CREATE TABLE forgotten (fingerprint BLOB PRIMARY KEY, period INTEGER NOT NULL, crc INTEGER) WITHOUT ROWID;
{_SINCE_3}
"""
# A watermark spoke for every group up to it, also for those of a file that was restored from a copy.
_FROM_2 = f"""
ALTER TABLE batches ADD COLUMN crc INTEGER;
UPDATE batches SET crc = row_crc(fingerprint, period, upload, records);
ALTER TABLE ids ADD COLUMN crc INTEGER;
UPDATE ids SET crc = row_crc(fingerprint, period, upload);
ALTER TABLE intents ADD COLUMN crc INTEGER;
UPDATE intents SET crc = row_crc(fingerprint, period, metric, seal, last);
ALTER TABLE forgotten ADD COLUMN crc INTEGER;
UPDATE forgotten SET crc = row_crc(fingerprint, period);
DROP TABLE watermarks;
DROP TABLE damaged;
{_SINCE_3}
"""  # noqa: S608 - constants
_FROM_1 = f"""
CREATE TABLE damaged (store BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (store, id)) WITHOUT ROWID;
CREATE TABLE forgotten (fingerprint BLOB PRIMARY KEY, period INTEGER NOT NULL) WITHOUT ROWID;
{_FROM_2}
"""
UPGRADES = {1: _FROM_1, 2: _FROM_2}
