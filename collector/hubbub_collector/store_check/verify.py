"""Names what is damaged in a data directory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal.part import parquet_path
from hubbub_collector.seal.sorted_store import Intent
from hubbub_collector.store_check.database import check_database, read_only
from hubbub_collector.store_check.findings import Finding
from hubbub_collector.store_check.kinds import CAPS, SORTED, WORKER, Kind
from hubbub_collector.store_check.sealed_check import check_sealed


def verify(data: DataDirectory) -> list[Finding]:
    """What is damaged, by file. Changes nothing, and may run beside a collector and a sealer.

    Raises CollectorError where ``data`` is no collector's, OSError, sqlite3.Error where a database cannot be read for
    another reason than damage.
    """
    data.check()
    found: list[Finding] = []
    unfinished = _unfinished(data)
    for path, kind in databases(data):
        found += check_database(path, kind)
    return found + check_sealed(data, unfinished | _unfinished(data))


def databases(data: DataDirectory) -> list[tuple[Path, Kind]]:
    """The databases that there are, each with its kind."""
    found = [(path, WORKER) for path in data.worker_stores()]
    return found + [one for one in ((data.sorted_store, SORTED), (data.caps, CAPS)) if one[0].exists()]


def _unfinished(data: DataDirectory) -> set[Path]:
    """The Parquet files whose manifests are yet to be written, as far as can be told."""
    if not data.sorted_store.exists():
        return set()
    try:
        with closing(read_only(data.sorted_store)) as db:
            rows = db.execute("SELECT fingerprint, period, metric, seal, last FROM intents").fetchall()
    except sqlite3.Error:
        return set()
    intents = (Intent(*row) for row in rows)
    return {parquet_path(data.sealed(one.metric, one.fingerprint, one.period), one.seal) for one in intents}
