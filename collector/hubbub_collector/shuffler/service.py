"""``hubbub shuffle``: takes sealed uploads, mixes them, forwards them; one process."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from hubbub_collector.access.gate import Gate
from hubbub_collector.errors import Refusal
from hubbub_collector.limits.limits import Limits
from hubbub_collector.lock import exclusive
from hubbub_collector.shuffler.crowd import Crowds
from hubbub_collector.shuffler.endpoint import Endpoint, raise_for
from hubbub_collector.shuffler.forwarder import Forwarder
from hubbub_collector.shuffler.held_store import HeldStore
from hubbub_collector.shuffler.metrics import ShufflerMetrics
from hubbub_collector.shuffler.mixing import Mixing
from hubbub_collector.shuffler.sealed_body import parse
from hubbub_collector.shuffler.serving import Address, serve
from hubbub_collector.writer import Budget, Writer

PATH = "/v1/sealed"


@dataclass(frozen=True)
class Shuffling:
    """What the operator of a shuffler chooses. ``keys`` are the ids of the keys that reports may be sealed to,
    ``sizes`` those of ciphertexts (any, where there are none). ``max_wait`` and ``hold`` are in seconds. ``admin`` is
    the host and port where Prometheus reads.
    """

    data: Path
    keys: Collection[bytes]
    threshold: int
    max_wait: int
    hold: int
    sizes: Collection[int] = ()
    queue: int = 64 << 20
    disk: int | None = None
    limits: Limits = field(default_factory=Limits)
    admin: tuple[str, int] | None = None

    @property
    def store(self) -> Path:
        """The one database."""
        return self.data / "shuffler" / "held.sqlite"


async def shuffle(
    settings: Shuffling, address: Address, forwarder: Forwarder, stop: asyncio.Event, gate: Gate | None = None
) -> None:
    """Runs until ``stop`` is set. ``gate`` asks for a rate. Raises CollectorError where the data directory or the
    address cannot be used.
    """
    metrics = ShufflerMetrics()
    with (
        exclusive(settings.data / "shuffler.lock", "shuffler"),
        address.bound() as listening,
        metrics.served(settings.admin),
    ):
        writer = Writer(HeldStore(settings.store), Budget(settings.queue, settings.disk, 0), lambda _: None)
        try:
            with closing(Crowds(settings.store, settings.threshold)) as crowds:
                mixing = Mixing(crowds, settings.threshold, settings.max_wait, settings.hold, metrics)

                async def take(body: bytes) -> None:
                    upload = parse(body)
                    if upload.key not in settings.keys:
                        raise Refusal(400, "key-unknown", "this shuffler takes no reports sealed to that key")
                    if settings.sizes and upload.size not in settings.sizes:
                        raise Refusal(400, "ciphertext-size", "this shuffler takes no ciphertexts of that size")
                    raise_for(await writer.submit(body, (), len(upload.ciphertexts)))
                    metrics.taken()

                def admit(request: web.BaseRequest) -> None:
                    if gate is not None:
                        gate.admit(request)

                endpoint = Endpoint(PATH, admit, take, metrics.refused, writer, settings.limits)
                async with forwarder:
                    mixer = asyncio.create_task(mixing.run(forwarder, stop))
                    mixer.add_done_callback(lambda _: stop.set())  # never the one without the other
                    try:
                        await serve(endpoint, settings.limits, address, listening, stop)
                    finally:
                        stop.set()
                        await mixer
        finally:
            await writer.close()
