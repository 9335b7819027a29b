"""What Prometheus reads at /metrics: sums over all workers, through prometheus_client's multiprocess mode.

With PROMETHEUS_MULTIPROC_DIR set (the parent of the workers does that) every worker writes its values to files of its
own there, and the parent adds them up. The files are mapped into memory, where a page that finds no room on the disk
ends the process. So the parent makes them, with all the room that they will need, and a worker that is started again
goes on with those of its number.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.multiprocess import MultiProcessCollector

from hubbub_collector.writer import Committed, Writer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_COMMIT_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
_UPLOAD_RECORDS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000)


_KINDS = ("counter", "histogram", "gauge_livesum")
FILE_BYTES = 1 << 20
"""Of each file. What is in one grows with the number of codes and reasons, which are fixed: it takes a twentieth."""


def make_files(directory: Path, workers: int) -> None:
    """Makes the files of ``workers`` workers. Raises OSError."""
    directory.mkdir(mode=0o700)
    for kind in _KINDS:
        for number in range(workers):
            descriptor = os.open(directory / f"{kind}_{number}.db", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, FILE_BYTES)
            finally:
                os.close(descriptor)


def use_files(number: int) -> None:
    """Has this process write its values to the files of worker ``number``; before ``Metrics`` is made."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        values.ValueClass = values.MultiProcessValue(lambda: number)  # type: ignore[no-untyped-call]


def forget_gauges(directory: Path, number: int) -> None:
    """What worker ``number``, which is dead, holds is nothing any more; what it has counted stays. Raises OSError."""
    with open(directory / f"gauge_livesum_{number}.db", "r+b") as file:
        file.write(bytes(8))  # says that nothing is in it; a new file could find no room


class Metrics:
    """The collector's counters. Nothing in them is about a device, a token or an address."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._stored = Counter("hubbub_uploads_stored", "Uploads on stable storage", registry=registry)
        self._records = Counter("hubbub_records_stored", "Records on stable storage", registry=registry)
        self._bytes = Counter("hubbub_stored_bytes", "Bytes of the uploads on stable storage", registry=registry)
        self._quarantined = Counter(
            "hubbub_batches_quarantined", "Batches of metrics not in the registry, kept aside", registry=registry
        )
        self._turned_away = Counter(
            "hubbub_batches_turned_away", "Batches not kept, beside others that were", registry=registry
        )
        self._refused = Counter("hubbub_uploads_refused", "Requests refused, by code", ["code"], registry=registry)
        self._troubles = Counter(
            "hubbub_device_troubles", "Faults that devices reported of themselves, by reason", ["reason"],
            registry=registry,
        )  # fmt: skip
        self._commits = Histogram(
            "hubbub_commit_seconds", "Duration of a group commit", buckets=_COMMIT_SECONDS, registry=registry
        )
        self._failures = Counter("hubbub_commit_failures", "Group commits that failed", registry=registry)
        self._sizes = Histogram(
            "hubbub_upload_records", "Records of an upload that was stored", buckets=_UPLOAD_RECORDS, registry=registry
        )
        self._queue = self._gauge("hubbub_queue_bytes", "Uploads that wait for their commit")
        self._arriving = self._gauge("hubbub_arriving_bytes", "Uploads that have not arrived whole")
        self._open = self._gauge("hubbub_connections", "Connections that are open")
        self._store = self._gauge("hubbub_store_bytes", "Uploads stored and not sealed yet")
        self._failing = self._gauge("hubbub_store_failing", "Workers whose store does not commit")
        self._parked = self._gauge("hubbub_quarantine_bytes", "What is in quarantine, as its budget counts it")
        self._full = self._gauge("hubbub_quarantine_full", "Workers whose quarantine turns batches away")
        # An upload costs two additions here; ``flush`` hands them to Prometheus, which would cost it microseconds.
        self._counts = [0] * (len(_UPLOAD_RECORDS) + 1)
        self._sum_records = 0
        self._sum_bytes = 0

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, multiprocess_mode="livesum", registry=self._registry)

    def refused(self, code: str) -> None:
        """Counts a refusal."""
        self._refused.labels(code).inc()

    def turned_away(self, batches: int) -> None:
        """Counts batches that are not kept: outside the window, over a cap, or unknown while the quarantine is full."""
        self._turned_away.inc(batches)

    def troubles(self, counts: Mapping[str, int]) -> None:
        """Counts what a device reported."""
        for reason, count in counts.items():
            self._troubles.labels(reason).inc(count)

    def stored(self, records: int, size: int) -> None:
        """Counts an upload that is about to be acknowledged: its known records, and its bytes."""
        self._counts[bisect_left(_UPLOAD_RECORDS, records)] += 1
        self._sum_records += records
        self._sum_bytes += size

    def committed(self, commit: Committed) -> None:
        """Counts a group commit."""
        self._commits.observe(commit.seconds)
        if commit.error is not None:
            self._failures.inc()
            return
        self._stored.inc(commit.uploads)
        self._records.inc(commit.records)
        if commit.quarantined:
            self._quarantined.inc(commit.quarantined)

    def gauge(self, writer: Writer) -> None:
        """Notes what ``writer`` holds now."""
        self._queue.set(writer.queued)
        self._store.set(writer.stored)
        self._failing.set(writer.failing is not None or not writer.alive)
        self._parked.set(writer.quarantined)
        self._full.set(writer.turning_away.full)

    def flush(self, connections: int, arriving: int) -> None:
        """Notes what is open and arriving, and hands on what ``stored`` has counted. About once a second."""
        self._open.set(connections)
        self._arriving.set(arriving)
        # Histogram can only observe one value at a time; its buckets and its sum are what observe() increments.
        for bucket, count in zip(self._sizes._buckets, self._counts, strict=True):
            if count:
                bucket.inc(count)
        self._sizes._sum.inc(self._sum_records)
        self._bytes.inc(self._sum_bytes)
        self._counts = [0] * len(self._counts)
        self._sum_records = self._sum_bytes = 0

    def render(self) -> bytes:
        """The metrics of this process in Prometheus' text format; of all workers, where it is one of them."""
        directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        return generate_latest(self._registry) if directory is None else generate_latest(summed(directory))


def summed(directory: str) -> CollectorRegistry:
    """The sums over the workers whose values are in ``directory``."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, directory)  # type: ignore[no-untyped-call]
    return registry
