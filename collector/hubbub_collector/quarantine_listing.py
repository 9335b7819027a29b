"""What all workers of a collector have in quarantine, for the command and for the operator's listener."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

from hubbub_collector.layout import DataDirectory
from hubbub_collector.quarantine import Kept
from hubbub_collector.store import SqliteStore


def list_quarantine(data: DataDirectory) -> list[Kept]:
    """What the workers' quarantines hold together, by fingerprint and period. Raises CollectorError, StoreError."""
    batches: Counter[tuple[bytes, int]] = Counter()
    sizes: Counter[tuple[bytes, int]] = Counter()
    for path in data.worker_stores():
        with closing(SqliteStore(path)) as store:
            for kept in store.quarantine.listing():
                key = kept.fingerprint, kept.period
                batches[key] += kept.batches
                sizes[key] += kept.bytes
    return [Kept(*key, batches[key], sizes[key]) for key in sorted(batches)]


def rows(listing: list[Kept]) -> list[dict[str, object]]:
    """``listing`` for JSON, with fingerprints in hexadecimal."""
    return [{**kept._asdict(), "fingerprint": kept.fingerprint.hex()} for kept in listing]
