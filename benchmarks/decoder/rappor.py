"""RAPPOR's decoder on google/rappor's regression grid, beside what its R decoder does there.

``python benchmarks/decoder/rappor.py [--runs 10] [--cells TEXT] [--json FILE]`` prints a row a cell, averaged over
runs; ``--part efficiency`` where bit counts fall behind whole reports, ``--part coverage`` each value's coverage by
itself; ``--part specification`` the grid's larger sizes; ``--part scale`` what long lists cost. The R decoder's figures
are means of three runs on one 2-core machine: R is not run here.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hubbub_simulations.rappor_bound import bound
from hubbub_simulations.rappor_grid import DISTRIBUTIONS, Cell, Run

# Total variation, values missed of 100, seconds; at 8, 16 and 32 bits and 64 cohorts.
R_DECODER = {
    ("gauss", 100_000): [(0.437, 81, 0.17), (0.406, 78, 0.29), (0.381, 76, 0.36)],
    ("exp", 100_000): [(0.324, 78, 0.11), (0.318, 81, 0.42), (0.341, 78, 0.29)],
    ("zipf1", 100_000): [(0.301, 84, 0.10), (0.301, 85, 0.47), (0.272, 86, 0.29)],
    ("gauss", 1_000_000): [(0.158, 47, 0.10), (0.126, 41, 0.32), (0.130, 43, 0.30)],
    ("exp", 1_000_000): [(0.151, 54, 0.09), (0.117, 53, 0.35), (0.128, 53, 0.33)],
    ("zipf1", 1_000_000): [(0.178, 64, 0.11), (0.168, 58, 0.29), (0.155, 57, 0.29)],
}
BITS = (8, 16, 32)
# p, q, f: google/rappor's privacy parameters, from the most private to the least; f = 0.01 in place of its 0.
LOOSER = [
    (0.39, 0.61, 0.45), (0.5, 0.75, 0.5), (0.25, 0.75, 0.5), (0.125, 0.875, 0.5), (0.225, 0.775, 0.01),
    (0.125, 0.875, 0.125), (0.1, 0.9, 0.01),
]  # fmt: skip
BOUND_FROM = 100_000  # records


@dataclass(frozen=True)
class Row:
    """One cell; ``r_`` are the R decoder's figures, ``_error`` a Monte Carlo standard error."""

    cell: str
    epsilon: float
    runs: int
    stated_to_bound: float
    """The stated standard errors over the Cramer-Rao bound: the mean over values and runs."""
    measured_to_bound: float
    measured_error: float
    coverage: float
    coverage_rare: float
    """Of the half of the candidates with the fewest holders."""
    coverage_frequent: float
    """Of the ten with the most."""
    total_variation: float
    total_variation_error: float
    r_total_variation: float
    missed: float
    missed_error: float
    r_missed: float
    false_positives: float
    seconds: float
    r_seconds: float


def measure(cell: Cell, runs: int, peer: tuple[float, float, float] = (np.nan, np.nan, np.nan)) -> Row:
    """``runs`` runs of a cell."""
    ratio, square, covered, rare, frequent, distance, missed, false, seconds = ([] for _ in range(9))
    epsilon = 0.0
    for seed in range(runs):
        run = Run.of(cell, seed)
        limit = bound(run.metric, cell.candidates, run.holders, run.records[:BOUND_FROM])
        ratio.append(float(np.mean(run.std_error / limit)))
        square.append(float(np.mean((run.errors / limit) ** 2)))
        falling = np.argsort(-run.holders, kind="stable")
        covered.append(float(run.covered.mean()))
        rare.append(float(run.covered[falling[len(falling) // 2 :]].mean()))
        frequent.append(float(run.covered[falling[:10]].mean()))
        distance.append(run.total_variation)
        named = run.named()
        missed.append(float((~named[: cell.values]).sum()))
        false.append(float(named[cell.values :].sum()))
        seconds.append(run.seconds)
        epsilon = run.estimates.epsilon
    measured = float(np.sqrt(np.mean(square)))
    return Row(
        f"{cell.distribution} {cell.reports:,} k{cell.bits} m{cell.cohorts}", epsilon, runs, float(np.mean(ratio)),
        measured, error(square) / 2 / measured, float(np.mean(covered)), float(np.mean(rare)), float(np.mean(frequent)),
        float(np.mean(distance)), error(distance), peer[0], float(np.mean(missed)), error(missed), peer[1],
        float(np.mean(false)), float(np.mean(seconds)), peer[2],
    )  # fmt: skip


def error(figures: list[float]) -> float:
    return float(np.std(figures, ddof=1) / np.sqrt(len(figures))) if len(figures) > 1 else float("nan")


def grid(runs: int, only: str) -> Iterator[Row]:
    for (distribution, reports), peers in R_DECODER.items():
        for bits, peer in zip(BITS, peers, strict=True):
            if only in f"{distribution} {reports} k{bits}":
                yield measure(Cell(distribution, reports, bits), runs, peer)


def efficiency(runs: int) -> Iterator[Row]:
    for p, q, f in LOOSER:
        yield measure(Cell("zipf1", 100_000, 16, p=p, q=q, f=f), runs)


def coverage(runs: int) -> None:
    """Each value by itself, where few reports and where many are expected; 12 values, 4 of them nobody's."""
    for p, q, f in (LOOSER[1], LOOSER[-1]):
        for reports in (300, 3_000, 30_000):
            cell = Cell("zipf1.5", reports, 16, cohorts=16, p=p, q=q, f=f, values=8, false=4)
            covered = np.mean([Run.of(cell, seed).covered for seed in range(runs)], axis=0)
            shares = " ".join(f"{share:.1%}" for share in covered)
            print(f"p {p} q {q} f {f}, {reports:,} reports, {runs} runs: {shares}", flush=True)


def specification(runs: int) -> None:
    """google/rappor's regression specification: 8 bits, 128 cohorts, five distributions, a fifth more candidates."""
    for values, reports in ((100, 1_000_000), (1_000, 10_000_000), (10_000, 100_000_000)):
        for distribution in DISTRIBUTIONS:
            cell = Cell(distribution, reports, 8, 128, 0.39, 0.61, 0.45, values=values, false=values // 5)
            found = [Run.of(cell, seed) for seed in range(runs)]
            named = [run.estimates.significant(0.05, "bh")[run.order] for run in found]
            print(
                f"| {distribution} {values:,} / {reports:,} | {np.mean([run.covered.mean() for run in found]):.1%} "
                f"| {np.mean([run.total_variation for run in found]):.3f} "
                f"| {np.mean([each[:values].sum() for each in named]):.1f} "
                f"| {np.mean([each[values:].sum() for each in named]):.2f} "
                f"| {np.mean([run.seconds for run in found]):.2f} |"
            )


def scale() -> None:
    """What long lists cost: 1,000 values of 1,000,000 devices, 128 bits and 128 cohorts, and ever more candidates."""
    for candidates in (1_100, 15_000, 100_000):
        cell = Cell("zipf1", 1_000_000, 128, cohorts=128, values=1_000, false=candidates - 1_000)
        run = Run.of(cell, 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        print(
            f"{candidates:,} candidates: {run.seconds:.1f} s, {peak:,.0f} MiB at most, "
            f"95 % covers {run.covered.mean():.1%}"
        )


def show(rows: list[Row]) -> None:
    table = Table(
        "cell",
        "eps",
        "stated",
        "measured",
        "95 % covers",
        "rare",
        "frequent",
        "TV",
        "R",
        "missed",
        "R",
        "false",
        "ms",
        "R/ours",
    )
    for row in rows:
        table.add_row(
            row.cell, f"{row.epsilon:.2f}", f"{row.stated_to_bound:.3f}",
            f"{row.measured_to_bound:.3f} ± {row.measured_error:.3f}", f"{row.coverage:.1%}",
            f"{row.coverage_rare:.1%}", f"{row.coverage_frequent:.1%}",
            f"{row.total_variation:.3f} ± {row.total_variation_error:.3f}",
            f"{row.r_total_variation:.3f}", f"{row.missed:.1f} ± {row.missed_error:.1f}", f"{row.r_missed:.0f}",
            f"{row.false_positives:.2f}", f"{row.seconds * 1e3:.0f}", f"{row.r_seconds / row.seconds:.0f}",
        )  # fmt: skip
    Console(width=200).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("grid", "efficiency", "coverage", "specification", "scale"), default="grid")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--cells", default="", help="only cells whose name holds this text, such as 'exp 100000 k8'")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    if arguments.part == "coverage":
        coverage(arguments.runs)
        return
    if arguments.part == "specification":
        specification(arguments.runs)
        return
    if arguments.part == "scale":
        scale()
        return
    rows = list(grid(arguments.runs, arguments.cells) if arguments.part == "grid" else efficiency(arguments.runs))
    show(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
