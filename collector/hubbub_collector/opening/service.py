"""``hubbub open``: takes batches from a shuffler, opens them, and stores their records for the sealer; one process."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from hubbub_collector.errors import Refusal
from hubbub_collector.layout import DataDirectory
from hubbub_collector.limits.limits import Limits
from hubbub_collector.lock import exclusive
from hubbub_collector.opening.keys import PrivateKey
from hubbub_collector.opening.opener import Opener
from hubbub_collector.shuffler.endpoint import Endpoint, raise_for
from hubbub_collector.shuffler.forwarder import PATH
from hubbub_collector.shuffler.metrics import OpenerMetrics
from hubbub_collector.shuffler.sealed_body import parse
from hubbub_collector.shuffler.serving import Address, serve
from hubbub_collector.upload import Validator
from hubbub_collector.window import LATE, Window
from hubbub_collector.worker_store import WorkerStore
from hubbub_collector.writer import Budget, Writer
from hubbub_registry import Registry

log = logging.getLogger("hubbub.collector")


@dataclass(frozen=True)
class Opening:
    """What the analyst chooses. ``late`` is in seconds; ``secret`` is what the shuffler shows to be let in."""

    data: Path
    keys: Sequence[PrivateKey]
    secret: str
    late: int = LATE
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)
    admin: tuple[str, int] | None = None
    """The host and port where Prometheus reads."""


async def open_batches(
    registry: Registry, settings: Opening, address: Address, stop: asyncio.Event,
    clock: Callable[[], float] = time.time,
) -> None:  # fmt: skip
    """Runs until ``stop`` is set. Raises CollectorError where the data directory or the address cannot be used."""
    data = DataDirectory(settings.data)
    validator = Validator(registry.metrics.values(), Window(late=settings.late))
    opener = Opener(settings.keys, validator)
    expected = f"Bearer {settings.secret}".encode()
    metrics = OpenerMetrics()
    with exclusive(data.collector_lock, "collector"), address.bound() as listening, metrics.served(settings.admin):
        writer = Writer(WorkerStore(data, 0, settings.late), settings.budget, lambda _: None)

        def admit(request: web.BaseRequest) -> None:
            shown = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(shown, expected):
                raise Refusal(401, "shuffler-unknown", "only the shuffler that has the secret may send batches")

        async def take(body: bytes) -> None:
            batch = parse(body)
            opened = await asyncio.to_thread(opener.open, batch.key, batch.ciphertexts, clock())
            parked = opened.quarantined
            if parked and not writer.has_room_for(parked):
                opened.lost["quarantine-full"] = len(parked)
                parked = ()
            if opened.body or parked:
                raise_for(await writer.submit(opened.body, parked, opened.records))
            metrics.opened({"stored": opened.records, "quarantined": len(parked), **opened.lost})
            _tell(opened.records, len(parked), opened.lost)

        def tick() -> None:
            validator.closed = writer.closed

        try:
            endpoint = Endpoint(PATH, admit, take, metrics.refused, writer, settings.limits)
            await serve(endpoint, settings.limits, address, listening, stop, tick)
        finally:
            await writer.close()


def _tell(records: int, parked: int, lost: Counter[str]) -> None:
    """Logs what came in a batch: numbers, and never to the shuffler, whom they would tell what it sealed away."""
    more = "".join(f", {count} {reason}" for reason, count in sorted(lost.items()))
    log.info("a batch: %d records stored, %d quarantined%s", records, parked, more)
