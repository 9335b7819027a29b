"""The two servers that the durable one is measured against.

``python servers.py store-off REGISTRY`` is the collector's own server with a store that keeps nothing;
``python servers.py bare`` is the least that aiohttp can do: read the body, answer 200. Both print the address.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence

import uvloop
from aiohttp import web

from hubbub_collector.sockets import bound_socket
from hubbub_collector.store import Quarantined
from hubbub_collector.upload import Validator
from hubbub_collector.window import Window
from hubbub_collector.worker import WorkerSettings, serve, switch_often
from hubbub_registry import load_registry


class StoreOff:
    """Acknowledges everything and keeps nothing. It must never be anywhere but here."""

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined]) -> None:
        """Does nothing."""

    def used_bytes(self) -> int:
        """Nothing."""
        return 0

    def quarantined_bytes(self) -> int:
        """Nothing."""
        return 0

    def closed(self) -> int:
        """Never."""
        return 0

    def close(self) -> None:
        """Does nothing."""


async def store_off(registry: str, stop: asyncio.Event) -> None:
    """Runs the collector's server, store off, until ``stop``."""
    switch_often()
    settings = WorkerSettings(registry, "", 0, "127.0.0.1", 0, 86_400, 1 << 20, 64 << 20, None, 1 << 20)
    validator = Validator(load_registry(registry, candidates=False).metrics.values(), Window())
    with bound_socket("127.0.0.1", 0) as listening:
        address = f"listening on http://127.0.0.1:{listening.getsockname()[1]}"
        await serve(settings, validator, StoreOff(), listening, stop, lambda: print(address, flush=True))


async def bare(stop: asyncio.Event) -> None:
    """Runs the bare handler until ``stop``."""

    async def reports(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=b'{"status":"stored"}', content_type="application/json")

    application = web.Application()
    application.router.add_post("/v1/reports", reports)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    with bound_socket("127.0.0.1", 0) as listening:
        await web.SockSite(runner, listening, backlog=1024).start()
        print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        await stop.wait()
        await runner.cleanup()


async def main() -> None:
    """Runs the server that the command line names."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await (bare(stop) if sys.argv[1] == "bare" else store_off(sys.argv[2], stop))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(main())
