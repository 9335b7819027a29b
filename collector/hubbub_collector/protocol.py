"""aiohttp's low-level server, made quiet: errors below HTTP's grammar are JSON too, and no address is ever logged."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from typing import Any, cast

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
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


class Rendered(web.Response):
    """One answer for any number of requests: the whole of it is bytes that change once a second, for its date.

    aiohttp renders a response's headers anew for each request, which costs an upload a tenth of all its time.
    """

    def __init__(self, body: bytes) -> None:
        """The answer 200 with ``body``, which is JSON."""
        super().__init__(body=body, headers=_JSON)
        self._rendered = b""
        self._second = 0

    def to(self, request: web.BaseRequest) -> web.Response:
        """This answer where ``request`` leaves its connection open for more, as nearly all do; else one of its own."""
        if request.keep_alive and request.version == HttpVersion11:
            return self
        return answer(200, cast(bytes, self.body))

    @property
    def keep_alive(self) -> bool:
        """Always: see ``to``."""
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Writes all of it. Raises ConnectionError where nobody is there any more."""
        second = int(time.time())
        if second != self._second:
            self._second, self._rendered = second, self._render(second)
        writer = request.writer
        await writer.write(self._rendered)
        await writer.drain()  # who takes no answers has no more requests read
        return writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to write."""

    def _render(self, second: int) -> bytes:
        body = cast(bytes, self.body)
        fields = {**_JSON, "Content-Length": str(len(body)), "Date": formatdate(second, usegmt=True)}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + body


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
