"""One file a mechanism: the client's encoder for a million simulated devices at once.

Each module has ``Encoder(metric, items)`` with ``noise_bytes`` and ``encode(index, noise)``. An encoder is a pure
function of uniform random bytes: given the bytes that a device would read, it gives the device's record, byte for byte
(the tests feed both the same). A simulation differs from a fleet in one thing only: where the bytes come from. Here
they come from numpy, which is fast, can be seeded, and is **no source of randomness for a real device**: whoever knows
its state knows the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from hubbub_client.dimension import FIELD
from hubbub_client.mechanisms import module_name
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes

# Devices are encoded in chunks of this much noise, which stays in a processor's cache.
_CHUNK_BYTES = 1 << 20


class VectorEncoder(Protocol):
    """What the ``Encoder`` of each module here offers."""

    noise_bytes: int
    """Uniform random bytes that one device's report takes."""

    def encode(self, index: NDArray[np.intp], noise: Bytes) -> Bytes:
        """The records ``uint8 (n, record_bytes)`` of n devices.

        ``index (n,)`` says which of the items each device holds; ``noise uint8 (n, noise_bytes)`` is its randomness.
        """


def encoder(metric: Metric, items: Sequence[bytes]) -> VectorEncoder:
    """The encoder of ``metric`` for devices that each hold one of ``items`` (UTF-8 bytes, NFC-normalised).

    Raises RejectedValueError where an item is not in a closed domain.
    """
    return cast(VectorEncoder, load(metric.mechanism).Encoder(metric, items))


def load(mechanism: str) -> ModuleType:
    """The module of a mechanism, imported at first use. Raises PlanError for a name not in the table."""
    return import_module(f"hubbub_simulations.mechanisms.{module_name(mechanism)}")


def encode(
    metric: Metric, items: Sequence[bytes], index: NDArray[np.intp], rng: np.random.Generator,
    cells: NDArray[np.integer] | None = None,
) -> Bytes:  # fmt: skip
    """The records ``uint8 (n, record_bytes)`` of n simulated devices; device i holds ``items[index[i]]``.

    Every device is a new one, with a cohort and permanent noise of its own where the mechanism has them. ``rng`` may be
    seeded: never for production. ``cells (n,)`` are the places of the values of a public dimension, which stand in
    front as they are; they are needed where ``metric`` has one, and play no part where it has none. Raises
    RejectedValueError where an item is not in a closed domain.
    """
    if metric.dimension is not None:
        if cells is None:
            raise ValueError(f"metric {metric.name}: no cells are given, and its records name their {FIELD}")
        own = encode(metric.undivided, items, index, rng)
        return np.concatenate([np.asarray(cells, np.uint8)[:, None], own], axis=1)
    vectorised = encoder(metric, items)
    records = np.empty((len(index), metric.device.record_bytes), np.uint8)
    chunk = max(1, _CHUNK_BYTES // vectorised.noise_bytes)
    for start in range(0, len(index), chunk):
        part = index[start : start + chunk]
        records[start : start + chunk] = vectorised.encode(part, uniform_bytes(rng, len(part), vectorised.noise_bytes))
    return records


def uniform_bytes(rng: np.random.Generator, rows: int, columns: int) -> Bytes:
    """Uniform random bytes ``uint8 (rows, columns)``; as 64-bit words, since ``rng.bytes`` takes six times as long."""
    count = rows * columns
    words = rng.integers(0, 1 << 64, (count + 7) // 8, np.uint64)
    return words.view(np.uint8)[:count].reshape(rows, columns)
