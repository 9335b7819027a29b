"""aiohttp's low-level server, made quiet: errors below HTTP's grammar are JSON too, and no address is ever logged."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, cast

from aiohttp import web
from aiohttp.web_protocol import _ErrInfo

from hubbub_collector.errors import Refusal
from hubbub_collector.limits.limits import Limits
from hubbub_collector.limits.patient import Patience, TooMany

log = logging.getLogger("hubbub.collector")

SERVER = "hubbub"
_JSON = {"Content-Type": "application/json", "Server": SERVER}


def answer(status: int, body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    """A JSON response, with no more in its headers than it needs."""
    return web.Response(status=status, body=body, headers=_JSON if headers is None else {**_JSON, **headers})


def refusal(refused: Refusal, headers: dict[str, str] | None = None) -> web.Response:
    """The response for ``refused``: its code and detail, Retry-After where it is worth trying again, and for 401 how to
    say who one is.
    """
    headers = dict(headers or {})
    if refused.retry_after is not None:
        headers["Retry-After"] = str(refused.retry_after)
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    body = json.dumps({"error": refused.code, "detail": refused.detail}).encode()
    return answer(refused.status, body, headers)


def unexpected(error: BaseException) -> web.Response:
    """The 500 for a defect of ours. Logs where it happened, without the error's message: that may quote an upload."""
    places = [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in traceback.extract_tb(error.__traceback__)]
    log.error("defect: %s in %s", type(error).__name__, " < ".join(reversed(places)) or "an unknown place")
    return refusal(Refusal(500, "internal", "the collector failed; nothing was stored", retry_after=60))


class _Handler(Patience, web.RequestHandler):
    """One connection."""

    __slots__ = ()

    def data_received(self, data: bytes) -> None:
        """Takes what has arrived. Framing that breaks within a body ends that body, which would wait for ever: aiohttp
        only notes the error as if it were the next request.
        """
        super().data_received(data)
        request = self._current_request
        if request is None or not self._messages or not isinstance(self._messages[-1][0], _ErrInfo):
            return
        body = request.content
        if not body.is_eof():
            body.set_exception(web.RequestPayloadError("broken framing"))
            body.feed_eof()  # nothing of it is left to wait for when it has been answered

    def handle_error(
        self,
        request: web.BaseRequest,  # noqa: ARG002 - the signature is aiohttp's
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - as above
    ) -> web.StreamResponse:
        """What is not HTTP gets a plain 400, where aiohttp would log the address and quote the request."""
        if status >= 500 and exc is not None:
            response = unexpected(exc)
        else:
            response = refusal(Refusal(status, "not-http", "the request is not well-formed HTTP/1.1"))
        response.force_close()
        return response


class QuietServer(web.Server):
    """The protocol factory for ``handler``, within ``limits``. ``refused`` is told the code of each refusal that is
    made below HTTP, before there is a request.
    """

    def __init__(
        self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], limits: Limits | None = None,
        refused: Callable[[str], object] = str, **options: Any,
    ) -> None:  # fmt: skip
        self.limits = limits or Limits()
        self.refused = refused
        self.open = 0
        """Connections that are open."""
        options.setdefault("keepalive_timeout", self.limits.idle_seconds)
        super().__init__(handler, **options)
        self._options = options

    def __call__(self) -> web.RequestHandler:
        """The handler of a new connection."""
        if self.open >= self.limits.connections:
            return cast(web.RequestHandler, TooMany(self))  # a protocol is all that a loop asks for
        return _Handler(self, loop=self._loop, **self._options)
