"""What a worker knows before it takes its first upload, and what it does not wait for."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from pathlib import Path

import aiohttp

from hubbub_collector.sockets import bound_socket
from hubbub_collector.sqlite_store import SqliteStore
from hubbub_collector.upload import Validator
from hubbub_collector.window import Window
from hubbub_collector.worker import WorkerSettings, serve
from hubbub_registry import Registry

from tests.collector.serving import MSGPACK, FakeStore
from tests.collector.uploads import DAY, NOW, TODAY, batch, records, upload


class Closed(FakeStore):
    """A store that has closed everything before tomorrow."""

    def closed(self) -> int:
        return (int(time.time()) // DAY + 1) * DAY


async def test_what_is_closed_is_refused_from_the_first_upload_on(registry: Registry) -> None:
    """A period whose upload ids may be forgotten is refused by the very first answer of a worker."""
    validator = Validator(registry.metrics.values(), Window(late=10_000 * DAY))
    settings = WorkerSettings("", "", 0, "127.0.0.1", 0, 0, 1 << 20, 1 << 20, None, 1 << 20)
    stop, started = asyncio.Event(), asyncio.Event()
    body = upload(batch(registry.metric("choice"), b"\x01", int(time.time()) // DAY))
    with bound_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        served = asyncio.create_task(serve(settings, validator, Closed(), listening, stop, started.set))
        await started.wait()
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"http://127.0.0.1:{port}/v1/reports", data=body, headers=MSGPACK) as answer,
        ):
            assert (answer.status, (await answer.json())["error"]) == (400, "period-too-late")
        stop.set()
        await served


def test_thousands_of_batches_outside_the_window_are_counted_and_not_kept(registry: Registry) -> None:
    """Batches that are left out leave a number behind for each reason, and no exception, however many they are."""
    choice, sketch = registry.metric("choice"), registry.metric("sketch")
    old = [batch(choice, b"\x01", TODAY - 400 - i) for i in range(2000)]
    early = [batch(choice, b"\x01", TODAY + 400 + i) for i in range(1000)]
    checked = Validator(registry.metrics.values(), Window()).check(
        upload(*old, *early, batch(sketch, records(sketch, 1))), NOW
    )
    assert checked.outside == {"period-too-late": 2000, "period-too-early": 1000}
    assert [each.fingerprint for each in checked.known] == [sketch.fingerprint]


def test_somebody_who_reads_keeps_no_worker_from_starting(tmp_path: Path) -> None:
    """While a long read is under way a store opens all the same; its commits wait until what was there is settled."""
    path = tmp_path / "worker-0.sqlite"
    with contextlib.closing(SqliteStore(path, late=DAY)) as store:
        store.commit([b"one"])
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM groups").fetchone() == (1,)
        store.commit([b"two"])
        again = SqliteStore(path, late=DAY)
        assert (again._unsettled, again.used_bytes() > 0) == (True, True)
        reader.execute("COMMIT")
        reader.close()
        again.commit([b"three"])
        assert (again._unsettled, again.used_bytes() > 0) == (False, True)
        again.close()
