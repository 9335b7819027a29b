"""What a client can do to make a worker take memory. Each attack uses every connection that the worker lets it have,
and returns once they have all done their worst.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable

from hubbub_collector.upload import Batch, pack
from hubbub_registry import Metric

Attack = Callable[[int, int, int, Metric], Awaitable[None]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\n"
SECONDS = 0.4


async def slow_bodies(port: int, connections: int, body: int, metric: Metric) -> None:
    """Each sends all but the last byte of the largest body, and waits."""
    await _all(port, connections, [HEAD + b"Content-Length: %d\r\n\r\n" % body + bytes(body - 1)])


async def tiny_chunks(port: int, connections: int, body: int, metric: Metric) -> None:
    """Each sends a body in chunks of one byte."""
    await _all(port, connections, [HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 15_000])


async def pipelined_heads(port: int, connections: int, body: int, metric: Metric) -> None:
    """Each sends requests without end, with large heads, behind one that waits for its body, and reads nothing."""
    first = HEAD + b"Content-Length: 2\r\n\r\nx"
    heads = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Filler: " + b"y" * 7000 + b"\r\n\r\n"
    await _all(port, connections, [first, b"x" + heads * 200])


async def tiny_requests(port: int, connections: int, body: int, metric: Metric) -> None:
    """Each sends the smallest requests without end, and reads nothing."""
    await _all(port, connections, [b"GET /healthz HTTP/1.1\r\n\r\n" * 20_000])


async def nested_bodies(port: int, connections: int, body: int, metric: Metric) -> None:
    """Each sends a body that the parser takes the most memory for."""
    nested = b"\xdd\x00\x00\x0f\xff" * (body // 5)
    await _all(port, connections, [HEAD + b"Content-Length: %d\r\n\r\n" % len(nested) + nested])


async def many_batches(port: int, connections: int, body: int, metric: Metric) -> None:
    """Each sends uploads of as many unknown batches as one may have."""
    strange = pack(os.urandom(16), [Batch(os.urandom(8), 7, b"x") for _ in range(4096)])
    await _all(port, connections, [HEAD + b"Content-Length: %d\r\n\r\n" % len(strange) + strange])


async def large_uploads(port: int, connections: int, body: int, metric: Metric) -> None:
    """Each sends the largest uploads there are, of records of a metric that is known."""
    period = 0  # refused for its period, after it was parsed
    width = metric.device.record_bytes
    whole = pack(os.urandom(16), [Batch(metric.fingerprint, period, bytes((body - 100) // width * width))])
    await _all(port, connections, [HEAD + b"Content-Length: %d\r\n\r\n" % len(whole) + whole] * 4)


ATTACKS: tuple[Attack, ...] = (
    slow_bodies, tiny_chunks, pipelined_heads, tiny_requests, nested_bodies, many_batches, large_uploads
)  # fmt: skip


async def _all(port: int, connections: int, sent: list[bytes]) -> None:
    async def one(streams: Streams) -> None:
        _, writer = streams
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(SECONDS):
                for piece in sent:
                    writer.write(piece)
                    await writer.drain()
                await asyncio.sleep(SECONDS)

    opened = [await asyncio.open_connection("127.0.0.1", port, limit=1024) for _ in range(connections)]
    await asyncio.gather(*map(one, opened))
    for _, writer in opened:
        writer.transport.abort()
