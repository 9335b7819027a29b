"""What a gateway counts, for Prometheus. No label tells one sensor from another, or one report."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge


class GatewayCounters:
    """``frames`` by outcome: accepted, trouble, duplicate, or the reason for a refusal; and what became of reports."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.frames = Counter("hubbub_gateway_frames", "Frames received", ["outcome"], registry=self.registry)
        self.reports = Counter(
            "hubbub_gateway_reports", "Reports the collector has a verdict on", ["outcome"], registry=self.registry
        )
        self.attempts = Counter(
            "hubbub_gateway_failed_attempts", "Posts that the collector did not take", registry=self.registry
        )
        self.waiting = Gauge("hubbub_gateway_waiting", "Reports that wait for more", registry=self.registry)
