"""Running a service of one process: its socket, its signals, its graceful end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import uvloop
from aiohttp import web

from hubbub_collector.limits.limits import Limits
from hubbub_collector.logs import quiet_loop
from hubbub_collector.protocol import QuietServer
from hubbub_collector.shuffler.endpoint import Endpoint
from hubbub_collector.sockets import bound_socket, shown
from hubbub_collector.tls import Certificate

_LINGER_SECONDS = 2.0
_DRAIN_SECONDS = 20.0
_HANDSHAKE_SECONDS = 10.0
_TICK_SECONDS = 1.0


@dataclass(frozen=True)
class Address:
    """Where a service listens, and with which certificate if it speaks TLS itself."""

    host: str
    port: int
    certificate: Certificate | None = None

    def bound(self) -> socket.socket:
        """A socket there, unshared. Raises CollectorError."""
        return bound_socket(self.host, self.port, shared=False)

    def announce(self, listening: socket.socket) -> None:
        """Prints the address, once there is somebody to answer."""
        scheme = "http" if self.certificate is None else "https"
        print(f"listening on {scheme}://{shown(self.host, listening.getsockname()[1])}", flush=True)

    @property
    def tls(self) -> dict[str, Any]:
        """What asyncio is told of TLS."""
        if self.certificate is None:
            return {}
        return {
            "ssl": self.certificate.context, "ssl_handshake_timeout": _HANDSHAKE_SECONDS,
            "ssl_shutdown_timeout": _LINGER_SECONDS,
        }  # fmt: skip


async def serve(
    endpoint: Endpoint, limits: Limits, address: Address, listening: socket.socket, stop: asyncio.Event,
    tick: Callable[[], object] = lambda: None,
) -> None:  # fmt: skip
    """Serves until ``stop`` is set, then finishes what is in flight. ``tick`` is called about once a second."""
    server = QuietServer(
        endpoint.handle,
        limits,
        endpoint.refused,
        access_log=None,
        auto_decompress=False,
        lingering_time=_LINGER_SECONDS,
    )
    runner = web.ServerRunner(server, shutdown_timeout=_LINGER_SECONDS)
    try:
        await runner.setup()
        accepting = await asyncio.get_running_loop().create_server(server, sock=listening, **address.tls)
        address.announce(listening)
        while not stop.is_set():
            tick()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _TICK_SECONDS)
        accepting.close()
        endpoint.stopping = True
        async with asyncio.timeout(_DRAIN_SECONDS):
            while endpoint.running:
                await asyncio.sleep(0.01)
    except TimeoutError:
        logging.getLogger("hubbub.shuffler").warning("some requests did not end in time; they were not acknowledged")
    finally:
        await runner.cleanup()


def run(main: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Runs ``main``, with an event that SIGTERM and SIGINT set."""

    async def until_stopped() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(quiet_loop)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await main(stop)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(until_stopped())
