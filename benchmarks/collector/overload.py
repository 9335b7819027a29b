"""A collector under more load than it can take: memory, latency, and whether all that it accepted is stored.

``python benchmarks/collector/overload.py [--seconds 60] [--factor 1.5] [--connections 128] [--json FILE]``

First its capacity is measured, with as many uploads in flight as it may have connections. Then uploads arrive evenly at
``factor`` times that, whether it keeps up or not: each takes a connection that is free, or opens one. Uploads that the
collector has no connection for are refused (503), which is what keeps the others quick. At the end what is in its store
is compared with what it acknowledged, by upload id.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgpack
from arrivals import Arrivals
from throughput import REGISTRY, commands, running, uploads

from hubbub_collector.limits.memory import memory_bound
from hubbub_collector.store import SqliteStore
from hubbub_registry import load_registry


def resident(pid: int) -> int:
    """The memory of a process, in bytes."""
    found = re.search(r"VmRSS:\s+([0-9]+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) << 10


def stored_ids(data: Path) -> Counter[bytes]:
    """The ids of the uploads in a collector's stores."""
    ids: Counter[bytes] = Counter()
    for path in data.glob("intake/worker-*.sqlite"):
        with closing(SqliteStore(path)) as store:
            for number in store.ids(0, store.last_id()):
                unpacker = msgpack.Unpacker()
                unpacker.feed(store.group(number) or b"")
                ids.update(document[1] for document in unpacker)
    return ids


def measure(folder: Path, factor: float, seconds: float, connections: int) -> dict[str, object]:
    """Everything."""
    registry = folder / "registry.toml"
    registry.write_text(REGISTRY)
    body = uploads(load_registry(registry).metric("page"), 1)[0]
    data = folder / "data"
    command = [*commands(registry, data)["durable"], "--connections", str(connections)]
    memory: list[int] = []
    with running(command) as (url, pid):
        worker = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        arrivals = Arrivals(int(url.rpartition(":")[2]), body)
        full = arrivals.saturate(connections, 5)
        capacity = len(full.acknowledged) / 5
        over = arrivals.offer(factor * capacity, seconds, lambda: memory.append(resident(worker)))
    acknowledged = full.acknowledged | over.acknowledged
    stored = stored_ids(data)
    extra = stored.keys() - acknowledged
    return {
        "capacity_per_second": round(capacity),
        "capacity_p99_ms": round(full.p99_ms(), 1),
        "offered_per_second": round(over.offered / seconds),
        "stored_per_second": round(len(over.acknowledged) / seconds),
        "p50_ms": round(over.percentile_ms(0.5), 1),
        "p99_ms": round(over.p99_ms(), 1),
        "answered": dict(sorted(over.statuses.items())),
        "connections_lost": over.lost,
        "not_sent": over.unsent,
        "memory_mb": [round(one / 2**20) for one in memory[:: max(1, len(memory) // 6)]],
        "memory_bound_mb": memory_bound(connections=connections, body=1 << 20, queue=64 << 20) >> 20,
        "acknowledged_and_not_stored": len(acknowledged - stored.keys()),
        "stored_twice": sum(count > 1 for count in stored.values()),
        "stored_and_not_acknowledged": len(extra - over.unanswered - full.unanswered),
        "stored_and_the_connection_lost": len(extra & (over.unanswered | full.unanswered)),
    }


def main() -> int:
    """Measures, prints JSON, and returns 1 where an acknowledged upload is not stored exactly once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--factor", type=float, default=1.5)
    parser.add_argument("--connections", type=int, default=128)
    parser.add_argument("--json", type=Path, help="write the JSON here as well")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="hubbub-overload-") as folder:  # a disk, not a RAM disk
        result = measure(Path(folder), arguments.factor, arguments.seconds, arguments.connections)
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    wrong = result["acknowledged_and_not_stored"], result["stored_twice"], result["stored_and_not_acknowledged"]
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
