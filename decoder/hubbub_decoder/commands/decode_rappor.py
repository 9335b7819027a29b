"""``hubbub decode-rappor``: google/rappor's own three files, decoded with calibrated errors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from hubbub_decoder.commands.output import Output, show
from hubbub_decoder.commands.shared import check_open_unit, positive
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.output import render
from hubbub_decoder.rappor.google import decode_files
from hubbub_decoder.statistics.significance import CORRECTIONS

SUMMARY = "estimate counts from google/rappor's params, counts and map files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub decode-rappor``."""
    parser.add_argument("--params", metavar="P.csv", type=Path, required=True, help="names k,h,m,p,q,f and their row")
    parser.add_argument("--counts", metavar="C.csv", type=Path, required=True, help="a row a cohort: reports, k counts")
    parser.add_argument("--map", metavar="M.csv", type=Path, required=True, help="a row a candidate: text, its bits")
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table", help="default: table")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of low and high; default: 0.95")
    parser.add_argument("--consistent", action="store_true", help="add counts that are not negative, beside the rest")
    parser.add_argument(
        "--top", metavar="N", type=positive, help="print the N most frequent only; default: all, but 200 in a table"
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="level of the column significant; default: 0.05")
    parser.add_argument(
        "--correction", choices=CORRECTIONS, default="holm", help="for testing many values at once; default: holm"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the estimates on stdout. Raises HubbubError for whatever keeps it from doing so."""
    check_open_unit(arguments, "level", "alpha")
    estimates = decode_files(arguments.params, arguments.counts, arguments.map).at_level(arguments.level)
    console = Console(stderr=True)
    tested: dict[str, Any] = {"alpha": arguments.alpha, "correction": arguments.correction}
    output = Output(
        render.header(estimates),
        lambda: render.described(estimates, **tested),
        render.columns(estimates, **tested, consistent=arguments.consistent, top=arguments.top),
        lambda rows: render.grid(estimates, rows),
        estimates.notes,
        render.TABLE_ROWS if arguments.top is None else None,
    )
    show(output, arguments.format, console, diagnostic_lines(estimates))
    return 0


def diagnostic_lines(estimates: Estimates) -> tuple[str, str]:
    """The fit's diagnostics in two sentences."""
    figures = estimates.diagnostics
    parts = {name: figures[f"{name}_variance"] for name in ("explained", "missing", "noise")}
    total = sum(parts.values())
    shares = ", ".join(f"{name} {part:.3g} ({part / total:.1%})" for name, part in parts.items())
    return (
        f"variance of the bits' shares: {shares}",
        f"not allocated to candidates: {figures['unallocated']:.1%} of the reports (standard error "
        f"{figures['unallocated_std_error']:.1%})",
    )
