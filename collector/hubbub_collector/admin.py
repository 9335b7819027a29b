"""The operator's listener: /metrics, /healthz, /readyz and /quarantine, apart from the one for uploads.

It runs in a thread of the parent, so that it adds up all workers and answers while one starts, stops or is gone. It
asks nobody who they are: bind it to an address that only operators reach.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future

from aiohttp import web

from hubbub_client.errors import HubbubError
from hubbub_collector.errors import Refusal
from hubbub_collector.limits.limits import Limits
from hubbub_collector.metrics import CONTENT_TYPE
from hubbub_collector.protocol import QuietServer, answer, refusal, unexpected
from hubbub_collector.status import Status

_LIMITS = Limits(body=1, arriving=1, connections=64, head_seconds=5.0, idle_seconds=30.0)
_STOP_SECONDS = 5.0
_RETRY = 5


class Admin:
    """Serves on ``listening`` from the moment it is made until ``close``."""

    def __init__(
        self, listening: socket.socket, status: Status, quarantine: Callable[[], list[dict[str, object]]]
    ) -> None:
        """``quarantine`` lists what is in quarantine; it is called in a thread of its own."""
        self._listening = listening
        self._status = status
        self._quarantine = quarantine
        self._routes: dict[str, Callable[[], Awaitable[web.Response]]] = {
            "/metrics": self._metrics,
            "/healthz": self._healthz,
            "/readyz": self._readyz,
            "/quarantine": self._listing,
        }
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="hubbub-admin", daemon=True)
        self._thread.start()
        started.result()

    def close(self) -> None:
        """Ends the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_STOP_SECONDS)

    def _run(self, started: Future[None]) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(started))

    async def _serve(self, started: Future[None]) -> None:
        runner = web.ServerRunner(QuietServer(self._handle, _LIMITS, access_log=None), shutdown_timeout=1)
        try:
            await runner.setup()
            await web.SockSite(runner, self._listening).start()
            started.set_result(None)
        except BaseException as error:
            started.set_exception(error)
            raise
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.Response:
        try:
            route = self._routes.get(request.path)
            if route is None:
                return refusal(Refusal(404, "not-found", f"there are {', '.join(self._routes)}"))
            if request.method != "GET":
                return refusal(Refusal(405, "method", "this address takes GET"), {"Allow": "GET"})
            return await route()
        except HubbubError as error:
            return refusal(Refusal(503, "store", str(error), _RETRY))
        except Exception as error:  # noqa: BLE001 - the last place before a stack trace
            return unexpected(error)

    async def _metrics(self) -> web.Response:
        text = await asyncio.to_thread(self._status.render)
        return answer(200, text, {"Content-Type": CONTENT_TYPE})

    async def _healthz(self) -> web.Response:
        said: dict[str, object] = {"status": "ok", "phase": self._status.phase, "workers": self._status.workers}
        if await asyncio.to_thread(self._status.sum, "hubbub_quarantine_full"):
            said["quarantine"] = "full"  # a warning only: known metrics are stored as ever
        return answer(200, json.dumps(said).encode())

    async def _readyz(self) -> web.Response:
        problem = await asyncio.to_thread(self._status.problem)
        if problem is not None:
            return refusal(Refusal(503, problem, "uploads are not taken, or not by all workers", _RETRY))
        return answer(200, b'{"status":"ready"}')

    async def _listing(self) -> web.Response:
        found = await asyncio.to_thread(self._quarantine)
        return answer(200, json.dumps({"quarantined": found}).encode())
