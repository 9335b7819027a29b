"""What the collector answers over HTTP to those who send reports."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from hubbub_collector import openapi
from hubbub_collector.access.gate import CAP, Gate
from hubbub_collector.access.token import Token
from hubbub_collector.body import BROKEN, JSON, check_headers, read_body
from hubbub_collector.errors import Refusal, StoreFullError
from hubbub_collector.limits.arriving import BATCH_BYTES, Arriving
from hubbub_collector.limits.limits import Limits
from hubbub_collector.limits.rate import Rate, RateLimit
from hubbub_collector.metrics import Metrics
from hubbub_collector.protocol import Rendered, answer, refusal, unexpected
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.troubles import BODY, read_troubles
from hubbub_collector.upload import Upload, Validator, pack
from hubbub_collector.writer import Writer

__all__ = ["Intake", "Limits"]

_STORED = Rendered(b'{"status":"stored"}')
_DESCRIPTION = openapi.rendered()
_RETRY_FULL = 60
_RETRY_STORE = 5
_TROUBLES = Rate(200, 1)
"""Of all devices together, to one worker: what is counted there is worth less than reports."""


class Intake:
    """The request handler of a worker."""

    def __init__(
        self, validator: Validator, writer: Writer, metrics: Metrics, limits: Limits,
        clock: Callable[[], float] = time.time, gate: Gate | None = None,
    ) -> None:  # fmt: skip
        self._validator = validator
        self._writer = writer
        self._metrics = metrics
        self._limits = limits
        self._clock = clock
        self._gate = gate
        self._trouble_rate = RateLimit(_TROUBLES)
        self._routes: dict[str, tuple[str, Callable[[web.BaseRequest], Awaitable[web.Response]]]] = {
            "/v1/reports": ("POST", self._reports),
            "/v1/troubles": ("POST", self._troubles),
            "/healthz": ("GET", self._healthz),
            openapi.PATH: ("GET", self._describe),
        }
        self.arriving = Arriving(limits.arriving)
        """The bodies that have not arrived whole."""
        self.running = 0
        """Requests being answered."""
        self.stopping = False
        """Set to refuse every further request, and to close its connection."""

    def use(self, validator: Validator) -> None:
        """Checks uploads with ``validator`` from now on."""
        self._validator = validator

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
            self._metrics.refused("stopping")
            response = refusal(Refusal(503, "stopping", "the collector is stopping", retry_after=5))
            response.force_close()
            return response
        return await handler(request)

    async def _reports(self, request: web.BaseRequest) -> web.Response:
        token = None if self._gate is None else self._gate.admit(request)
        check_headers(request, self._limits.body)
        body = await read_body(request, self._limits.body, self._limits.body_seconds, self.arriving)
        upload = self._validator.check(body, self._clock())
        # What waits for its commit is the body alone, as its budget counts it: the parsed upload may be far larger.
        if upload.unknown or upload.outside or token is not None:
            body, parked, records, away = await self._sort_out(body, upload, token)
        else:
            parked, records, away = (), upload.records, {}
        del upload
        error = await self._writer.submit(body, parked, records)
        if isinstance(error, StoreFullError):
            raise Refusal(507, "disk-full", "the collector's disk is full; nothing was stored", _RETRY_FULL)
        if error is not None:
            raise Refusal(503, "store", "the collector could not store the upload; nothing was kept", _RETRY_STORE)
        self._metrics.stored(records, len(body))
        if not away and not parked:
            return _STORED.to(request)
        partly: dict[str, object] = {"status": "stored"}
        if parked:
            partly["quarantined"] = len(parked)
        if away:
            partly |= {"turned_away": sum(away.values()), "reason": ",".join(sorted(away))}
        return answer(202, json.dumps(partly, separators=(",", ":")).encode())

    async def _sort_out(
        self, body: bytes, upload: Upload, token: Token | None
    ) -> tuple[bytes, tuple[Quarantined, ...], int, dict[str, int]]:
        """The body to store, the batches to quarantine, how many records are stored, and how many batches are not
        taken by reason, where others are. Raises Refusal where none are.
        """
        known = upload.known
        capped = await self._charge(body, upload, token)
        if capped:
            known = [batch for batch in known if (batch.fingerprint, batch.period) not in capped]
        away = dict(upload.outside)
        over = len(upload.known) - len(known)
        if over:
            away[CAP] = over
        self._metrics.turned_away(sum(upload.outside.values()) + over)
        parked = tuple(Quarantined(upload.id, number, batch) for number, batch in upload.unknown)
        # All of them or none: where a metric has two batches in an upload, its retry must not bring only the other.
        if parked and not self._writer.has_room_for(parked):
            self._metrics.turned_away(len(parked))
            if not known:
                raise Refusal(400, "quarantine-full", "its metrics are unknown here, and no more is kept aside")
            parked, away["quarantine-full"] = (), len(parked)
        if over and not known and not parked:
            raise Refusal(400, CAP, "the token has contributed all that it may to these metrics and periods")
        records = upload.records if self._gate is None or not over else self._gate.records(known)
        if away or parked:
            body = pack(upload.id, known) if known else b""
        return body, parked, records, away

    async def _charge(self, body: bytes, upload: Upload, token: Token | None) -> set[tuple[bytes, int]]:
        """See ``Gate.charge``. While it waits the upload counts as one that arrives."""
        if self._gate is None or token is None:
            return set()
        held = 2 * len(body) + BATCH_BYTES * (len(upload.known) + len(upload.unknown))
        self.arriving.take(held, 0)
        try:
            return await self._gate.charge(token, upload)
        finally:
            self.arriving.give_back(held)

    async def _troubles(self, request: web.BaseRequest) -> web.Response:
        if self._gate is not None:
            self._gate.admit(request)
        self._trouble_rate.spend(None)
        check_headers(request, BODY, JSON)
        body = await read_body(request, BODY, self._limits.body_seconds, self.arriving)
        self._metrics.troubles(read_troubles(body))
        return answer(200, b'{"status":"counted"}')

    async def _healthz(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002 - one signature for every route
        if not self._writer.alive or self._writer.failing is not None:
            raise Refusal(503, "store", "the store does not commit", _RETRY_STORE)
        return answer(200, b'{"status":"ok"}')

    async def _describe(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002 - as above
        return answer(200, _DESCRIPTION)
