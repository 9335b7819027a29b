"""What Prometheus reads at /metrics: sums over all workers, through prometheus_client's multiprocess mode.

With PROMETHEUS_MULTIPROC_DIR set (the parent of the workers does that) every worker writes its values to a file of its
own there, and whichever worker is asked adds them up.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from hubbub_collector.writer import Committed, Writer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_COMMIT_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """The collector's counters. Nothing in them is about a device or an address."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._stored = Counter("hubbub_uploads_stored", "Uploads on stable storage", registry=registry)
        self._records = Counter("hubbub_records_stored", "Records on stable storage", registry=registry)
        self._quarantined = Counter(
            "hubbub_batches_quarantined", "Batches of metrics not in the registry, kept aside", registry=registry
        )
        self._turned_away = Counter(
            "hubbub_batches_turned_away", "Batches not kept, beside others that were", registry=registry
        )
        self._refused = Counter("hubbub_uploads_refused", "Requests refused, by code", ["code"], registry=registry)
        self._commits = Histogram(
            "hubbub_commit_seconds", "Duration of a group commit", buckets=_COMMIT_SECONDS, registry=registry
        )
        self._failures = Counter("hubbub_commit_failures", "Group commits that failed", registry=registry)
        self._queue = self._gauge("hubbub_queue_bytes", "Uploads that wait for their commit")
        self._store = self._gauge("hubbub_store_bytes", "Uploads stored and not sealed yet")
        self._parked = self._gauge("hubbub_quarantine_bytes", "What is in quarantine, as its budget counts it")
        self._full = self._gauge("hubbub_quarantine_full", "Workers whose quarantine turns batches away")

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, multiprocess_mode="livesum", registry=self._registry)

    def refused(self, code: str) -> None:
        """Counts a refusal."""
        self._refused.labels(code).inc()

    def turned_away(self, batches: int) -> None:
        """Counts batches that are not kept: outside the window, or unknown while the quarantine is full."""
        self._turned_away.inc(batches)

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
        self._parked.set(writer.quarantined)
        self._full.set(writer.turning_away.full)

    def render(self) -> bytes:
        """The metrics of all workers in Prometheus' text format."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
