"""Periods of numbers and of pairs for tests: metrics whose states are quick to make, and what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hubbub_client.pairs import pair_bytes
from hubbub_decoder import State, partial
from hubbub_registry import Metric, Registry
from hubbub_simulations.mechanisms import encode

from tests.decoder.reports import seal
from tests.registries import registry_of

TREE: dict[str, Any] = {"mechanism": "hierarchical-histogram", "low": 0, "high": 31, "buckets": 32, "levels": 2}
FIRST, SECOND = ("a", "b", "c"), ("x", "y")
PAIRS: dict[str, Any] = {
    "mechanism": "joint",
    "first": {"mechanism": "randomized-response", "values": list(FIRST)},
    "second": {"mechanism": "randomized-response", "values": list(SECOND)},
}
PERIODS = (20787, 20788)


def counted(metric: Metric, values: list[bytes], index: Any, rng: np.random.Generator) -> State:
    """The state of devices that hold ``values[i]`` for each i of ``index``."""
    return partial(metric, encode(metric, values, np.asarray(index), rng))


def of_numbers(metric: Metric, numbers: Any, rng: np.random.Generator) -> State:
    """The state of devices that hold these numbers, from 0 to 31."""
    return counted(metric, [str(i).encode() for i in range(32)], numbers, rng)


def of_pairs(metric: Metric, pairs: Any, rng: np.random.Generator) -> State:
    """The state of devices that hold these pairs, numbered as the rows of the table."""
    return counted(metric, [pair_bytes((a, b)) for a in FIRST for b in SECOND], pairs, rng)


def sealed(folder: Path) -> Registry:
    """Two days of ages, whose median goes from 8 to 20, and of pairs, of which the first grows from a sixth to half."""
    registry = registry_of(
        folder, age={**TREE, "epsilon": 4}, pair={**PAIRS, "epsilon": 6}, letter={"mechanism": "randomized-response"}
    )
    rng = np.random.default_rng(1)
    for period, middle, first in zip(PERIODS, (8, 20), (1 / 6, 0.5), strict=True):
        metric = registry.metric("age")
        ages = [str(i).encode() for i in range(32)]
        seal(folder, metric, encode(metric, ages, np.arange(600) % 9 + middle - 4, rng), period=period)
        metric = registry.metric("pair")
        held = np.where(np.arange(600) < 600 * first, 0, 1 + np.arange(600) % 5)
        values = [pair_bytes((a, b)) for a in FIRST for b in SECOND]
        seal(folder, metric, encode(metric, values, held, rng), period=period)
    return registry
