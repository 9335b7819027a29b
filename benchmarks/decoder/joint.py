"""How exact a joint table is, whether its errors are true, and what it takes: simulated fleets, by kind of parts.

For each scenario, over ``--seeds`` populations: how many of the nominal 95 % intervals cover, among the larger and the
smaller half of cells; the root mean square error against that of the product of both sides' unbiased estimates, record
by record; how often independence is rejected at 5 % where it holds; the time of one decoding, and the state's size.
``python benchmarks/decoder/joint.py [--seeds 60] [--only NAME] [--json FILE]``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from hubbub_client.pairs import pair_bytes
from hubbub_decoder import State, estimate_joint, partial
from hubbub_decoder.joint.decode import _pairs, choose_lists
from hubbub_registry import Metric
from hubbub_registry.mechanisms.projective_geometry_response import support_rates
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

Floats = NDArray[np.float64]
Part = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """``listed`` values of either side are candidates; further ones are held and in no list."""

    name: str
    first: Part
    second: Part
    epsilon: float
    reports: int
    listed: tuple[int, int]
    unlisted: tuple[int, float] = (0, 0.0)
    """How many values of the first side are in no list, and which share of devices holds them."""


def words(count: int) -> list[str]:
    """Values of a list."""
    return [f"w{i}" for i in range(count)]


def closed(mechanism: str, count: int, **keys: Any) -> Part:
    """A part with a list."""
    return {"mechanism": mechanism, "values": words(count), **keys}


SKETCH: Part = {"mechanism": "hadamard-count-mean-sketch", "hashes": 1024, "width": 1024}
HASHED: Part = {"mechanism": "local-hashing", "hashes": 1024}
FILTER: Part = {
    "mechanism": "rappor", "reports": "one-time", "bits": 32, "hashes": 2, "cohorts": 64, "f": 0.5, "share": 0.8,
}  # fmt: skip
ROWS: Part = {"mechanism": "count-mean-sketch", "hashes": 1024, "width": 64}
SMALL: Part = {**SKETCH, "hashes": 64, "width": 64}
BOOLEAN = closed("randomized-response", 2)
TWELVE = closed("randomized-response", 12)
HUNDRED = closed("projective-geometry-response", 100)
SCENARIOS = (
    Scenario("k-RR 12 x k-RR 12", TWELVE, TWELVE, 5, 20_000, (12, 12)),
    Scenario("PGR 100 x boolean", HUNDRED, BOOLEAN, 4, 100_000, (100, 2)),
    Scenario("HCMS x boolean, 30 % on one unlisted", SKETCH, BOOLEAN, 3, 100_000, (20, 2), (1, 0.3)),
    Scenario("HCMS x boolean, 50 % on 500 unlisted", SKETCH, BOOLEAN, 3, 100_000, (20, 2), (500, 0.5)),
    Scenario("OLH x OLH, 30 % on 100 unlisted", HASHED, HASHED, 4, 20_000, (10, 6), (100, 0.3)),
    Scenario("CMS x OUE, 30 % on one unlisted", ROWS, closed("unary-encoding", 4), 4, 20_000, (8, 4), (1, 0.3)),
    Scenario("RAPPOR one-time x boolean, 20 % on 50 unlisted", FILTER, BOOLEAN, 6, 20_000, (10, 2), (50, 0.2)),
    Scenario("HCMS 64 x 64, 30 % on one unlisted", SMALL, BOOLEAN, 4, 200_000, (10, 2), (1, 0.3)),
)


def population(scenario: Scenario, *, independent: bool) -> Floats:
    """The share of each pair, unlisted values last: Zipf on either side, each row with a mixture of its own."""
    rng = np.random.default_rng(7)
    rows = 1 / np.arange(1, scenario.listed[0] + 1)
    count, share = scenario.unlisted
    rows = np.concatenate([(1 - share) * rows / rows.sum(), np.full(count, share / max(1, count))])
    columns = 1 / np.arange(1, scenario.listed[1] + 1)
    columns /= columns.sum()
    if independent:
        return np.outer(rows, columns)
    return rows[:, np.newaxis] * rng.dirichlet(6 * columns, len(rows))


def product_estimate(metric: Metric, state: State, lists: tuple[tuple[str, ...], tuple[str, ...]]) -> Floats | None:
    """The mean product of both sides' unbiased estimates of one report; (d, e). None where a side has none."""
    pairs, _ = _pairs(metric, state, lists)
    sides = []
    for part, side, rows in zip(metric.parts, (pairs.first, pairs.second), (pairs.i, pairs.j), strict=True):
        rates = _RATES.get(part.mechanism)
        if rates is None:
            return None
        held, not_held = rates(part)
        sides.append((side.codes[rows] - not_held) / (held - not_held))
    return np.asarray(state.n * (sides[0].T @ (sides[1] * pairs.count[:, np.newaxis])) / pairs.count.sum())


def _keep(part: Metric) -> float:
    p = part.device.parameters
    return float(p["threshold"] / (1 << p["precision"]))


def _width(part: Metric) -> int:
    return 1 << part.device.parameters["width_bits"]


def _geometry(part: Metric) -> tuple[float, float]:
    p = part.device.parameters
    held, others = support_rates(Fraction(p["threshold"], 1 << p["precision"]), p["order"], p["dimension"])
    return float(held), float(others)


def _direct(part: Metric) -> tuple[float, float]:
    others = (1 - _keep(part)) / part.device.parameters["domain"]
    return _keep(part) + others, others


# How often a holder's report supports a value, and another's, whose value falls into any bucket.
_RATES: dict[str, Callable[[Metric], tuple[float, float]]] = {
    "randomized-response": _direct,
    "projective-geometry-response": _geometry,
    "unary-encoding": lambda part: (0.5, _keep(part)),
    "local-hashing": lambda part: (_keep(part) + (1 - _keep(part)) / _width(part), 1 / _width(part)),
    "count-mean-sketch": lambda part: (1 - _keep(part), _keep(part) + (1 - 2 * _keep(part)) / _width(part)),
    "hadamard-count-mean-sketch": lambda part: (1 - _keep(part), 0.5 + (0.5 - _keep(part)) / _width(part)),
}


def measure(scenario: Scenario, seeds: int) -> dict[str, Any]:
    """The figures of one scenario."""
    metric = define("joint", epsilon=scenario.epsilon, first=scenario.first, second=scenario.second)
    hits, errors, products, rejected, seconds, size = [], [], [], [], [], 0
    truth = population(scenario, independent=False)
    for seed in range(2 * seeds):
        independent = seed >= seeds
        rng = np.random.default_rng(seed)
        shares = population(scenario, independent=independent)
        counts: NDArray[np.int64] = rng.multinomial(scenario.reports, shares.ravel()).reshape(shares.shape)
        names = [_names(part, count, seed) for part, count in zip(metric.parts, counts.shape, strict=True)]
        items = [pair_bytes((a, b)) for a in names[0] for b in names[1]]
        state = partial(metric, encode(metric, items, np.repeat(np.arange(counts.size), counts.ravel()), rng))
        lists = [None if part.closed else name[:listed]
                 for part, name, listed in zip(metric.parts, names, scenario.listed, strict=True)]  # fmt: skip
        start = time.perf_counter()
        found = estimate_joint(metric, state, *lists)
        seconds.append(time.perf_counter() - start)
        size = max(size, sum(array.nbytes for array in state.arrays.values()))
        if independent:
            rejected.append(found.independence.p_value < 0.05)
            continue
        true = counts.astype(np.float64)
        hits.append((found.low <= _folded(true, found.share.shape)) & (_folded(true, found.share.shape) <= found.high))
        listed = true[: scenario.listed[0], : scenario.listed[1]]
        errors.append(found.count[: listed.shape[0], : listed.shape[1]] - listed)
        product = product_estimate(metric, state, choose_lists(metric, *lists))
        if product is not None:
            products.append(product - listed)
    folded = _folded(truth, hits[0].shape)
    large = folded > np.median(folded)
    rms = [float(np.sqrt(np.mean(np.square(each)))) for each in (errors, products) if each]
    return {
        "scenario": scenario.name, "epsilon": scenario.epsilon, "reports": scenario.reports,
        "cells": int(np.prod(hits[0].shape)), "cover": float(np.mean(hits)),
        "large": float(np.mean(hits, axis=0)[large].mean()), "small": float(np.mean(hits, axis=0)[~large].mean()),
        "rms": rms[0], "of_product": rms[0] / rms[1] if len(rms) > 1 else None, "rejected": float(np.mean(rejected)),
        "seconds": float(np.median(seconds)), "mib": size / (1 << 20),
    }  # fmt: skip


def _names(part: Metric, count: int, seed: int) -> list[str]:
    """Other texts for each seed, so that hash functions are as good as drawn anew."""
    return list(part.values) if part.closed else [f"w{i} {seed}" for i in range(count)]


def _folded(table: Floats, shape: tuple[int, ...]) -> Floats:
    """``table`` with everything from the last row and column of ``shape`` on added up to these."""
    rows = np.vstack([table[: shape[0] - 1], table[shape[0] - 1 :].sum(axis=0)])
    return np.column_stack([rows[:, : shape[1] - 1], rows[:, shape[1] - 1 :].sum(axis=1)])


def main() -> None:
    """Measures every scenario and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--only", help="scenarios whose name holds this text")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console(width=180)
    rows = [measure(each, arguments.seeds) for each in SCENARIOS if (arguments.only or "") in each.name]
    grid = Table(*rows[0])
    for row in rows:
        grid.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(grid)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
