"""What the parent knows of its workers, for the operator's listener. Written by one thread, read by others."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from hubbub_collector.metrics import summed

STARTING, RUNNING, STOPPING = "starting", "running", "stopping"


class Status:
    """``phase`` is one of the three above, ``workers`` how many listen."""

    def __init__(self, directory: str) -> None:
        """``directory`` holds the workers' metrics."""
        self._directory = directory
        self.phase = STARTING
        self._registry = registry = CollectorRegistry()
        self._workers = Gauge("hubbub_workers", "Workers that listen", registry=registry)
        self._deaths = Counter("hubbub_worker_deaths", "Workers that ended and were started again", registry=registry)
        self._reloads = Counter(
            "hubbub_reloads", "Files read again on SIGHUP, by what and outcome", ["what", "outcome"], registry=registry
        )
        self.workers = 0

    def listens(self, workers: int) -> None:
        """Notes how many workers listen."""
        self.workers = workers
        self._workers.set(workers)

    def died(self) -> None:
        """Counts a worker that ended by itself."""
        self._deaths.inc()

    def reloaded(self, what: str, right: bool) -> None:
        """Counts a file that was read again; one that was not right was not used."""
        self._reloads.labels(what, "ok" if right else "failed").inc()

    def problem(self) -> str | None:
        """Why uploads should go elsewhere: the phase, ``no-worker`` or ``store``; None where they are taken."""
        if self.phase != RUNNING:
            return self.phase
        if not self.workers:
            return "no-worker"
        return "store" if self.sum("hubbub_store_failing") else None

    def sum(self, name: str) -> float:
        """The sum over the workers of a gauge."""
        return sum(
            sample.value
            for metric in summed(self._directory).collect()
            for sample in metric.samples
            if sample.name == name
        )

    def render(self) -> bytes:
        """All metrics, of the workers and of the parent, in Prometheus' text format."""
        return generate_latest(summed(self._directory)) + generate_latest(self._registry)
