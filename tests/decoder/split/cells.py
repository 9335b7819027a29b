"""Pairs, numbers and words by version, for tests of what may be asked of them cell by cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hubbub_client.pairs import pair_bytes
from hubbub_registry import Registry
from hubbub_simulations.mechanisms import encode

from tests.decoder.reports import seal
from tests.decoder.split.reports import VERSIONS
from tests.registries import registry_of

PAIRS = [pair_bytes((a, b)) for a in ("a", "b", "c") for b in ("x", "y")]
AGES = [str(i).encode() for i in range(32)]
WORDS = [b"alpha", b"beta", b"gamma"]
METRICS: dict[str, dict[str, Any]] = {
    "pair": {
        "mechanism": "joint",
        "epsilon": 6,
        "first": {"mechanism": "randomized-response", "values": ["a", "b", "c"]},
        "second": {"mechanism": "randomized-response", "values": ["x", "y"]},
    },
    "age": {
        "mechanism": "hierarchical-histogram", "epsilon": 4, "low": 0, "high": 31, "buckets": 32, "levels": 2,
    },
    "words": {
        "mechanism": "prefix-extending-method", "epsilon": 4, "longest": 5, "items": 4096, "families": 4,
    },
    "letter": {"mechanism": "randomized-response", "dimension": None},
}  # fmt: skip


def sealed_cells(folder: Path) -> Registry:
    """Two periods of each: 1.0 and 1.1 hold different values, and of other there are too few to be shown."""
    registry = registry_of(folder, **{name: {"dimension": VERSIONS, **keys} for name, keys in METRICS.items()})
    rng = np.random.default_rng(1)
    sizes = {"pair": (600, 300, 20), "age": (600, 300, 20), "words": (4000, 3000, 20)}
    values = {"pair": PAIRS, "age": AGES, "words": WORDS}
    for name, counts in sizes.items():
        cells = np.repeat(np.arange(3), counts)
        held = (np.arange(len(cells)) % 2 + 2 * cells) % len(values[name])
        metric = registry.metric(name)
        for period in (7, 8):
            seal(folder, metric, encode(metric, values[name], held, rng, cells), period=period)
    return registry
