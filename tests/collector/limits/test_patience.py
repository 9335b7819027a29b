"""Slow, silent and deaf clients, and too many of them, on raw sockets."""

from __future__ import annotations

import asyncio
import functools
import json
import socket
from collections.abc import Callable, Coroutine

import pytest
import uvloop

from hubbub_collector.limits.limits import Limits
from hubbub_registry import Registry

from tests.collector.serving import FakeStore, Served, serving
from tests.collector.uploads import batch, records, upload

HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def on_uvloop(test: Callable[..., Coroutine[None, None, None]]) -> Callable[..., None]:
    """Runs a test on the loop that a worker runs on: how connections end is the loop's affair."""

    @functools.wraps(test)
    def run(*arguments: object, **named: object) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(test(*arguments, **named))

    return run


def good(registry: Registry) -> bytes:
    metric = registry.metric("sketch")
    return upload(batch(metric, records(metric, 1)))


async def connect(served: Served) -> Streams:
    return await asyncio.open_connection("127.0.0.1", served.port)


async def rest(streams: Streams) -> tuple[int, str]:
    """The status and the code of the answer after which the server ends the connection; (0, "") for no answer."""
    reader, writer = streams
    try:
        said = await asyncio.wait_for(reader.read(), 10)
    except ConnectionResetError:
        # Who goes on sending after the answer is reset, and the stream then hides what came before.
        said = bytes(reader._buffer)  # type: ignore[attr-defined]
    finally:
        writer.close()
    if not said:
        return 0, ""
    head, _, body = said.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


async def trickle(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Sends a byte at a time, for as long as somebody takes them."""
    for byte in content:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.01)
        if writer.is_closing():
            return


@on_uvloop
async def test_a_head_that_trickles_in_is_given_up(registry: Registry) -> None:
    """A head that is not whole in its time is answered 408 though bytes keep coming, and the connection ends."""
    async with serving(registry, FakeStore(), limits=Limits(head_seconds=0.2)) as served:
        streams = await connect(served)
        sending = asyncio.create_task(trickle(streams[1], HEAD * 100))
        assert await rest(streams) in ((408, "head-too-slow"), (0, ""))  # a byte on its way may undo the answer
        sending.cancel()
        assert served.metrics()['hubbub_uploads_refused_total{code="head-too-slow"}'] == 1
        assert served.server.open == 0


@on_uvloop
async def test_the_next_head_on_a_connection_is_watched_as_well(registry: Registry) -> None:
    """A connection whose first requests were quick is no safer, and their heads do not count against the next one."""
    async with serving(registry, FakeStore(), limits=Limits(head_seconds=0.2, head=400)) as served:
        reader, writer = await connect(served)
        body = good(registry)
        for _ in range(4):  # each in two pieces of its head, over 400 bytes together
            request = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
            writer.write(request[:60])
            await asyncio.sleep(0.01)
            writer.write(request[60:])
            assert (await reader.readuntil(b'"}')).startswith(b"HTTP/1.1 200 ")
        await asyncio.sleep(0.3)  # longer than a head may take, and no head has begun
        writer.write(HEAD)
        assert await rest((reader, writer)) == (408, "head-too-slow")


@on_uvloop
async def test_a_head_without_end_is_refused(registry: Registry) -> None:
    """A head over the limit is answered 431 however many pieces it comes in."""
    async with serving(registry, FakeStore(), limits=Limits(head=950)) as served:
        reader, writer = await connect(served)
        writer.write(HEAD)
        for number in range(16):  # and no more, which would meet a closed connection
            writer.write(f"X-{number}: {'y' * 50}\r\n".encode())
            await asyncio.sleep(0.001)
        assert await rest((reader, writer)) == (431, "head-too-large")


@on_uvloop
async def test_a_body_that_trickles_in_is_given_up(registry: Registry) -> None:
    """The time for a body is for all of it: one that always sends another byte is answered 408 all the same."""
    async with serving(registry, FakeStore(), limits=Limits(body_seconds=0.2)) as served:
        streams = await connect(served)
        streams[1].write(HEAD + b"Content-Length: 5000\r\n\r\n")

        async def send_until_it_is_refused() -> None:
            # A byte that comes after the answer resets the connection, and may undo the answer on its way.
            while not served.intake.running:
                await asyncio.sleep(0.01)
            while served.intake.running:
                streams[1].write(b"x")
                await asyncio.sleep(0.01)

        sending = asyncio.create_task(send_until_it_is_refused())
        assert await rest(streams) == (408, "too-slow")
        await sending
        assert served.intake.arriving.held == 0


@pytest.mark.parametrize("after", [b"", b"whole"], ids=["never a request", "after a request"])
@on_uvloop
async def test_an_idle_connection_is_closed(registry: Registry, after: bytes) -> None:
    """A connection on which nothing comes is closed without a word, whether it has had a request or not."""
    async with serving(registry, FakeStore(), limits=Limits(idle_seconds=0.2)) as served:
        reader, writer = await connect(served)
        if after:
            body = good(registry)
            writer.write(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert (await reader.readuntil(b'"}')).startswith(b"HTTP/1.1 200 ")
        assert await rest((reader, writer)) == (0, "")
        assert served.server.open == 0


@on_uvloop
async def test_one_connection_too_many_is_told_so(registry: Registry) -> None:
    """Past the limit a connection gets 503 and is closed; the others go on, and one that ends makes room."""
    async with serving(registry, FakeStore(), limits=Limits(connections=2)) as served:
        held = [await connect(served) for _ in range(2)]
        assert await rest(await connect(served)) == (503, "connections")
        body = good(registry)
        request = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
        held[0][1].write(request)
        assert (await held[0][0].readuntil(b'"}')).startswith(b"HTTP/1.1 200 ")
        held[1][1].close()
        async with asyncio.timeout(10):
            while served.server.open > 1:
                await asyncio.sleep(0.01)
        reader, writer = await connect(served)
        writer.write(request)
        assert (await reader.readuntil(b'"}')).startswith(b"HTTP/1.1 200 ")
        assert served.metrics()["hubbub_connections"] == 2
        for _, open_writer in (held[0], (reader, writer)):
            open_writer.close()


@on_uvloop
async def test_many_connections_at_once_do_not_pass_the_limit(registry: Registry) -> None:
    """Of many that come in one moment exactly as many are let in as there may be, and each of the others is told."""
    async with serving(registry, FakeStore(), limits=Limits(connections=5)) as served:
        every = await asyncio.gather(*[connect(served) for _ in range(40)])
        async with asyncio.timeout(10):
            while served.metrics().get('hubbub_uploads_refused_total{code="connections"}') != 35:
                await asyncio.sleep(0.01)
        assert served.server.open == 5
        for _, writer in every:
            writer.close()
        async with asyncio.timeout(10):
            while served.server.open:
                await asyncio.sleep(0.01)


@on_uvloop
async def test_a_client_that_takes_no_answers_is_cut_off(registry: Registry) -> None:
    """Requests without end from one that reads nothing stop being read, their answers do not pile up, and the
    connection is aborted.
    """
    async with serving(registry, FakeStore(), limits=Limits(answer_seconds=0.3)) as served:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(deaf, ("127.0.0.1", served.port))

            async def send_for_ever() -> None:
                while True:
                    await loop.sock_sendall(deaf, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 500)

            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                await asyncio.wait_for(send_for_ever(), 20)
        assert served.metrics()['hubbub_uploads_refused_total{code="answer-not-taken"}'] == 1
        assert served.server.open == 0


@on_uvloop
async def test_bodies_that_arrive_share_a_budget(registry: Registry) -> None:
    """Past the budget for unfinished bodies an upload gets 503 and Retry-After; a body may have it to itself, what
    comes whole needs none of it, and what ends gives its share back.
    """
    store = FakeStore()
    body = good(registry)
    async with serving(registry, store, limits=Limits(arriving=3000)) as served:
        first = await connect(served)
        first[1].write(HEAD + b"Content-Length: 9000\r\n\r\n" + bytes(2500))
        async with asyncio.timeout(10):
            while served.intake.arriving.held < 2500:
                await asyncio.sleep(0.01)
        second = await connect(served)
        second[1].write(HEAD + b"Content-Length: 9000\r\n\r\n" + bytes(600))
        assert await rest_of_one(second) == (503, "arriving-full", "1")
        assert (await served.post(body))[0] == 200
        first[1].write(bytes(5000))  # more than the budget, which nobody else uses
        async with asyncio.timeout(10):
            while served.intake.arriving.held < 7500:
                await asyncio.sleep(0.01)
        first[1].close()
        async with asyncio.timeout(10):
            while served.intake.arriving.held:
                await asyncio.sleep(0.01)
    assert store.bodies == [body]


async def rest_of_one(streams: Streams) -> tuple[int, str, str]:
    """The status, the code and Retry-After of the next answer."""
    reader, writer = streams
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode()
    said = json.loads(await asyncio.wait_for(reader.readuntil(b"}"), 10))
    writer.close()
    retry = next(line.split(": ")[1] for line in head.splitlines() if line.startswith("Retry-After"))
    return int(head.split()[1]), said["error"], retry
