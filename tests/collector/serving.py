"""An intake inside the test's own event loop, with a store, budgets and a clock of the test's choice."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from hubbub_collector.access.gate import Gate
from hubbub_collector.intake import Intake, Limits
from hubbub_collector.metrics import Metrics
from hubbub_collector.protocol import QuietServer
from hubbub_collector.sockets import bound_socket
from hubbub_collector.store import Quarantined, Store
from hubbub_collector.upload import Validator
from hubbub_collector.window import Window
from hubbub_collector.writer import Budget, Writer
from hubbub_registry import Registry

from tests.collector.uploads import NOW

MSGPACK = {"Content-Type": "application/msgpack"}


@dataclass
class Served:
    """A running intake: where it is, and a client session with the right content type."""

    port: int
    url: str
    session: aiohttp.ClientSession
    writer: Writer
    intake: Intake
    counters: Metrics
    server: QuietServer

    def metrics(self) -> dict[str, float]:
        """What /metrics says at this moment, by name and labels."""
        self.counters.gauge(self.writer)
        self.counters.flush(self.server.open, self.intake.arriving.held)
        return metric_values(self.counters.render().decode())

    async def post(self, body: bytes, **headers: str) -> tuple[int, dict[str, object], dict[str, str]]:
        """Status, JSON body and headers of the answer to an upload."""
        sent = {**MSGPACK, **{name.replace("_", "-"): value for name, value in headers.items()}}
        async with self.session.post(f"{self.url}/v1/reports", data=body, headers=sent) as answer:
            return answer.status, await answer.json(), dict(answer.headers)


@asynccontextmanager
async def serving(
    registry: Registry, store: Store, budget: Budget | None = None, limits: Limits | None = None,
    gate: Gate | None = None,
) -> AsyncIterator[Served]:  # fmt: skip
    """Serves at Unix time NOW, for as long as the block lasts."""
    metrics = Metrics()
    writer = Writer(store, budget or Budget(), metrics.committed)
    validator = Validator(registry.metrics.values(), Window())
    limits = limits or Limits()
    if gate is not None:
        gate.use(registry.metrics.values())
    intake = Intake(validator, writer, metrics, limits, lambda: NOW, gate)
    server = QuietServer(
        intake.handle, limits, metrics.refused, access_log=None, auto_decompress=False, lingering_time=0.1
    )
    runner = web.ServerRunner(server, shutdown_timeout=1)
    await runner.setup()
    listening = bound_socket("127.0.0.1", 0)
    try:
        await web.SockSite(runner, listening).start()
        port = listening.getsockname()[1]
        async with aiohttp.ClientSession(auto_decompress=False) as session:
            yield Served(port, f"http://127.0.0.1:{port}", session, writer, intake, metrics, server)
    finally:
        await runner.cleanup()
        await writer.close()
        listening.close()


class FakeStore:
    """A store whose commits wait until ``go`` is set, and then raise ``error`` if there is one."""

    def __init__(self, error: Exception | None = None, *, go: bool = True) -> None:
        self.error = error
        self.go = threading.Event()
        self.bodies: list[bytes] = []
        self.used = 0
        if go:
            self.go.set()

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined]) -> None:
        self.go.wait(20)
        if self.error is not None:
            raise self.error
        self.bodies += bodies

    def used_bytes(self) -> int:
        return self.used

    def quarantined_bytes(self) -> int:
        return 0

    def closed(self) -> int:
        return 0

    def close(self) -> None:
        self.go.set()


def metric_values(text: str) -> dict[str, float]:
    """The samples of a /metrics page by name and labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}
