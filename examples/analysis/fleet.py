"""A simulated fleet for the examples: devices report, a collector's store keeps the uploads, the sealer closes weeks.

Devices are drawn with numpy, which can be seeded, so an example prints the same figures each time. That is also why
nothing here is for real devices: whoever knows the seed knows the noise.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from hubbub_client.upload import ID_BYTES, build
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.store import SqliteStore
from hubbub_registry import Metric, Registry
from hubbub_simulations.mechanisms import encode

PER_UPLOAD = 500
LATE = 28 * 86_400


def collect(data: Path, metric: Metric, week: int, holders: dict[str, int], rng: np.random.Generator) -> None:
    """One report of each of the devices, ``holders[value]`` of which hold ``value``, into the collector's store."""
    values = [value.encode() for value in holders]
    index = np.repeat(np.arange(len(values)), list(holders.values()))
    records = encode(metric, values, index, rng)
    bodies = [
        build(os.urandom(ID_BYTES), [(metric.fingerprint, week, records[start : start + PER_UPLOAD].tobytes())])
        for start in range(0, len(records), PER_UPLOAD)
    ]
    store = SqliteStore(DataDirectory(data).worker_store(0), late=LATE)
    try:
        store.commit(bodies)
    finally:
        store.close()


def seal_all(data: Path, registry: Registry) -> None:
    """Closes every week, as ``hubbub seal --all`` does."""
    report = seal(registry, DataDirectory(data), SealOptions(everything=True))
    if report.damaged:
        raise SystemExit(f"{data}: {report.problems}")
