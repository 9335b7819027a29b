"""A real collector on a disk that fails: nothing is acknowledged that is not on it, and it goes on by itself."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from pathlib import Path

import aiohttp
import pytest

from hubbub_collector.layout import DataDirectory
from hubbub_registry import Metric, load_registry

from tests.collector.faults.disk import Disk
from tests.collector.server_process import collecting, hubbub
from tests.collector.serving import MSGPACK
from tests.collector.uploads import batch, counts, records, registry_file, sealed, split, upload


class Sender:
    """Sends uploads of a few records, and remembers those that were acknowledged."""

    def __init__(self, url: str, metric: Metric) -> None:
        self._url = url
        self._metric = metric
        self.kept: list[bytes] = []
        self.refused: list[bytes] = []

    async def send(self) -> tuple[int, object]:
        """The status and the error of one upload."""
        content = records(self._metric, 20)
        body = upload(batch(self._metric, content, int(time.time() // self._metric.period)))
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self._url}/v1/reports", data=body, headers=MSGPACK) as answer,
        ):
            (self.kept if answer.status == 200 else self.refused).extend(split(content, self._metric))
            return answer.status, (await answer.json()).get("error")

    async def healthy(self) -> int:
        """The status of /healthz."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._url}/healthz") as answer:
            return answer.status

    async def until_stored(self) -> None:
        """Sends until an upload is acknowledged."""
        async with asyncio.timeout(30):
            while (await self.send())[0] != 200:
                await asyncio.sleep(0.1)


@pytest.mark.parametrize(("kind", "status", "error"), [("fsync", 503, "store"), ("full", 507, "disk-full")])
async def test_a_failing_disk_is_told_and_got_over(tmp_path: Path, kind: str, status: int, error: str) -> None:
    """While fsync or writing fails no upload is acknowledged and /healthz is 503; after that it goes on by itself. What
    was acknowledged before and after is sealed exactly once, also where everything is killed right then; after a failed
    fsync nothing is acknowledged before the database itself, and not only its log, was synced.
    """
    registry = registry_file(tmp_path)
    metric = load_registry(registry).metric("sketch")
    data = DataDirectory(tmp_path / "data")
    faults = tmp_path / "faults"
    faults.mkdir()
    disk = Disk(faults, data.root)
    with collecting(registry, data.root, environment=disk.environment) as collector:
        sender = Sender(collector.url, metric)
        assert (await sender.send())[0] == 200
        disk.fail(kind)
        for _ in range(3):
            assert await sender.send() == (status, error)
        assert await sender.healthy() == 503
        await asyncio.sleep(1.2)  # the collector has tried by itself
        assert await sender.send() == (status, error)
        disk.recover(kind)
        await sender.until_stored()
        assert await sender.healthy() == 200
        if kind == "fsync":
            log = disk.log()
            last = max(place for place, (outcome, _) in enumerate(log) if outcome == "failed")
            after = [name for _, name in log[last + 1 :]]
            assert after.index("worker-0.sqlite") < len(after) - 1 - after[::-1].index("worker-0.sqlite-wal")
        assert (await sender.send())[0] == 200
        collector.kill_all()
    seal = hubbub("seal", str(registry), "--data", str(data.root), "--all", "--min-batch", "1")
    assert seal.returncode == 0, seal.stderr
    found = counts(sealed(data, metric))
    assert Counter(sender.kept) - found == Counter()
    assert set(found) <= {*sender.kept, *sender.refused}
    assert set(found.values()) == {1}
