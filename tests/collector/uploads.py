"""What the collector's tests share: a registry, valid records, uploads, and reading the sealed data set back."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from hubbub_client.records import pack as pack_record
from hubbub_collector.layout import DataDirectory
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.seal import SealOptions
from hubbub_collector.store import SqliteStore
from hubbub_collector.upload import Batch, Validator, pack
from hubbub_collector.window import Window
from hubbub_registry import Metric, Registry, load_registry

from tests.registries import write_registry

NOW = 1_800_000_000.0
"""The Unix time of the tests that set the clock."""
DAY = 86_400
TODAY = int(NOW // DAY)
ALL = SealOptions(minimum=1, everything=True)
"""Seals whatever is there, however little or young."""


def registry_file(folder: Path) -> Path:
    """Metrics ``sketch`` (wide records, two bits of padding) and ``choice`` (a domain of five in three bits)."""
    metrics = {"sketch": {"mechanism": "count-mean-sketch"}, "choice": {"mechanism": "randomized-response"}}
    return write_registry(folder / "registry.toml", metrics)


def load(folder: Path) -> Registry:
    """That registry, loaded."""
    return load_registry(registry_file(folder))


def random_record(metric: Metric) -> bytes:
    """A valid record, random in every field."""
    fields = metric.device.fields
    drawn = [int.from_bytes(os.urandom(64), "little") % (domain or 1 << bits) for _, bits, domain in fields]
    return pack_record(fields, drawn)


def records(metric: Metric, count: int) -> bytes:
    """``count`` random valid records, end to end."""
    return b"".join(random_record(metric) for _ in range(count))


def upload(*batches: Batch, id: bytes | None = None) -> bytes:
    """An upload's body."""
    return pack(os.urandom(16) if id is None else id, list(batches))


def batch(metric: Metric, content: bytes, period: int = TODAY) -> Batch:
    """One batch."""
    return Batch(metric.fingerprint, period, content)


def fill(data: DataDirectory, *groups: list[bytes], worker: int = 0) -> None:
    """Puts uploads into a worker's store, one commit a group."""
    store = SqliteStore(data.worker_store(worker), late=28 * DAY)
    for group in groups:
        store.commit(group)
    store.close()


def park(data: DataDirectory, body: bytes, worker: int = 0) -> None:
    """Puts an upload into a worker's quarantine, as a collector does that knows none of its metrics."""
    unknown = Validator([], Window()).check(body, NOW)
    store = SqliteStore(data.worker_store(worker), late=28 * DAY)
    store.commit([], [Quarantined(unknown.id, number, strange) for number, strange in unknown.unknown])
    store.close()


def quarantined(data: DataDirectory) -> int:
    """How many batches lie in all workers' quarantines."""
    count = 0
    for path in data.worker_stores():
        store = SqliteStore(path)
        count += store.quarantine.count()
        store.close()
    return count


def stored(store: SqliteStore) -> list[bytes]:
    """The bodies of each group that a worker's store holds, oldest first."""
    return [store.group(id) or b"" for id in store.ids(0, store.last_id())]


def sealed(data: DataDirectory, metric: Metric, period: int | None = None) -> list[list[bytes]]:
    """The records of each committed part of a metric, in the order of the files."""
    parts = []
    folder = data.root / "sealed" / metric.name / metric.fingerprint.hex()
    for manifest in sorted(folder.glob(f"{'*' if period is None else period}/*.json")):
        said = json.loads(manifest.read_text())
        part = pq.read_table(manifest.parent / said["file"])["record"].to_pylist()
        assert len(part) == said["records"]
        parts.append(part)
    return parts


def counts(parts: list[list[bytes]]) -> Counter[bytes]:
    """How often each record is there."""
    return Counter(record for part in parts for record in part)


def split(content: bytes, metric: Metric) -> list[bytes]:
    """The records in ``content``."""
    width = metric.device.record_bytes
    return [content[at : at + width] for at in range(0, len(content), width)]
