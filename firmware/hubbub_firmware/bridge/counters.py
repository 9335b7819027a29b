"""What a bridge counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge


class BridgeCounters:
    """Counters of one bridge; no label depends on a report, a device or a topic."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.settled = Counter(
            "hubbub_bridge_messages", "Messages acknowledged to the broker", ["kind", "outcome"], registry=self.registry
        )
        self.discarded = Counter(
            "hubbub_bridge_discarded", "Messages that are none for a collector", ["reason"], registry=self.registry
        )
        self.attempts = Counter(
            "hubbub_bridge_failed_attempts", "Posts that the collector did not take", registry=self.registry
        )
        self.connections = Counter("hubbub_bridge_connections", "Subscriptions to the broker", registry=self.registry)
        self.waiting = Gauge(
            "hubbub_bridge_waiting", "Messages that wait for the collector, in memory", registry=self.registry
        )
