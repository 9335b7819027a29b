"""What one pass over a sealed data set costs as it grows: time a record and the largest memory, fresh and from a cache.

Each size is read by a process of its own, so that its largest resident size is that of this size alone; ``plain`` is
what the process holds before it reads. Run it alone, on a quiet machine:
``python benchmarks/decoder/streaming.py [--sizes 1000000 10000000] [--mechanism NAME] [--json FILE]``.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from hubbub_collector.seal.part import write_manifest
from hubbub_decoder import Dataset, StateCache
from hubbub_decoder.reading import read
from hubbub_registry import Metric
from hubbub_simulations.definitions import NAMESPACE, define
from hubbub_simulations.mechanisms import encode

MECHANISMS: dict[str, dict[str, Any]] = {
    "hadamard-count-mean-sketch": {"epsilon": 4, "hashes": 64, "width": 512},  # 2 bytes a record
    "projective-geometry-response": {"epsilon": 3, "values": [f"value {i}" for i in range(1000)]},
    "count-mean-sketch": {"epsilon": 4, "hashes": 64, "width": 128},
}
SIZES = [10**6, 10**7, 10**8]
PART = 10**7
"""Records in a sealed part, at most."""
_BLOCK = 10**6


def seal(folder: Path, metric: Metric, records: int) -> None:
    """Writes parts of at most PART records; the same million reports over and over, which costs a reader as much."""
    rng = np.random.default_rng(1)
    block = encode(metric, [value.encode() for value in metric.values or ("a", "b")], rng.integers(0, 2, _BLOCK), rng)
    width = metric.device.record_bytes
    target = folder / "sealed" / metric.name / metric.fingerprint.hex() / "20000"
    target.mkdir(parents=True)
    for number, start in enumerate(range(0, records, PART), start=1):
        here = min(PART, records - start)
        file = target / f"{number:05}.parquet"
        with pq.ParquetWriter(file, pa.schema([("record", pa.binary(width))]), use_dictionary=False) as writer:
            for rows in range(0, here, _BLOCK):
                some = block[: min(_BLOCK, here - rows)]
                column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(some), [None, pa.py_buffer(some)])
                writer.write_table(pa.table({"record": column}))
        write_manifest(file.with_suffix(".json"), NAMESPACE, metric, 20000, file, here)
        block = np.roll(block, 1, axis=0)  # a part of the same records in the same order would be refused as a copy


def measure(mechanism: str, folder: Path) -> dict[str, float]:
    """Reads all of ``folder``, without a cache, into one and from one."""
    metric = define(mechanism, **MECHANISMS[mechanism])
    plain = peak()
    data, cache = Dataset(folder, metric), StateCache(folder / "states")
    found: dict[str, float] = {"plain_mib": plain}
    for name, use in (("read", None), ("into_cache", cache), ("from_cache", cache)):
        start, busy = time.perf_counter(), time.process_time()
        reading = read(data, cache=use)
        found[f"{name}_seconds"] = time.perf_counter() - start
        found[f"{name}_cpu_ns"] = (time.process_time() - busy) / reading.state.n * 1e9
        found.setdefault("peak_mib", peak())
    return {**found, "peak_with_cache_mib": peak()}


def peak() -> float:
    """The largest resident size so far, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage begins with what the process that started this one held
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) / 2**10  # type: ignore[index]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def runs(mechanism: str, sizes: list[int]) -> Iterator[dict[str, Any]]:
    """Seals each size into a folder that is removed afterwards, and reads it in a process of its own."""
    metric = define(mechanism, **MECHANISMS[mechanism])
    for records in sizes:
        with tempfile.TemporaryDirectory(prefix="hubbub-streaming-") as folder:
            seal(Path(folder), metric, records)
            command = [sys.executable, __file__, "--mechanism", mechanism, "--measure", folder]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            yield {"mechanism": mechanism, "records": records, "record_bytes": metric.device.record_bytes, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--mechanism", choices=MECHANISMS, nargs="+", default=list(MECHANISMS)[:2])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.mechanism[0], arguments.measure)))
        return
    rows = [row for mechanism in arguments.mechanism for row in runs(mechanism, arguments.sizes)]
    table = Table(
        "mechanism", "records", "CPU ns a record", "s", "from cache, s", "peak MiB", "of which before reading"
    )
    for row in rows:
        table.add_row(
            row["mechanism"], f"{row['records']:,}", f"{row['read_cpu_ns']:.1f}", f"{row['read_seconds']:.2f}",
            f"{row['from_cache_seconds']:.4f}", f"{row['peak_mib']:.0f}", f"{row['plain_mib']:.0f}",
        )  # fmt: skip
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
