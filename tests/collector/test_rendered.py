"""The answer that is rendered once a second for all uploads."""

from __future__ import annotations

import asyncio
import re
import time
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from hubbub_collector import protocol
from hubbub_collector.store import SqliteStore
from hubbub_registry import Registry

from tests.collector.serving import Served, serving
from tests.collector.uploads import batch, records, stored, upload

HEAD = "POST /v1/reports HTTP/{}\r\nHost: h\r\nContent-Type: application/msgpack\r\n{}Content-Length: {}\r\n\r\n"


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "intake" / "worker-0.sqlite", late=1)


def request(registry: Registry, version: str = "1.1", header: str = "") -> bytes:
    metric = registry.metric("sketch")
    body = upload(batch(metric, records(metric, 1)))
    return HEAD.format(version, header, len(body)).encode() + body


async def answers(served: Served, sent: list[bytes]) -> list[tuple[str, dict[str, str], bytes]]:
    """Status line, headers and body of the answer to each request, sent one after the other over one connection; fewer
    where the connection is closed before.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    found = []
    try:
        for one in sent:
            writer.write(one)
            try:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            except asyncio.IncompleteReadError:
                break
            status, *lines = head.decode().strip().split("\r\n")
            headers = dict(line.split(": ", 1) for line in lines)
            found.append((status, headers, await reader.readexactly(int(headers["Content-Length"]))))
    finally:
        writer.close()
    return found


async def test_it_says_what_aiohttp_would_have_said(registry: Registry, store: SqliteStore) -> None:
    """But for the Connection header, the shared answer has the status, the headers and the body of a rendered one."""
    async with serving(registry, store) as served:
        [shared] = await answers(served, [request(registry)])
        [own] = await answers(served, [request(registry, header="Connection: close\r\n")])
    assert own[1].pop("Connection") == "close"
    dates = [parsedate_to_datetime(headers.pop("Date")).timestamp() for _, headers, _ in (shared, own)]
    assert shared == own
    assert shared[2] == b'{"status":"stored"}'
    assert all(time.time() - 60 < date <= time.time() for date in dates)


async def test_its_connection_goes_on(registry: Registry, store: SqliteStore) -> None:
    """One connection takes upload after upload, each answered by itself and each stored."""
    async with serving(registry, store) as served:
        sent = [request(registry) for _ in range(5)]
        found = await answers(served, sent)
        assert [status for status, _, _ in found] == ["HTTP/1.1 200 OK"] * 5
    reopened = SqliteStore(store.path)
    assert b"".join(stored(reopened)) == b"".join(one.partition(b"\r\n\r\n")[2] for one in sent)
    reopened.close()


@pytest.mark.parametrize(("version", "header"), [("1.1", "Connection: close\r\n"), ("1.0", "")])
async def test_who_wants_no_more_is_closed(registry: Registry, store: SqliteStore, version: str, header: str) -> None:
    """A client that closes after its request, or speaks HTTP/1.0, is answered and its connection ended."""
    async with serving(registry, store) as served:
        found = await answers(served, [request(registry, version, header), request(registry)])
    assert [status for status, _, _ in found] == [f"HTTP/{version} 200 OK"]


async def test_an_old_client_that_keeps_its_connection_is_told_so(registry: Registry, store: SqliteStore) -> None:
    """HTTP/1.0 with keep-alive gets the header that it waits for, which the shared answer does not have."""
    async with serving(registry, store) as served:
        found = await answers(served, [request(registry, "1.0", "Connection: keep-alive\r\n")] * 2)
    assert [headers["Connection"] for _, headers, _ in found] == ["keep-alive", "keep-alive"]


async def test_who_takes_no_answer_has_no_more_uploads_read(registry: Registry, store: SqliteStore) -> None:
    """While the answers of a connection pile up, the uploads behind them wait; each is stored once they are taken."""
    sent = request(registry)
    async with serving(registry, store) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        try:
            writer.write(sent)
            await reader.readuntil(b"stored")
            (connection,) = served.server.connections
            connection.pause_writing()  # as its transport does when what is written is not taken
            writer.write(sent * 4)
            await reader.readuntil(b"stored")
            await asyncio.sleep(0.2)  # what must not happen can only be waited for
            assert served.metrics()["hubbub_uploads_stored_total"] == 2
            connection.resume_writing()
            for _ in range(3):
                await asyncio.wait_for(reader.readuntil(b"stored"), 10)
        finally:
            writer.close()
    reopened = SqliteStore(store.path)
    assert len(stored(reopened)) == 5
    reopened.close()


async def test_uploads_in_one_piece_are_answered_in_order(registry: Registry, store: SqliteStore) -> None:
    """Of uploads and others that come as one packet each has its own answer, in the order that they came in."""
    good, bad = request(registry), request(registry).replace(b"/v1/reports", b"/v1/reportz")
    async with serving(registry, store) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(good + bad + good + bad + request(registry, header="Connection: close\r\n"))
        said = await asyncio.wait_for(reader.read(), 10)
        writer.close()
    assert re.findall(rb"HTTP/1.1 (\d+)", said) == [b"200", b"404", b"200", b"404", b"200"]
    reopened = SqliteStore(store.path)
    assert len(stored(reopened)) == 3
    reopened.close()


async def test_its_date_goes_on(registry: Registry, store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Date of an answer is that of its second, not of the first answer ever given."""

    class Clock:
        now = 1_000_000_000.0

        @classmethod
        def time(cls) -> float:
            return cls.now

    monkeypatch.setattr(protocol, "time", Clock)
    dates = []
    async with serving(registry, store) as served:
        for _ in range(3):
            [(_, headers, _)] = await answers(served, [request(registry)])
            dates.append(parsedate_to_datetime(headers["Date"]).timestamp())
            Clock.now += 1.5
    assert dates == [1_000_000_000.0, 1_000_000_001.0, 1_000_000_003.0]
