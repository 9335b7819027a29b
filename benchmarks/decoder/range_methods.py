"""Which range method: a hierarchical histogram, HaarHRR, or a histogram of all buckets, by measured error.

``python benchmarks/decoder/range_methods.py [--epsilon E ...] [--reports N] [--runs N] [--json FILE]`` prints n times
the mean squared error of two questions: the share of values below a bucket, over all buckets, which is what a quantile
is made of; and the share of a range, over random ones. HaarHRR (Cormode, Kulkarni, Srivastava, PVLDB 2019, section 5)
is simulated here: hubbub has no such mechanism, because of these figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub_decoder import partial
from hubbub_decoder.counting.walsh import walsh_hadamard
from hubbub_decoder.mechanisms import range_mechanism
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = NDArray[np.intp]
Method: TypeAlias = Callable[[Values, np.random.Generator], Floats]
EPSILONS = (1, 2, 4)
BUCKETS = (256, 4096, 65536)
RANGES = 1000


@dataclass(frozen=True)
class Row:
    """One method: n x MSE of the share below a bucket, and of a range; ``levels`` of its tree."""

    epsilon: int
    buckets: int
    method: str
    levels: int
    below: float
    ranges: float
    standard_error: float
    """Of ``below``, over the runs."""


def hierarchical(epsilon: int, buckets: int, levels: int | None) -> tuple[Method, int]:
    """hubbub's own, and how many levels it has."""
    keys = {} if levels is None else {"levels": levels}
    metric = define("hierarchical-histogram", epsilon=epsilon, low=0, high=buckets - 1, buckets=buckets, **keys)
    module = range_mechanism("hierarchical-histogram")
    items = [b"%d" % value for value in range(buckets)]

    def shares(values: Values, rng: np.random.Generator) -> Floats:
        assert module is not None
        state = partial(metric, encode(metric, items, values, rng))
        return module.distribution(metric, state).share

    return shares, 1 << metric.device.parameters["levels_bits"]


def haar(epsilon: int, buckets: int) -> tuple[Method, int]:
    """HaarHRR: a uniform level, and one bit of a Hadamard transform of its coefficients, flipped with 1 / (1 + E)."""
    levels = buckets.bit_length() - 1
    gain = np.tanh(epsilon / 2)  # (E - 1) / (E + 1)

    def shares(values: Values, rng: np.random.Generator) -> Floats:
        level = rng.integers(0, levels, len(values))
        fitted = np.ones(1)
        for number in range(levels):
            own = values[level == number]
            nodes = 1 << number
            node, sign = own >> (levels - number), 1 - 2 * (own >> (levels - number - 1) & 1)
            column = rng.integers(0, nodes, len(own))
            entry = 1 - 2 * (np.bitwise_count(node & column).astype(np.int64) & 1)
            flipped = np.where(rng.random(len(own)) < 1 / (1 + np.exp(epsilon)), -1, 1)
            sums = np.bincount(column, sign * entry * flipped, nodes).astype(np.int64)
            difference = walsh_hadamard(sums[:, np.newaxis])[:, 0] / (len(own) * gain)
            fitted = np.column_stack([(fitted + difference) / 2, (fitted - difference) / 2]).ravel()
        return fitted

    return shares, levels


def population(buckets: int, reports: int) -> Values:
    """Log-normal latencies, their median at a tenth of the range; the same every time."""
    drawn = np.random.default_rng(1).lognormal(np.log(buckets / 10), 0.8, reports)
    return np.minimum(drawn, buckets - 1).astype(np.intp)


def measure(epsilons: Sequence[int], reports: int, runs: int) -> Iterator[Row]:
    """Every method at these epsilons and every size."""
    for epsilon in epsilons:
        for buckets in BUCKETS:
            values = population(buckets, reports)
            truth = np.bincount(values, minlength=buckets) / reports
            ends = np.sort(np.random.default_rng(2).integers(0, buckets + 1, (RANGES, 2)), axis=1)
            methods = {
                "hierarchical-histogram": hierarchical(epsilon, buckets, None),
                "4 levels": hierarchical(epsilon, buckets, 4),
                "all buckets": hierarchical(epsilon, buckets, 1),
                "HaarHRR": haar(epsilon, buckets),
            }
            for name, (method, levels) in methods.items():
                rng = np.random.default_rng(3)
                below, ranges = np.empty(runs), np.empty(runs)
                for run in range(runs):
                    error = np.concatenate([[0.0], np.cumsum(method(values, rng) - truth)])
                    below[run] = reports * np.mean(error**2)
                    ranges[run] = reports * np.mean((error[ends[:, 1]] - error[ends[:, 0]]) ** 2)
                spread = float(np.std(below, ddof=1) / np.sqrt(runs))
                yield Row(epsilon, buckets, name, levels, float(below.mean()), float(ranges.mean()), spread)


def main() -> None:
    """Prints the table, and writes JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=int, nargs="+", default=EPSILONS)
    parser.add_argument("--reports", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    print("epsilon, buckets, method, levels, below a bucket, range, standard error of the former")
    for row in measure(arguments.epsilon, arguments.reports, arguments.runs):
        rows.append(row)
        figures = f"{row.below:.3g}, {row.ranges:.3g}, {row.standard_error:.2g}"
        print(f"{row.epsilon}, {row.buckets}, {row.method}, {row.levels}, {figures}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
