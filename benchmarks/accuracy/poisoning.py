"""How far fakes move an estimate, and from what share on they are flagged: ``python benchmarks/accuracy/poisoning.py``.

docs/poisoning.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hubbub_simulations.accuracy import Study
from hubbub_simulations.poisoning import ATTACKS, attacked
from hubbub_simulations.studies import studies

SHARE = 0.01
SHARES = (0.003, 0.01, 0.03, 0.1)
COLUMNS = ("study", "attack", "shift", "flagged_from")


def main() -> int:
    """Measures every mechanism under every attack with the same seed."""
    parser = argparse.ArgumentParser(description="measure what fakes do to every mechanism")
    parser.add_argument("--runs", type=int, default=10, help="runs that a shift is the mean of (10)")
    parser.add_argument("--reports", type=int, default=100_000, help="reports in each run, fakes among them (100000)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the generators (1)")
    parser.add_argument("--output", type=Path, help="a CSV file to write")
    arguments = parser.parse_args()
    todo = [(study, attack) for study in studies(arguments.reports) for attack in ATTACKS]
    rows = [
        row(study, attack, arguments.seed, arguments.runs)
        for study, attack in track(todo, "attacks", console=Console(stderr=True))
    ]
    table = Table(*COLUMNS, box=box.SIMPLE_HEAD)
    for study, attack, shift, flagged in rows:
        table.add_row(study, attack, f"{100 * shift:.2f} points", f"{flagged:.1%}" if flagged else "not at 10 %")
    Console(width=130).print(table)
    if arguments.output:
        with arguments.output.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([COLUMNS, *rows])
    return 0


def row(study: Study, attack: str, seed: int, runs: int) -> tuple[str, str, float, float | None]:
    """The shift at 1 % of fakes, as a share of all reports, and the least of ``SHARES`` that is flagged."""
    shift = attacked(study, attack, SHARE, seed, runs).shift
    flagged = [share for share in SHARES if attacked(study, attack, share, seed).flagged]
    return study.name, attack, shift, min(flagged, default=None)


if __name__ == "__main__":
    sys.exit(main())
