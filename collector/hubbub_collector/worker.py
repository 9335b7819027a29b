"""One worker: an event loop, a listening socket, a store. Started by ``workers.py``; see there for how it is told what.

``python -m hubbub_collector.worker`` reads one line of JSON (a ``WorkerSettings``) from standard input, prints "ready"
once it listens, and stops gracefully on SIGTERM, SIGINT, or when standard input ends: that is how it learns that its
parent is gone. Every further line names something to read again (``live.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import uvloop
from aiohttp import web

from hubbub_client.errors import HubbubError
from hubbub_collector.intake import Intake, Limits
from hubbub_collector.live import Live
from hubbub_collector.logs import configure, quiet_loop
from hubbub_collector.metrics import Metrics, use_files
from hubbub_collector.open_store import worker_store
from hubbub_collector.protocol import QuietServer
from hubbub_collector.sockets import bound_socket
from hubbub_collector.store import Store
from hubbub_collector.upload import Validator
from hubbub_collector.writer import Budget, Committed, Writer

_HANDSHAKE_SECONDS = 10.0
_LINGER_SECONDS = 2.0
_DRAIN_SECONDS = 20.0
_BACKLOG = 1024
_GAUGE_SECONDS = 1.0
_READ_BYTES = 64 << 10
_SWITCH_SECONDS = 0.001
"""How long the event loop may keep the interpreter from the thread that commits; Python's 5 ms are a commit long."""
SPARE_FILES = 256
"""Files that a worker may open besides its connections."""


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs to know. ``late`` is in seconds; the budgets are this worker's share, in bytes. ``trusted``
    are the networks of proxies, ``rate`` is as ``parse_rate`` takes it, ``log`` one of ``logs.FORMS``. ``store`` is the
    URL of a database, None for files in ``data``, and ``share`` how many workers this host has.
    """

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
    connections: int = Limits.connections
    head_seconds: float = Limits.head_seconds
    body_seconds: float = Limits.body_seconds
    idle_seconds: float = Limits.idle_seconds
    rate: str | None = None
    trusted: tuple[str, ...] = ()
    require_token: bool = False
    tls_cert: str | None = None
    tls_key: str | None = None
    log: str = "text"
    store: str | None = field(default=None, repr=False)
    share: int = 1

    @property
    def limits(self) -> Limits:
        """What its connections may take."""
        return Limits(
            body=self.body, body_seconds=self.body_seconds, arriving=self.queue, connections=self.connections,
            head_seconds=self.head_seconds, idle_seconds=self.idle_seconds,
        )  # fmt: skip

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
    live: Live | None = None,
) -> None:
    """Serves on the socket ``listening`` until ``stop`` is set, then finishes what is in flight. Closes ``store``.

    ``ready`` is called once connections are accepted. ``live``, where there is one, replaces ``validator`` later on.
    """
    metrics = Metrics()
    writer: Writer

    def observe(commit: Committed) -> None:
        metrics.committed(commit)
        metrics.gauge(writer)

    writer = Writer(store, Budget(settings.queue, settings.disk, settings.quarantine), observe)
    limits = settings.limits
    intake = Intake(validator, writer, metrics, limits, gate=None if live is None else live.gate)
    server = QuietServer(
        intake.handle,
        limits,
        metrics.refused,
        access_log=None,
        auto_decompress=False,
        lingering_time=_LINGER_SECONDS,
        read_bufsize=_READ_BYTES,
    )
    runner = web.ServerRunner(server, shutdown_timeout=_LINGER_SECONDS)
    tls: dict[str, Any] = {}

    def use(newer: Validator) -> None:
        newer.closed = writer.closed  # before it checks anything: what it accepts too late is never counted
        intake.use(newer)

    use(validator)
    if live is not None:
        live.use = use
        if live.certificate is not None:
            tls = {
                "ssl": live.certificate.context, "ssl_handshake_timeout": _HANDSHAKE_SECONDS,
                "ssl_shutdown_timeout": _LINGER_SECONDS,
            }  # fmt: skip
    try:
        await runner.setup()
        accepting = await asyncio.get_running_loop().create_server(server, sock=listening, backlog=_BACKLOG, **tls)
        ready()
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _GAUGE_SECONDS)
            metrics.gauge(writer)
            (validator if live is None else live.validator).closed = writer.closed
            metrics.flush(server.open, intake.arriving.held)
            if live is not None:
                await live.tick()
        accepting.close()
        # What has arrived is still answered: an upload in flight is stored, a new one on an open connection refused.
        intake.stopping = True
        async with asyncio.timeout(_DRAIN_SECONDS):
            while intake.running:
                await asyncio.sleep(0.01)
    except TimeoutError:
        logging.getLogger("hubbub.collector").warning("some requests did not end in time; they were not acknowledged")
    finally:
        await runner.cleanup()
        metrics.flush(server.open, intake.arriving.held)
        if live is not None:
            await live.close()
        await writer.close()


async def _run(settings: WorkerSettings, control: asyncio.StreamReader) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(quiet_loop)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the parent's affair, which a terminal sends to all
    use_files(settings.number)
    live = Live(settings)

    async def follow_parent() -> None:
        while line := await control.readline():
            live.reload(line.decode().strip())
        stop.set()

    def ready() -> None:
        try:
            print("ready", flush=True)
        except BrokenPipeError:  # the parent is gone already
            stop.set()

    following = asyncio.create_task(follow_parent())
    _bound_files(2 * settings.connections + SPARE_FILES)
    store = worker_store(settings)
    with bound_socket(settings.host, settings.port) as listening:
        await serve(settings, live.validator, store, listening, stop, ready, live)
    following.cancel()


def switch_often() -> None:
    """Has this process hand the interpreter from thread to thread often enough for ``serve``."""
    sys.setswitchinterval(_SWITCH_SECONDS)


def _bound_files(number: int) -> None:
    """Lets this process open ``number`` files: enough for its connections, and an end to TLS handshakes that hang."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number if most == resource.RLIM_INFINITY else min(number, most), most))


async def _main() -> int:
    control = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(control), sys.stdin)
    line = await control.readline()
    if not line:
        return 0
    settings = WorkerSettings(**json.loads(line))
    configure(settings.log, settings.number)
    try:
        await _run(settings, control)
    except (HubbubError, OSError) as error:
        logging.getLogger("hubbub.collector").error("worker: %s", error)
        return 1
    return 0


def main() -> int:
    """The worker process."""
    switch_often()
    configure("text")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_main())


if __name__ == "__main__":
    sys.exit(main())
