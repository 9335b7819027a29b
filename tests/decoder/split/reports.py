"""Metrics with a public dimension for the decoder's tests, and sealed reports of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hubbub_decoder.counting.records import Records
from hubbub_registry import Metric
from hubbub_simulations.mechanisms import encode

from tests.decoder.reports import seal
from tests.registries import metric_of, values_of

VERSIONS = {"name": "version", "values": ["1.0", "1.1", "other"], "other": "other", "min_cell": 50}


def split_metric(folder: Path, mechanism: str = "randomized-response", **keys: Any) -> Metric:
    """A metric ``m`` of ``mechanism`` that is split by version, unless ``keys`` say otherwise."""
    return metric_of(folder, mechanism, **{"dimension": VERSIONS, **keys})


def made(metric: Metric, cells: list[int], held: list[str], seed: int = 1) -> Records:
    """The records of simulated devices, each with the place of its version and the value that it holds."""
    values = list(dict.fromkeys(held))
    index = np.array([values.index(value) for value in held], np.intp)
    rng = np.random.default_rng(seed)
    return encode(metric, [value.encode() for value in values], index, rng, np.array(cells))


def population(metric: Metric, sizes: tuple[int, ...], seed: int = 1) -> Records:
    """Records of so many devices in each cell; cell i holds mostly the value number i of its mechanism."""
    values = values_of(metric.mechanism)
    cells = [cell for cell, size in enumerate(sizes) for _ in range(size)]
    held = [values[cell] if i % 4 else values[-1] for i, cell in enumerate(cells)]
    order = np.random.default_rng(seed).permutation(len(cells))
    return made(metric, [cells[i] for i in order], [held[i] for i in order], seed)


def sealed_folder(folder: Path, metric: Metric, *sizes: tuple[int, ...]) -> Path:
    """A data set with a period of each of ``sizes``, from period 7 on."""
    for i, each in enumerate(sizes):
        seal(folder, metric, population(metric, each, i), period=7 + i)
    return folder
