"""The one address that takes ciphertexts, and the service's health: the handler of every request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from hubbub_collector.body import BROKEN, check_headers, read_body
from hubbub_collector.errors import Refusal, StoreError, StoreFullError
from hubbub_collector.limits.arriving import Arriving
from hubbub_collector.limits.limits import Limits
from hubbub_collector.openapi import PATH as DESCRIBED
from hubbub_collector.openapi.sealed import sealed_rendered
from hubbub_collector.protocol import answer, refusal, unexpected
from hubbub_collector.writer import Writer

STORED = b'{"status":"stored"}'
_RETRY_FULL = 60
_RETRY_STORE = 5


class Endpoint:
    """POST ``path``, GET /healthz and GET /openapi.json. ``admit`` sees a request before its body is read, and ``take``
    gets the body; both may raise Refusal. ``refused`` is told the code of each refusal; nothing else of a request is
    kept.
    """

    def __init__(
        self, path: str, admit: Callable[[web.BaseRequest], object], take: Callable[[bytes], Awaitable[None]],
        refused: Callable[[str], object], writer: Writer, limits: Limits,
    ) -> None:  # fmt: skip
        self._path = path
        self._description = sealed_rendered(path)
        self._admit = admit
        self._take = take
        self._writer = writer
        self._limits = limits
        self.arriving = Arriving(limits.arriving)
        self.refused = refused
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
            self.refused(refused.code)
            response = refusal(refused)
            if refused.code in (BROKEN, "stopping"):
                response.force_close()
            return response
        except ConnectionError:
            return refusal(Refusal(400, "gone", "the connection was lost"))  # nobody is there to read it
        except Exception as error:  # noqa: BLE001 - the last place where a stack trace can be kept from a stranger
            return unexpected(error)
        finally:
            self.running -= 1

    async def _route(self, request: web.BaseRequest) -> web.Response:
        method = {self._path: "POST", "/healthz": "GET", DESCRIBED: "GET"}.get(request.path)
        if method is None:
            raise Refusal(404, "not-found", f"send to {self._path}")
        if request.method != method:
            self.refused("method")
            return refusal(Refusal(405, "method", f"this address takes {method}"), {"Allow": method})
        if self.stopping:
            raise Refusal(503, "stopping", "the server is stopping", retry_after=5)
        if request.path == DESCRIBED:
            return answer(200, self._description)
        if method == "GET":
            if not self._writer.alive or self._writer.failing is not None:
                raise Refusal(503, "store", "the store does not commit", _RETRY_STORE)
            return answer(200, b'{"status":"ok"}')
        self._admit(request)
        check_headers(request, self._limits.body)
        await self._take(await read_body(request, self._limits.body, self._limits.body_seconds, self.arriving))
        return answer(200, STORED)


def raise_for(error: StoreError | None) -> None:
    """Raises the Refusal for an upload whose commit failed with ``error``; nothing where it is None."""
    if isinstance(error, StoreFullError):
        raise Refusal(507, "disk-full", "the disk is full; nothing was stored", _RETRY_FULL)
    if error is not None:
        raise Refusal(503, "store", "it could not be stored; nothing was kept", _RETRY_STORE)
