"""What the collector answers over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from hubbub_collector.body import BROKEN, check_headers, read_body
from hubbub_collector.errors import Refusal, StoreFullError
from hubbub_collector.metrics import CONTENT_TYPE, Metrics
from hubbub_collector.protocol import answer, refusal, unexpected
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.upload import Validator, pack
from hubbub_collector.writer import Writer

_STORED = b'{"status":"stored"}'
_RETRY_FULL = 60
_RETRY_STORE = 5


@dataclass(frozen=True)
class Limits:
    """Limits of one request: bytes of its body, and seconds for the body to arrive."""

    body: int = 1 << 20
    body_seconds: float = 30.0


class Intake:
    """The request handler of a worker."""

    def __init__(
        self,
        validator: Validator,
        writer: Writer,
        metrics: Metrics,
        limits: Limits,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._validator = validator
        self._writer = writer
        self._metrics = metrics
        self._limits = limits
        self._clock = clock
        self._routes: dict[str, tuple[str, Callable[[web.BaseRequest], Awaitable[web.Response]]]] = {
            "/v1/reports": ("POST", self._reports),
            "/healthz": ("GET", self._healthz),
            "/metrics": ("GET", self._metrics_page),
        }
        self.running = 0
        """Requests being answered."""
        self.stopping = False
        """Set to refuse every further request, and to close its connection."""

    async def handle(self, request: web.BaseRequest) -> web.Response:
        """Answers any request; no exception escapes."""
        self.running += 1
        try:
            return await self._route(request)
        except Refusal as refused:
            self._metrics.refused(refused.code)
            response = refusal(refused)
            if refused.code == BROKEN:  # where the next request would begin, nobody knows
                response.force_close()
            return response
        except ConnectionError:
            return refusal(Refusal(400, "gone", "the connection was lost"))  # nobody is there to read it
        except Exception as error:  # noqa: BLE001 - the last place where a stack trace can be kept from a stranger
            return unexpected(error)
        finally:
            self.running -= 1

    async def _route(self, request: web.BaseRequest) -> web.Response:
        route = self._routes.get(request.path)
        if route is None:
            raise Refusal(404, "not-found", "reports are sent to /v1/reports")
        method, handler = route
        if request.method != method:
            self._metrics.refused("method")
            refused = Refusal(405, "method", f"this address takes {method}")
            return refusal(refused, {"Allow": method})
        if self.stopping:
            response = refusal(Refusal(503, "stopping", "the collector is stopping", retry_after=5))
            response.force_close()
            return response
        return await handler(request)

    async def _reports(self, request: web.BaseRequest) -> web.Response:
        check_headers(request, self._limits.body)
        body = await read_body(request, self._limits.body, self._limits.body_seconds)
        upload = self._validator.check(body, self._clock())
        parked = tuple(Quarantined(upload.id, number, batch) for number, batch in upload.unknown)
        away: dict[str, int] = {}  # reason -> batches that are not taken, where others are
        for refused in upload.outside:
            away[refused.code] = away.get(refused.code, 0) + 1
        self._metrics.turned_away(len(upload.outside))
        # All of them or none: where a metric has two batches in an upload, its retry must not bring only the other.
        if parked and not self._writer.has_room_for(parked):
            self._metrics.turned_away(len(parked))
            if not upload.known:
                raise Refusal(400, "quarantine-full", "its metrics are unknown here, and no more is kept aside")
            parked, away["quarantine-full"] = (), len(parked)
        if upload.unknown or upload.outside:
            body = pack(upload.id, upload.known) if upload.known else b""
        error = await self._writer.submit(body, parked, upload.records)
        if isinstance(error, StoreFullError):
            raise Refusal(507, "disk-full", "the collector's disk is full; nothing was stored", _RETRY_FULL)
        if error is not None:
            raise Refusal(503, "store", "the collector could not store the upload; nothing was kept", _RETRY_STORE)
        if not away and not parked:
            return answer(200, _STORED)
        partly: dict[str, object] = {"status": "stored"}
        if parked:
            partly["quarantined"] = len(parked)
        if away:
            partly |= {"turned_away": sum(away.values()), "reason": ",".join(sorted(away))}
        return answer(202, json.dumps(partly, separators=(",", ":")).encode())

    async def _healthz(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002 - one signature for every route
        if not self._writer.alive or self._writer.failing is not None:
            raise Refusal(503, "store", "the store does not commit; the collector's log says why", _RETRY_STORE)
        if self._writer.turning_away.full:  # a warning only: known metrics are stored as ever
            return answer(200, b'{"status":"ok","quarantine":"full"}')
        return answer(200, b'{"status":"ok"}')

    async def _metrics_page(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002 - as above
        self._metrics.gauge(self._writer)
        return answer(200, self._metrics.render(), {"Content-Type": CONTENT_TYPE})
