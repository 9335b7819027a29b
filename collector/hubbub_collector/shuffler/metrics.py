"""What Prometheus reads of a shuffler or an opener: counts, none of them by device, source or key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from hubbub_collector.errors import CollectorError


class Metrics:
    """Of either service; each has its own beside ``refused``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._refused = Counter("hubbub_refused", "Requests refused, by code", ["code"], registry=self.registry)

    def refused(self, code: str) -> None:
        """Counts a refusal."""
        self._refused.labels(code).inc()

    @contextmanager
    def served(self, address: tuple[str, int] | None) -> Iterator[None]:
        """Serves /metrics at ``address``, a host and a port, for as long as the block lasts; nowhere where that is
        None. Raises CollectorError.
        """
        if address is None:
            yield
            return
        host, port = address
        try:
            server, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            raise CollectorError(
                f"{host}:{port}: cannot be listened on ({error.strerror}); choose another address or port"
            ) from None
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class ShufflerMetrics(Metrics):
    """Of a shuffler."""

    def __init__(self) -> None:
        super().__init__()
        self._taken = self._counter("uploads", "Sealed uploads acknowledged, with repeats")
        self._mixed = self._counter("mixed_uploads", "Uploads that were mixed")
        self._forwarded = self._counter("forwarded", "Ciphertexts that the analyst acknowledged")
        self._forgotten = self._counter("forgotten_uploads", "Uploads that found no crowd in time")
        self._held = Gauge("hubbub_shuffler_held_uploads", "Uploads that wait for a crowd", registry=self.registry)
        self._failing = Gauge(
            "hubbub_shuffler_failing", "1 while batches cannot be made or forwarded", registry=self.registry
        )

    def _counter(self, name: str, text: str) -> Counter:
        return Counter(f"hubbub_shuffler_{name}", text, registry=self.registry)

    def taken(self) -> None:
        """Counts an upload that is about to be acknowledged."""
        self._taken.inc()

    def holds(self, uploads: int) -> None:
        """Notes how many uploads wait."""
        self._held.set(uploads)

    def mixed(self, uploads: int) -> None:
        """Counts a crowd."""
        self._mixed.inc(uploads)

    def forgotten(self, uploads: int) -> None:
        """Counts uploads that were given up."""
        self._forgotten.inc(uploads)

    def forwarded(self, ciphertexts: int) -> None:
        """Counts a batch that was acknowledged."""
        self._forwarded.inc(ciphertexts)

    def failing(self, failing: bool) -> None:
        """Notes whether the last attempt failed."""
        self._failing.set(failing)


class OpenerMetrics(Metrics):
    """Of the analyst's side."""

    def __init__(self) -> None:
        super().__init__()
        self._opened = Counter(
            "hubbub_opened_ciphertexts", "Ciphertexts of batches, with repeats, by what became of them", ["outcome"],
            registry=self.registry,
        )  # fmt: skip

    def opened(self, outcomes: Mapping[str, int]) -> None:
        """Counts the ciphertexts of a batch."""
        for outcome, count in outcomes.items():
            self._opened.labels(outcome).inc(count)
