"""What hubbub takes of a board's memory: ``python benchmarks/firmware/memory.py [--json FILE]``.

Byte code is made with mpy-cross and run under two interpreters: MicroPython for Unix, whose pointers have 64 bits, and
MicroPython as WebAssembly, whose pointers and integers have 32, as a board's. Allocations are counted with the garbage
collector off and what is held after it ran, so figures of 64 bits are the same on every machine. Exit status 1 where a
bound is not kept. docs/firmware-memory.md says what the figures mean.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from rich.console import Console  # noqa: E402 - the path comes first
from rich.table import Table  # noqa: E402

from benchmarks.firmware.figures import Figure, all_figures, bundled, peaks  # noqa: E402


def main() -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description="what hubbub takes of a board's memory")
    parser.add_argument("--reports", type=int, default=10_000, help="reports after which nothing may be held (10000)")
    parser.add_argument("--json", type=Path, help="a file to write")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = all_figures(Path(folder), arguments.reports) + bundled(Path(folder)) + peaks(Path(folder))
    Console(width=120).print(as_table(figures))
    if arguments.json:
        arguments.json.write_text(json.dumps([figure.as_dict() for figure in figures], indent=1) + "\n")
    return 0 if all(figure.kept for figure in figures) else 1


def as_table(figures: list[Figure]) -> Table:
    """A row a figure: both interpreters, and the bound that the first must keep."""
    table = Table(title="bytes of heap, from .mpy")
    for heading in ("figure", "64-bit", "32-bit", "bound, 64-bit", ""):
        table.add_column(heading, justify="left" if heading in ("figure", "") else "right")
    for figure in figures:
        bound = "" if figure.bound is None else f"{figure.bound:,}"
        verdict = "" if figure.bound is None else "kept" if figure.kept else "NOT KEPT"
        table.add_row(
            figure.name, f"{figure.x64:,}", "" if figure.bits32 is None else f"{figure.bits32:,}", bound, verdict
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
