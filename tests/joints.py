"""Joint metrics for tests: pairs of parts, small enough to go through, and a table of pairs to report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub_client.pairs import pair_bytes
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes
from hubbub_simulations.mechanisms import encode

from tests.registries import metric_of

LETTERS = ["a", "b", "c", "d", "e"]
BOOLEAN: dict[str, Any] = {"mechanism": "randomized-response", "values": ["true", "false"]}
PARTS: dict[str, dict[str, Any]] = {
    "randomized-response": {"values": LETTERS},
    "unary-encoding": {"values": LETTERS},
    "hadamard-response": {"values": LETTERS, "blocks": 2},
    "projective-geometry-response": {"values": LETTERS},
    "subset-selection": {"values": LETTERS},
    "local-hashing": {"hashes": 2, "width": 4},
    "count-mean-sketch": {"hashes": 2, "width": 4},
    "hadamard-count-mean-sketch": {"hashes": 2, "width": 4},
    "rappor": {"encoding": "one-hot", "reports": "one-time", "values": LETTERS, "f": 0.5},
    "rappor, bloom": {"reports": "one-time", "bits": 4, "hashes": 2, "cohorts": 2, "f": 0.5},
}
"""Every mechanism that a part can be, with few enough outputs to go through them all."""


def part(name: str, **keys: Any) -> dict[str, Any]:
    """The TOML table of a part."""
    return {"mechanism": name.partition(",")[0], **PARTS[name], **keys}


def joint(folder: Path, first: dict[str, Any], second: dict[str, Any], epsilon: float = 8, **keys: Any) -> Metric:
    """A joint metric named ``m``."""
    return metric_of(folder, "joint", epsilon=epsilon, first=first, second=second, **keys)


def report(metric: Metric, first: list[str], second: list[str], counts: NDArray[np.int64], seed: int) -> Bytes:
    """The records of ``counts[a, b]`` devices that hold each pair; by the vectorised encoder, seeded."""
    items = [pair_bytes((a, b)) for a in first for b in second]
    index = np.repeat(np.arange(counts.size), counts.ravel())
    return encode(metric, items, index, np.random.default_rng(seed))
