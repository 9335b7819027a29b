"""The bound on a worker's memory, against its settings and against those who try to pass it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from hubbub_collector.limits.memory import memory_bound
from hubbub_registry import load_registry

from tests.collector.limits.attacks import ATTACKS
from tests.collector.server_process import collecting
from tests.collector.uploads import registry_file

CONNECTIONS, BODY, QUEUE = 48, 512 << 10, 4 << 20
ARGUMENTS = ("--connections", str(CONNECTIONS), "--max-body", "512K", "--queue", "4M", "--log", "json")


def peak(pid: int) -> int:
    """The most memory that a process has had resident, in bytes."""
    found = re.search(r"VmHWM:\s+([0-9]+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) << 10


async def healthy(port: int) -> bool:
    """Whether the worker answers, over a connection that has become free again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return (await reader.read()).startswith(b"HTTP/1.1 200 ")
    except ConnectionError:
        return False
    finally:
        writer.close()


def test_each_setting_is_in_the_bound() -> None:
    """The bound is the fixed part plus what each setting adds: connections, both budgets, and bodies."""
    bound = memory_bound(connections=1, body=1024, queue=1 << 20)
    assert memory_bound(connections=3, body=1024, queue=1 << 20) - bound == 2 * (800 << 10)
    assert memory_bound(connections=1, body=1024, queue=3 << 20) - bound == 2 * 2 * (1 << 20)
    assert memory_bound(connections=1, body=2048, queue=1 << 20) - bound == 74 * 1024
    assert memory_bound(connections=2, body=1024, queue=1 << 20, tls=True) - bound == (800 << 10) + 2 * (320 << 10)
    assert memory_bound(connections=1, body=1024, queue=1 << 20, rate=True) - bound == 16 << 20


async def test_no_client_passes_the_bound(tmp_path: Path) -> None:
    """With every connection doing its worst, in each of several ways, the worker's peak stays under the bound, and it
    serves on.
    """
    registry = registry_file(tmp_path)
    metric = load_registry(registry).metric("sketch")
    with collecting(registry, tmp_path / "data", *ARGUMENTS) as collector:
        (worker,) = collector.workers()
        before = peak(worker)
        for attack in ATTACKS:
            await attack(collector.port, CONNECTIONS, BODY, metric)
            async with asyncio.timeout(30):
                while not await healthy(collector.port):
                    await asyncio.sleep(0.1)
        bound = memory_bound(connections=CONNECTIONS, body=BODY, queue=QUEUE)
        assert before < peak(worker) < bound
        assert collector.workers() == [worker]
