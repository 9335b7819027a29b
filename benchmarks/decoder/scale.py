"""What decoding costs where it is large: Apple's sketches, RAPPOR with many candidates, and memory.

``hubbub bench`` measures the everyday sizes beside plain numpy and beside peers; this prints what grows. Run it alone,
on a quiet machine: ``python benchmarks/decoder/scale.py [--json FILE]``.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from hubbub_decoder import estimate, partial
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One metric, ``records`` reports and ``candidates``: seconds to aggregate and to estimate."""

    subject: str
    records: int
    candidates: int
    aggregate_ns_a_record: float
    numpy_ns_a_record: float
    """Plain numpy on the same array, in one line, with no regard to hash functions: unpackbits and sum, or bincount."""
    estimate_seconds: float
    state_mib: float
    peak_mib: float
    """The process's largest resident size so far."""


RAPPOR = {"epsilon": 1.08, "bits": 128, "hashes": 2, "cohorts": 128, "f": 0.5, "p": 0.5, "q": 0.75}
CASES: list[tuple[str, dict[str, Any], int, int]] = [
    ("hadamard-count-mean-sketch", {"epsilon": 4, "hashes": 256, "width": 1024}, 2_000_000, 1024),
    ("hadamard-count-mean-sketch", {"epsilon": 4, "hashes": 1024, "width": 32768}, 2_000_000, 20_000),
    ("count-mean-sketch", {"epsilon": 4, "hashes": 256, "width": 1024}, 200_000, 2_600),
    ("count-mean-sketch", {"epsilon": 4, "hashes": 65536, "width": 1024}, 400_000, 2_600),
    ("rappor", RAPPOR, 1_000_000, 120),
    ("rappor", RAPPOR, 1_000_000, 1_100),
    ("rappor", RAPPOR, 1_000_000, 5_000),
]


def measure() -> Iterator[Row]:
    """Every case, smallest first, so that ``peak_mib`` means something."""
    for mechanism, keys, records, candidates in CASES:
        yield case(mechanism, keys, records, candidates)


def case(mechanism: str, keys: dict[str, Any], records: int, candidates: int) -> Row:
    """Aggregates and estimates one population with falling frequencies over the first 100 candidates."""
    metric = define(mechanism, **keys)
    rng = np.random.default_rng(1)
    values = [f"value {i}" for i in range(candidates)]
    weights = 1 / np.arange(1, 101)
    holders = rng.choice(100, records, p=weights / weights.sum())
    reports = encode(metric, [value.encode() for value in values[:100]], holders, rng)
    if mechanism == "hadamard-count-mean-sketch":
        floor, _ = timed(lambda: np.bincount(as_numbers(reports)))
    else:
        floor, _ = timed(lambda: np.unpackbits(reports, axis=1).sum(axis=0))
    aggregated, state = timed(lambda: partial(metric, reports))
    estimated, _ = timed(lambda: estimate(metric, state, values), repeats=1)
    shape = " x ".join(str(keys[key]) for key in ("cohorts", "hashes", "width", "bits") if key in keys)
    return Row(
        subject=f"{mechanism} {shape}",
        records=records,
        candidates=candidates,
        aggregate_ns_a_record=aggregated / records * 1e9,
        numpy_ns_a_record=floor / records * 1e9,
        estimate_seconds=estimated,
        state_mib=sum(array.nbytes for array in state.arrays.values()) / 2**20,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
    )


def as_numbers(reports: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Each record as one integer, in the plainest way."""
    number = np.zeros(len(reports), np.int64)
    for i in range(reports.shape[1]):
        number |= reports[:, i].astype(np.int64) << (8 * i)
    return number


def timed(call: Callable[[], T], repeats: int = 3) -> tuple[float, T]:
    """The least seconds of ``repeats`` calls, and the last call's result."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    rows = list(measure())
    table = Table(
        "metric", "records", "candidates", "aggregate ns", "numpy ns", "ratio", "estimate s", "state MiB", "peak MiB"
    )
    for row in rows:
        table.add_row(
            row.subject,
            f"{row.records:,}",
            f"{row.candidates:,}",
            f"{row.aggregate_ns_a_record:.1f}",
            f"{row.numpy_ns_a_record:.1f}",
            f"{row.aggregate_ns_a_record / row.numpy_ns_a_record:.2f}",
            f"{row.estimate_seconds:.3f}",
            f"{row.state_mib:.2f}",
            f"{row.peak_mib:,.0f}",
        )
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
