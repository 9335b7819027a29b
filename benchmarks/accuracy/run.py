"""Runs the accuracy studies and writes their figures: ``python benchmarks/accuracy/run.py --output accuracy.csv``.

Exit status 1 where a study misses a condition. docs/benchmarks.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hubbub_simulations.accuracy import Outcome, run_study
from hubbub_simulations.studies import studies


def main() -> int:
    """Runs every study with the same seed."""
    parser = argparse.ArgumentParser(description="hold every mechanism's error against its formula")
    parser.add_argument("--runs", type=int, default=1000, help="runs of each study, at least 200 (1000)")
    parser.add_argument("--reports", type=int, default=20_000, help="devices in each run (20000)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the generators (1)")
    parser.add_argument("--output", type=Path, help="a file to write, .csv or .json")
    arguments = parser.parse_args()
    if arguments.runs < 200:
        parser.error("fewer than 200 runs cannot tell a 5 % error from chance")
    if arguments.output and arguments.output.suffix not in (".csv", ".json"):
        parser.error("the output is a .csv or a .json file")
    if arguments.output and not arguments.output.absolute().parent.is_dir():
        parser.error(f"there is no folder {arguments.output.absolute().parent}")
    todo = track(studies(arguments.reports), "studies", console=Console(stderr=True))
    outcomes = [run_study(study, arguments.runs, arguments.seed) for study in todo]
    Console(width=130).print(as_table(outcomes))
    if arguments.output:
        write(arguments.output, outcomes)
    return 1 if any(outcome.shortcomings() for outcome in outcomes) else 0


def as_table(outcomes: list[Outcome]) -> Table:
    """The figures for people; the Monte Carlo error stands beside each ratio."""
    table = Table(
        "study", "n x MSE", "formula", "ratio", "worst mean error", "95 % cover", "misses", box=box.SIMPLE_HEAD
    )
    for outcome in outcomes:
        table.add_row(
            outcome.study.name,
            f"{outcome.scaled_mse:.4g}",
            f"{outcome.formula.mean():.4g}",
            f"{outcome.ratio:.4f} ± {outcome.ratio_error:.4f}",
            f"{outcome.worst_z:.2f} s.e.",
            f"{100 * outcome.coverage:.2f} %",
            ", ".join(outcome.shortcomings()),
        )
    return table


def write(path: Path, outcomes: list[Outcome]) -> None:
    """One row, or one object, a study."""
    rows = [outcome.to_dict() for outcome in outcomes]
    with path.open("w", newline="", encoding="utf-8") as file:
        if path.suffix == ".json":
            json.dump(rows, file, indent=2)
        else:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
