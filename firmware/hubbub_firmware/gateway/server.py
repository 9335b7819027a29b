"""The web server that network servers post to. 2xx means on stable storage, or that no repetition would help."""

from __future__ import annotations

import asyncio
import hmac
import sqlite3
from collections.abc import Awaitable, Callable

from aiohttp import web
from prometheus_client import generate_latest

from hubbub_firmware.gateway.counters import GatewayCounters
from hubbub_firmware.gateway.frames import ClockError, FrameError
from hubbub_firmware.gateway.intake import Intake
from hubbub_firmware.gateway.store import FullError
from hubbub_firmware.gateway.webhooks import KINDS, WebhookError, read_webhook

_MOST_BYTES = 1 << 16
_RETRY_SECONDS = "30"


def application(intake: Intake, counters: GatewayCounters, secret: bytes) -> web.Application:
    """The routes: ``/v1/uplinks/<kind>`` for network servers that know ``secret``, ``/healthz`` and ``/metrics``."""

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(counters.registry), content_type="text/plain", charset="utf-8")

    async def healthz(_request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    app = web.Application(client_max_size=_MOST_BYTES)
    for kind in KINDS:
        app.router.add_post(f"/v1/uplinks/{kind}", _handler(kind, intake, secret))
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/healthz", healthz)
    return app


def _handler(kind: str, intake: Intake, secret: bytes) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, b"Bearer " + secret):
            intake.refuse("secret")
            return _answer(401, "secret", "the Authorization header is not the gateway's secret")
        try:
            uplink = read_webhook(kind, await request.read())
        except WebhookError as error:
            intake.refuse("webhook")
            return _answer(400, "webhook", str(error))
        if uplink is None:
            return web.json_response({"status": "ignored"})
        # 202 for a frame that never will be taken: the network server did its part, and is not to try again.
        try:
            outcome = await asyncio.to_thread(intake.take, uplink.frame, uplink.port, uplink.repetition)
        except FrameError as error:
            return _answer(202, error.reason, str(error))
        except ClockError as error:
            return _answer(503, "clock", str(error))
        except FullError as error:
            return _answer(503, "full", str(error))
        except sqlite3.Error:
            return _answer(503, "storage", "it could not be stored")
        return web.json_response({"status": outcome})

    return handle


def _answer(status: int, error: str, detail: str) -> web.Response:
    headers = {"Retry-After": _RETRY_SECONDS} if status == 503 else None
    return web.json_response({"error": error, "detail": detail}, status=status, headers=headers)
