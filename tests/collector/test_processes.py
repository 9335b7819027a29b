"""What the collector promises as processes: kills, stops, workers, locks."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections import Counter
from pathlib import Path

import aiohttp
import pytest

from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_registry import Metric, load_registry

from tests.collector.server_process import collecting, hubbub
from tests.collector.serving import MSGPACK, metric_values
from tests.collector.uploads import batch, counts, random_record, registry_file, sealed, upload


class Load:
    """Uploads of one unique record each; remembers which were tried and which acknowledged."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.tried: set[bytes] = set()
        self.acknowledged: dict[bytes, bytes] = {}
        self.refused: list[int] = []
        self.lost = 0

    async def run(self, url: str, senders: int, until: asyncio.Event) -> None:
        """Keeps ``senders`` connections busy until told to stop, or the server is gone."""

        async def send(session: aiohttp.ClientSession) -> None:
            while not until.is_set():
                record = random_record(self.metric)
                body = upload(batch(self.metric, record, int(time.time() // self.metric.period)))
                self.tried.add(record)
                try:
                    async with session.post(f"{url}/v1/reports", data=body, headers=MSGPACK) as answer:
                        if answer.status == 200:
                            self.acknowledged[record] = body
                        else:
                            self.refused.append(answer.status)
                            return
                except aiohttp.ClientError:
                    self.lost += 1
                    return

        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*[send(session) for _ in range(senders)])


def check_sealed(data: DataDirectory, load: Load) -> None:
    """Every acknowledged record is sealed, none twice, and none that was never sent."""
    found = counts(sealed(data, load.metric))
    assert set(load.acknowledged) - set(found) == set()
    assert set(found) - load.tried == set()
    assert set(found.values()) <= {1}


async def test_sigterm_finishes_what_is_in_flight(tmp_path: Path) -> None:
    """Uploads whose bodies are half sent when SIGTERM comes are completed and acknowledged; the exit status is 0."""
    registry = registry_file(tmp_path)
    metric = load_registry(registry).metric("sketch")
    data = DataDirectory(tmp_path / "data")
    load = Load(metric)
    with collecting(registry, data.root, "--workers", "2") as collector:
        until = asyncio.Event()
        running = asyncio.create_task(load.run(collector.url, 8, until))
        halves = []
        for _ in range(6):
            record = random_record(metric)
            body = upload(batch(metric, record, int(time.time() // metric.period)))
            load.tried.add(record)
            reader, writer = await asyncio.open_connection("127.0.0.1", collector.port)
            head = f"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: {MSGPACK['Content-Type']}\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:20])
            halves.append((record, body, reader, writer))
        await asyncio.sleep(0.4)
        collector.process.terminate()
        await asyncio.sleep(0.3)
        assert collector.process.poll() is None
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", collector.port)
        for record, body, reader, writer in halves:
            writer.write(body[20:])
            answer = await asyncio.wait_for(reader.readuntil(b"}"), 10)
            assert answer.startswith(b"HTTP/1.1 200 ")
            load.acknowledged[record] = body
            writer.close()
        assert await asyncio.to_thread(collector.process.wait, 30) == 0
        until.set()
        await running
    assert len(load.acknowledged) > 50
    assert set(load.refused) <= {503}
    done = hubbub("seal", str(registry), "--data", str(data.root), "--all", "--min-batch", "1", "--json")
    assert done.returncode == 0, done.stderr
    check_sealed(data, load)


async def post_fresh(url: str, body: bytes) -> int:
    """The status of an upload over a connection of its own, which the kernel gives to any worker."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/reports", data=body, headers=MSGPACK) as answer,
    ):
        return answer.status


async def totals(admin: str) -> dict[str, float]:
    """The /metrics page over a connection of its own."""
    async with aiohttp.ClientSession() as session, session.get(f"{admin}/metrics") as answer:
        return metric_values(await answer.text())


async def test_workers_share_a_port_and_count_together(tmp_path: Path) -> None:
    """Uploads reach more than one worker's store; /metrics adds them up; the same upload sent to both is sealed once;
    and a worker that is killed is started again without its counts being lost.
    """
    registry = registry_file(tmp_path)
    metric = load_registry(registry).metric("sketch")
    data = DataDirectory(tmp_path / "data")
    record = random_record(metric)
    body = upload(batch(metric, record, int(time.time() // metric.period)))
    with collecting(registry, data.root, "--workers", "2", "--admin", "127.0.0.1:0") as collector:
        admin = collector.admin()
        for _ in range(24):  # each goes to one of two at random: all to one with probability 2^-23 at most
            assert await post_fresh(collector.url, body) == 200
        assert (await totals(admin))["hubbub_uploads_stored_total"] == 24
        before = collector.workers()
        os.kill(before[0], signal.SIGKILL)
        async with asyncio.timeout(20):
            while len(now := collector.workers()) < 2 or before[0] in now:
                await asyncio.sleep(0.05)
            while True:
                try:
                    assert await post_fresh(collector.url, body) == 200
                    break
                except aiohttp.ClientError:
                    await asyncio.sleep(0.05)
        values = await totals(admin)
        assert values["hubbub_uploads_stored_total"] == 25
        assert collector.stop() == 0
    for worker in range(2):
        assert data.worker_store(worker).exists()
    done = hubbub("seal", str(registry), "--data", str(data.root), "--all", "--min-batch", "1")
    assert done.returncode == 0, done.stderr
    assert "25 batches taken from the intake, 24 of them repeats" in done.stdout
    assert counts(sealed(data, metric)) == Counter([record])


def test_a_second_collector_refuses(tmp_path: Path) -> None:
    """A directory in use, and a port in use, are refused at once with a clear error, and the first goes on."""
    registry = registry_file(tmp_path)
    with collecting(registry, tmp_path / "data") as collector:
        second = hubbub("collect", str(registry), "--data", str(tmp_path / "data"), "--port", "0")
        assert second.returncode == 1
        assert "another collector is using this data directory" in second.stderr
        third = hubbub("collect", str(registry), "--data", str(tmp_path / "other"), "--port", str(collector.port))
        assert third.returncode == 1
        assert "cannot be listened on" in third.stderr
        # The workers hold the lock too: a directory whose parent was killed stays locked until they have gone.
        collector.process.kill()
        collector.process.wait(10)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", collector.port)):
                    break
            time.sleep(0.05)
        while time.monotonic() < deadline:
            try:
                with exclusive(tmp_path / "data" / "collector.lock", "collector"):
                    return
            except Exception:  # noqa: BLE001 - still going
                time.sleep(0.05)
        pytest.fail("the workers outlived their parent")


@pytest.mark.parametrize("command", ["collect", "seal"])
def test_a_bad_registry_is_an_error_in_one_place(tmp_path: Path, command: str) -> None:
    """A registry that cannot be read ends either command with status 1 and no stack trace."""
    done = hubbub(command, str(tmp_path / "missing.toml"), "--data", str(tmp_path / "data"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"hubbub {command}: error: ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()
