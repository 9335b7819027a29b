"""One worker: an event loop, a listening socket, a store. Started by ``workers.py``; see there for how it is told what.

``python -m hubbub_collector.worker`` reads one line of JSON (a ``WorkerSettings``) from standard input, prints "ready"
once it listens, and stops gracefully on SIGTERM, SIGINT, or when standard input ends: that is how it learns that its
parent is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import uvloop
from aiohttp import web

from hubbub_client.errors import HubbubError
from hubbub_collector.intake import Intake, Limits
from hubbub_collector.layout import DataDirectory
from hubbub_collector.metrics import Metrics
from hubbub_collector.protocol import QuietServer
from hubbub_collector.sockets import bound_socket
from hubbub_collector.store import SqliteStore, Store
from hubbub_collector.upload import Validator
from hubbub_collector.window import Window
from hubbub_collector.writer import Budget, Committed, Writer
from hubbub_registry import load_registry

_IDLE_SECONDS = 75.0
_LINGER_SECONDS = 2.0
_DRAIN_SECONDS = 20.0
_BACKLOG = 1024
_GAUGE_SECONDS = 1.0


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs to know. ``late`` is in seconds; the budgets are this worker's share, in bytes."""

    registry: str
    data: str
    number: int
    host: str
    port: int
    late: int
    body: int
    queue: int
    disk: int | None
    quarantine: int

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))


async def serve(
    settings: WorkerSettings,
    validator: Validator,
    store: Store,
    listening: socket.socket,
    stop: asyncio.Event,
    ready: Callable[[], None],
) -> None:
    """Serves on the socket ``listening`` until ``stop`` is set, then finishes what is in flight. Closes ``store``.

    ``ready`` is called once connections are accepted.
    """
    metrics = Metrics()
    writer: Writer

    def observe(commit: Committed) -> None:
        metrics.committed(commit)
        metrics.gauge(writer)

    writer = Writer(store, Budget(settings.queue, settings.disk, settings.quarantine), observe)
    intake = Intake(validator, writer, metrics, Limits(body=settings.body))
    server = QuietServer(
        intake.handle,
        access_log=None,
        auto_decompress=False,
        keepalive_timeout=_IDLE_SECONDS,
        lingering_time=_LINGER_SECONDS,
    )
    runner = web.ServerRunner(server, shutdown_timeout=_LINGER_SECONDS)
    try:
        await runner.setup()
        site = web.SockSite(runner, listening, backlog=_BACKLOG)
        await site.start()
        ready()
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _GAUGE_SECONDS)
            metrics.gauge(writer)
        await site.stop()
        # What has arrived is still answered: an upload in flight is stored, a new one on an open connection refused.
        intake.stopping = True
        async with asyncio.timeout(_DRAIN_SECONDS):
            while intake.running:
                await asyncio.sleep(0.01)
    except TimeoutError:
        logging.getLogger("hubbub.collector").warning("some requests did not end in time; they were not acknowledged")
    finally:
        await runner.cleanup()
        await writer.close()


async def _run(settings: WorkerSettings, control: asyncio.StreamReader) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)

    async def follow_parent() -> None:
        await control.read()
        stop.set()

    def ready() -> None:
        try:
            print("ready", flush=True)
        except BrokenPipeError:  # the parent is gone already
            stop.set()

    following = asyncio.create_task(follow_parent())
    registry = load_registry(settings.registry, candidates=False)
    validator = Validator(registry.metrics.values(), Window(late=settings.late))
    store = SqliteStore(DataDirectory(Path(settings.data)).worker_store(settings.number), settings.late)
    with bound_socket(settings.host, settings.port) as listening:
        await serve(settings, validator, store, listening, stop, ready)
    following.cancel()


async def _main() -> int:
    control = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(control), sys.stdin)
    line = await control.readline()
    if not line:
        return 0
    try:
        await _run(WorkerSettings(**json.loads(line)), control)
    except (HubbubError, OSError) as error:
        print(f"hubbub collect: worker: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def main() -> int:
    """The worker process."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="hubbub collect: %(message)s")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_main())


if __name__ == "__main__":
    sys.exit(main())
