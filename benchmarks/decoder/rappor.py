"""RAPPOR's decoder on google/rappor's regression grid, beside what its R decoder does there.

``python benchmarks/decoder/rappor.py [--runs 10] [--cells TEXT] [--json FILE]`` prints a row a cell, averaged over
runs; ``--part efficiency`` where bit counts fall behind whole reports; ``--part coverage`` each value's coverage by
itself; ``--part unlisted`` what a value that is no candidate does; ``--part specification`` the grid's larger sizes;
``--part scale`` what long lists cost; ``--part limit`` how near consistent counts could come. The R decoder's figures
are means of three runs on one 2-core machine: R is not run here, but what it computes is, on the same runs ("anew").
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_decoder.rappor.observed import BitRates
from hubbub_simulations.bits import Floats
from hubbub_simulations.rappor_bound import bound, counts_bound
from hubbub_simulations.rappor_grid import DISTRIBUTIONS, Cell, Run
from hubbub_simulations.rappor_limit import told_total_variation
from hubbub_simulations.rappor_peer import Peer

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
BOOTSTRAPS = 200
PARTS = ("grid", "efficiency", "coverage", "unlisted", "specification", "scale", "limit")
# p, q, f: google/rappor's privacy parameters, from the most private to the least; f = 0.01 in place of its 0.
LOOSER = [
    (0.39, 0.61, 0.45), (0.5, 0.75, 0.5), (0.25, 0.75, 0.5), (0.125, 0.875, 0.5), (0.225, 0.775, 0.01),
    (0.125, 0.875, 0.125), (0.1, 0.9, 0.01),
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One cell; ``r_`` are the R decoder's figures, ``anew_`` those of what it computes on the same runs.

    ``_error`` is a Monte Carlo standard error.
    """

    cell: str
    epsilon: float
    runs: int
    stated_to_bound: float
    """The stated standard errors over the Cramer-Rao bound: the mean over values and runs."""
    measured_to_bound: float
    measured_error: float
    counts_to_bound: float
    """The least standard errors that bit counts allow over the same bound."""
    coverage: float
    coverage_rare: float
    """Of the half of the candidates with the fewest holders."""
    coverage_frequent: float
    """Of the ten with the most."""
    total_variation: float
    total_variation_error: float
    r_total_variation: float
    anew_total_variation: float
    anew_error: float
    missed: float
    missed_error: float
    r_missed: float
    anew_missed: float
    false_positives: float
    anew_false_positives: float
    equal_alpha: float
    """The level at which as many false candidates are significant as R's method lists."""
    equal_fewer: float
    """By how much fewer values than R's method misses are missed at that level."""
    equal_error: float
    seconds: float
    r_seconds: float


def measure(cell: Cell, runs: int, peer: tuple[float, float, float] = (np.nan, np.nan, np.nan)) -> Row:
    """``runs`` runs of a cell."""
    found: dict[str, list[float]] = defaultdict(list)
    p_values, listed = [], []
    epsilon = 0.0
    for seed in range(runs):
        run = Run.of(cell, seed)
        epsilon = run.estimates.epsilon
        limit = bound(run.metric, cell.candidates, run.holders, run.records)
        falling = np.argsort(-run.holders, kind="stable")
        named = run.named()
        anew = peer_of(cell, run, seed)
        p_values.append(run.estimates.p_value[run.order])
        listed.append(anew.listed)
        for name, figure in {
            "ratio": np.mean(run.std_error / limit),
            "square": np.mean((run.errors / limit) ** 2),
            "counts": np.mean(counts_bound(run.metric, cell.candidates, run.holders) / limit),
            "covered": run.covered.mean(),
            "rare": run.covered[falling[len(falling) // 2 :]].mean(),
            "frequent": run.covered[falling[:10]].mean(),
            "distance": run.total_variation,
            "anew": np.abs(anew.share - run.holders / run.holders.sum()).sum() / 2,
            "missed": (~named[: cell.values]).sum(),
            "anew_missed": (~anew.listed[: cell.values]).sum(),
            "false": named[cell.values :].sum(),
            "anew_false": anew.listed[cell.values :].sum(),
            "seconds": run.seconds,
        }.items():
            found[name].append(float(figure))
    mean = {name: float(np.mean(figures)) for name, figures in found.items()}
    measured = float(np.sqrt(mean["square"]))
    equal = at_equal_false(np.array(p_values), np.array(listed), cell.values)
    return Row(
        f"{cell.distribution} {cell.reports:,} k{cell.bits} m{cell.cohorts}", epsilon, runs, mean["ratio"],
        measured, error(found["square"]) / 2 / measured, mean["counts"], mean["covered"], mean["rare"],
        mean["frequent"], mean["distance"], error(found["distance"]), peer[0], mean["anew"], error(found["anew"]),
        mean["missed"], error(found["missed"]), peer[1], mean["anew_missed"], mean["false"], mean["anew_false"],
        *equal, mean["seconds"], peer[2],
    )  # fmt: skip


def at_equal_false(p_value: Floats, listed: NDArray[np.bool_], values: int) -> tuple[float, float, float]:
    """The level of as many false ones as are ``listed``, how many fewer are missed there, and the error of that.

    Of (runs, candidates), of which nobody holds those from ``values`` on. The error is that of a bootstrap over runs,
    which sets the level anew each time.
    """

    def compare(p_value: Floats, listed: NDArray[np.bool_]) -> tuple[float, float]:
        null = np.append(0.0, np.sort(p_value[:, values:], axis=None))
        level = float(null[np.count_nonzero(listed[:, values:])])
        more = np.count_nonzero(p_value[:, :values] <= level) - np.count_nonzero(listed[:, :values])
        return level, more / len(p_value)

    rng = np.random.default_rng(0)
    runs = len(p_value)
    drawn = (rng.integers(runs, size=runs) for _ in range(BOOTSTRAPS))
    spread = np.std([compare(p_value[some], listed[some])[1] for some in drawn], ddof=1)
    return *compare(p_value, listed), float(spread)


def peer_of(cell: Cell, run: Run, seed: int) -> Peer:
    """What google/rappor's R decoder computes from the same bit counts."""
    one, zero = (float(rate) for rate in bit_rates(run.metric))
    design = candidate_bits(run.metric, cell.candidates).toarray()
    sums, reports = (run.state.arrays[name].astype(np.float64) for name in ("sums", "reports"))
    return Peer.of(design, sums, reports, BitRates(one, zero, 0.0), np.random.default_rng(seed))


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


def unlisted(runs: int) -> None:
    """One more value that is no candidate: coverage, and how often a list of significant ones has a false one."""
    for p, q, f in (LOOSER[1], LOOSER[-1]):
        for cohorts, bits in ((8, 32), (32, 32), (64, 8)):
            for share in (0.0, 0.02, 0.04, 0.06, 0.1, 0.25):
                cell = Cell("zipf1", 100_000, bits, cohorts, p, q, f, values=10, false=30, unlisted=share)
                found = [Run.of(cell, seed) for seed in range(runs)]
                held = [run.estimates.significant(0.05, "holm")[run.order] for run in found]
                by_noise = [replace(run.estimates, least_p_value=None) for run in found]
                unaware = [each.significant(0.05, "holm")[run.order] for each, run in zip(by_noise, found, strict=True)]
                print(
                    f"| {p}, {q}, {f} | {cohorts} x {bits} | {share:.0%} | {np.mean([r.covered for r in found]):.1%} "
                    f"| {np.mean([each[cell.values :].any() for each in held]):.1%} "
                    f"| {np.mean([each[cell.values :].any() for each in unaware]):.1%} "
                    f"| {np.mean([each[: cell.values].sum() for each in held]):.1f} "
                    f"| {np.mean([each[: cell.values].sum() for each in unaware]):.1f} |",
                    flush=True,
                )


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
    """What long lists cost: 1,000 values of 1,000,000 devices, 128 bits, and ever more candidates."""
    for candidates, cohorts in ((1_100, 128), (15_000, 128), (100_000, 128), (1_000_000, 8)):
        cell = Cell("zipf1", 1_000_000, 128, cohorts=cohorts, values=1_000, false=candidates - 1_000)
        run = Run.of(cell, 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        print(
            f"{candidates:,} candidates, {cohorts} cohorts: {run.seconds:.1f} s, {peak:,.0f} MiB at most, "
            f"95 % covers {run.covered.mean():.1%}"
        )


def limit(runs: int, only: str) -> None:
    """Total variation beside that of an estimator that is told all true shares, though not whose they are."""
    for distribution, reports in R_DECODER:
        for bits in BITS:
            cell = Cell(distribution, reports, bits)
            if only not in f"{distribution} {reports} k{bits}":
                continue
            found = [Run.of(cell, seed) for seed in range(runs)]
            own = [run.total_variation for run in found]
            told = [told_total_variation(cell, run) for run in found]
            gain = [before - after for before, after in zip(own, told, strict=True)]
            less = f"{np.mean(gain) / np.mean(own):.1%} ± {error(gain) / np.mean(own):.1%} less"
            seconds = np.mean([run.seconds for run in found])
            print(distribution, reports, bits, f"{np.mean(own):.4f}, told {np.mean(told):.4f}, {less}, {seconds:.4f} s")


def show(rows: list[Row]) -> None:
    table = Table(
        "cell", "eps", "stated", "measured", "counts", "95 % covers", "rare", "frequent", "TV", "R", "anew",
        "missed", "R", "anew", "false", "anew", "alpha", "fewer", "ms", "R/ours",
    )  # fmt: skip
    for row in rows:
        table.add_row(
            row.cell, f"{row.epsilon:.2f}", f"{row.stated_to_bound:.4f}",
            f"{row.measured_to_bound:.3f} ± {row.measured_error:.3f}", f"{row.counts_to_bound:.4f}",
            f"{row.coverage:.1%}", f"{row.coverage_rare:.1%}", f"{row.coverage_frequent:.1%}",
            f"{row.total_variation:.3f} ± {row.total_variation_error:.3f}", f"{row.r_total_variation:.3f}",
            f"{row.anew_total_variation:.3f} ± {row.anew_error:.3f}", f"{row.missed:.1f} ± {row.missed_error:.1f}",
            f"{row.r_missed:.0f}", f"{row.anew_missed:.1f}", f"{row.false_positives:.2f}",
            f"{row.anew_false_positives:.2f}", f"{row.equal_alpha:.3f}",
            f"{row.equal_fewer:.1f} ± {row.equal_error:.1f}", f"{row.seconds * 1e3:.0f}",
            f"{row.r_seconds / row.seconds:.1f}",
        )  # fmt: skip
    Console(width=240).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default="grid")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--cells", default="", help="only cells whose name holds this text, such as 'exp 100000 k8'")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    if arguments.part == "coverage":
        coverage(arguments.runs)
        return
    if arguments.part == "unlisted":
        unlisted(arguments.runs)
        return
    if arguments.part == "specification":
        specification(arguments.runs)
        return
    if arguments.part == "limit":
        limit(arguments.runs, arguments.cells)
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
