"""Durable throughput, as a share of the same server with its store off and of a bare aiohttp handler, in one run.

``python benchmarks/collector/throughput.py [--seconds 3] [--rounds 3] [--records 1 100 1000] [--json FILE]``

The three servers run one at a time and in turn, `rounds` times over; figures are medians, ratios are medians of the
ratios within a round, so that a machine that slows down for a while slows all three. Processor time an upload (of the
server and its workers, start-up left out) is given as well: it means something on a machine with other work too. The
worker's memory is its greatest (VmHWM) in any round, by when it had stored the number of records beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from load import Load, generator, load
from rich.console import Console
from rich.table import Table

from hubbub_collector.upload import Batch, pack
from hubbub_registry import Metric, load_registry

HERE = Path(__file__).parent
REGISTRY = """
[registry]
schema = 1
namespace = "org.example.benchmark"

[metrics.page]
description = "A page"
owner = "benchmark@example.org"
expires = 2099-01-01
mechanism = "hadamard-count-mean-sketch"
epsilon = 4
hashes = 1024
width = 1024
period = "1d"
lifetime_epsilon = 1000
"""
BODIES = 512


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and its children so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(int(child)) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def peak_bytes(pid: int) -> int:
    """The most memory that a process or one of its children has had at a time (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    own = int(re.search(r"VmHWM:\s+([0-9]+) kB", status)[1]) << 10  # type: ignore[index]
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return max([own, *(peak_bytes(int(child)) for child in children)])


@contextmanager
def running(command: list[str]) -> Iterator[tuple[str, int]]:
    """Runs a server for as long as the block lasts; yields its address and its process id."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1], server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def uploads(metric: Metric, records: int) -> list[bytes]:
    """Bodies with ``records`` random records each; every bit string is a record of this metric."""
    period = int(time.time() // metric.period)
    width = metric.device.record_bytes
    keep = (1 << sum(bits for _, bits, _ in metric.device.fields) % 8) - 1 or 255
    bodies = []
    for _ in range(BODIES):
        drawn = bytearray(os.urandom(records * width))
        for last in range(width - 1, len(drawn), width):
            drawn[last] &= keep  # padding bits are zero
        bodies.append(pack(os.urandom(16), [Batch(metric.fingerprint, period, bytes(drawn))]))
    return bodies


def commands(registry: Path, data: Path) -> dict[str, list[str]]:
    """How each server is started; a new data directory for the durable one."""
    servers = str(HERE / "servers.py")
    hubbub = "from hubbub_registry.commands import main; raise SystemExit(main())"
    collect = ["collect", str(registry), "--data", str(data), "--port", "0"]
    return {
        "durable": [sys.executable, "-c", hubbub, *collect],
        "store-off": [sys.executable, servers, "store-off", str(registry)],
        "bare": [sys.executable, servers, "bare"],
    }


def measure(records: int, rounds: int, seconds: float, connections: int, folder: Path) -> dict[str, object]:
    """Everything about uploads of ``records`` records."""
    registry = folder / "registry.toml"
    registry.write_text(REGISTRY)
    bodies = uploads(load_registry(registry).metric("page"), records)
    found: dict[str, list[Load]] = {}
    costs: dict[str, list[float]] = {}
    memory: list[tuple[int, int]] = []
    for number in range(rounds):
        for name, command in commands(registry, folder / f"data-{records}-{number}").items():
            with running(command) as (url, pid):
                warm = load(url, bodies, connections, 1)  # connections and caches
                before = cpu_seconds(pid)
                ran = load(url, bodies, connections, seconds)
                if name == "durable":
                    memory.append((peak_bytes(pid), round((warm.rate + ran.rate * seconds) * records)))
                found.setdefault(name, []).append(ran)
                costs.setdefault(name, []).append((cpu_seconds(pid) - before) / (ran.rate * seconds))
    refused = sum(one.refused for runs in found.values() for one in runs)
    if refused:
        raise SystemExit(f"{refused} uploads were refused: the figures would mean nothing")

    def ratio(over: str) -> float:
        pairs = zip(found["durable"], found[over], strict=True)
        return round(float(statistics.median(durable.rate / other.rate for durable, other in pairs)), 3)

    return {
        "records_per_upload": records,
        "uploads_per_second": {
            name: round(statistics.median(one.rate for one in runs)) for name, runs in found.items()
        },
        "records_per_second": round(records * statistics.median(one.rate for one in found["durable"])),
        "peak_memory_mb": round(max(memory)[0] / 2**20),
        "after_records": max(memory)[1],
        "p99_ms": {name: round(statistics.median(one.p99_ms for one in runs), 1) for name, runs in found.items()},
        "cpu_us_per_upload": {name: round(1e6 * statistics.median(runs), 1) for name, runs in costs.items()},
        "durable_to_store_off": ratio("store-off"),
        "durable_to_bare": ratio("bare"),
    }


def main() -> None:
    """Measures, prints a table on stderr and JSON on stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=128)
    parser.add_argument("--records", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--json", type=Path, help="write the JSON here as well")
    arguments = parser.parse_args()
    table = Table(
        "records an upload", "durable/s", "store off/s", "bare/s", "durable : store off", "durable : bare", "p99 ms",
        "records/s", "memory MB", "after records",
    )  # fmt: skip
    results = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="hubbub-throughput-") as folder:  # a disk, not a RAM disk
        for records in arguments.records:
            result = measure(records, arguments.rounds, arguments.seconds, arguments.connections, Path(folder))
            results.append(result)
            rates = result["uploads_per_second"]
            p99 = result["p99_ms"]
            assert isinstance(rates, dict)
            assert isinstance(p99, dict)
            table.add_row(
                str(records), *(f"{rates[name]:,}" for name in ("durable", "store-off", "bare")),
                f"{result['durable_to_store_off']:.1%}", f"{result['durable_to_bare']:.1%}", str(p99["durable"]),
                f"{result['records_per_second']:,}", str(result["peak_memory_mb"]), f"{result['after_records']:,}",
            )  # fmt: skip
    Console(stderr=True).print(table)
    text = json.dumps({"generator": generator(), "connections": arguments.connections, "results": results}, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
