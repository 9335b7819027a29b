"""Reads a request's body within limits of size and time."""

from __future__ import annotations

import asyncio

from aiohttp import web

from hubbub_collector.errors import Refusal
from hubbub_collector.limits.arriving import Arriving

MEDIA_TYPE = "application/msgpack"
JSON = "application/json"
BROKEN = "body-broken"


def check_headers(request: web.BaseRequest, limit: int, kind: str = MEDIA_TYPE) -> None:
    """Refuses, before any of the body is read, what is not plain ``kind`` of at most ``limit`` bytes (415, 413)."""
    headers = request.headers
    declared = headers.get("Content-Type", "")
    if declared != kind and declared.partition(";")[0].strip().lower() != kind:
        raise Refusal(415, "media-type", f"send Content-Type: {kind}")
    if headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise Refusal(415, "content-encoding", "send the body as it is: reports do not compress")
    length = request.content_length
    if length is not None and length > limit:
        raise _too_large(limit)


async def read_body(request: web.BaseRequest, limit: int, seconds: float, arriving: Arriving) -> bytes:
    """The body, however it is framed. Raises Refusal: 413 past ``limit`` bytes, 408 past ``seconds``, 503 where
    ``arriving`` has no room for it, 400 if broken.
    """
    content = request.content
    held = 0
    try:
        if content.is_eof():  # the usual case: it came together with the headers
            body = content.read_nowait()
            if len(body) > limit:
                raise _too_large(limit)
            return body
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # what follows is the first byte of the real answer
        received = bytearray()
        async with asyncio.timeout(seconds):
            while chunk := await content.readany():
                if len(received) + len(chunk) > limit:
                    raise _too_large(limit)
                arriving.take(len(chunk), held)
                held += len(chunk)
                received += chunk
        return bytes(received)
    except TimeoutError:
        raise Refusal(408, "too-slow", f"the body did not arrive within {seconds:g} seconds", retry_after=1) from None
    except web.RequestPayloadError:
        raise Refusal(400, BROKEN, "the body is not framed as its headers say") from None
    finally:
        if held:
            arriving.give_back(held)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, "too-large", f"an upload is at most {limit} bytes; send fewer records at once")
