"""How long a connection may take, and how many there may be. A part of the connection's handler in protocol.py."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from aiohttp import web

from hubbub_collector.errors import Refusal

if TYPE_CHECKING:
    from hubbub_collector.protocol import QuietServer

_TOO_MANY = Refusal(503, "connections", "too many connections are open", retry_after=5)
_HEAD_SLOW = Refusal(408, "head-too-slow", "the head of the request did not arrive in time", retry_after=1)
_HEAD_LARGE = Refusal(431, "head-too-large", "the head of the request is too large")


class Patience(web.RequestHandler):
    """Ends a connection whose head trickles in or is too large, one that does not take its answers, and one too many.

    A body that trickles in is ended by ``body.read_body``, an idle connection by aiohttp. Nothing here costs a request
    more than a comparison, as long as its head arrives in one piece.
    """

    __slots__ = ("_answer_timer", "_counted", "_head_bytes", "_head_timer", "_quiet")

    def __init__(self, manager: QuietServer, **options: Any) -> None:
        super().__init__(manager, **options)
        self._quiet = manager
        self._counted = False
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Takes the connection, or ends it with a 503 where there are too many."""
        if self._quiet.open >= self._quiet.limits.connections:
            _turn_away(self._quiet, transport)
            return
        self._counted = True
        self._quiet.open += 1
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Gives the connection's place to the next."""
        if not self._counted:
            return
        self._counted = False
        self._quiet.open -= 1
        self._head_arrived()
        self._answers_taken()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Takes what has arrived, and watches over a head that is not complete."""
        super().data_received(data)
        waiter = self._waiter
        if waiter is None or waiter.done():  # a request is being answered, or has just become complete
            if self._head_timer is not None:
                self._head_arrived()
            return
        limits = self._quiet.limits
        self._head_bytes += len(data)
        if self._head_bytes > limits.head:
            self._end(_HEAD_LARGE)
        elif self._head_timer is None:
            self._head_timer = self._loop.call_later(limits.head_seconds, self._end, _HEAD_SLOW)

    def pause_writing(self) -> None:
        """The other side takes no answers: they wait in memory. That may not last."""
        super().pause_writing()
        self._answer_timer = self._loop.call_later(self._quiet.limits.answer_seconds, self._abort)

    def resume_writing(self) -> None:
        """It does take them."""
        self._answers_taken()
        super().resume_writing()

    def _answers_taken(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None

    def _head_arrived(self) -> None:
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end(self, refused: Refusal) -> None:
        self._head_arrived()
        self._quiet.refused(refused.code)
        if self.transport is not None:
            self.transport.write(plain(refused))
        self.force_close()

    def _abort(self) -> None:
        self._quiet.refused("answer-not-taken")
        if self.transport is not None:
            self.transport.abort()


class TooMany(asyncio.Protocol):
    """A connection for which there is no room: told so, and closed. A handler would cost ten times as much."""

    def __init__(self, quiet: QuietServer) -> None:
        self._quiet = quiet

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Answers at once, whatever comes."""
        _turn_away(self._quiet, transport)


def _turn_away(quiet: QuietServer, transport: asyncio.BaseTransport) -> None:
    quiet.refused(_TOO_MANY.code)
    cast(asyncio.WriteTransport, transport).write(_TOO_MANY_PLAIN)
    transport.close()


def plain(refused: Refusal) -> bytes:
    """The whole answer for ``refused``, for a connection that has no request yet and ends with it."""
    body = json.dumps({"error": refused.code, "detail": refused.detail})
    retry = "" if refused.retry_after is None else f"Retry-After: {refused.retry_after}\r\n"
    head = f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}\r\nContent-Type: application/json\r\n"
    return f"{head}Server: hubbub\r\n{retry}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


_TOO_MANY_PLAIN = plain(_TOO_MANY)
