"""``hubbub decode`` of a joint metric: which values come together how often."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from hubbub_decoder import render as lines
from hubbub_decoder.arrow import BINARY
from hubbub_decoder.commands.shared import cache_of, read_candidates, read_parts, to_stdout, write_binary
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.joint import JointEstimates, estimate_joint, render
from hubbub_decoder.joint.decode import choose_lists
from hubbub_decoder.reading import Reading
from hubbub_registry import Metric, load_registry


def add_joint(parser: argparse.ArgumentParser) -> None:
    """The second side's candidates; the first side's are ``--candidates``."""
    parser.add_argument(
        "--second-candidates", metavar="FILE", type=Path,
        help="of a joint metric: values to look for on its second side; --candidates are those of its first",
    )  # fmt: skip


def run_joint(arguments: argparse.Namespace, metric: Metric) -> int:
    """Prints the table on stdout. Raises HubbubError for whatever keeps it from doing so."""
    if arguments.consistent:
        raise EstimateError(
            "--consistent: a joint table has its most likely counts in the column likeliest; leave it out"
        )
    first, second = (
        None if file is None else read_candidates(file, option)
        for file, option in (
            (arguments.candidates, "--candidates"),
            (arguments.second_candidates, "--second-candidates"),
        )
    )
    if arguments.candidates is not None:  # the registry was read without its lists, and the other side may need its own
        metric = load_registry(arguments.registry).metric(arguments.metric)
    sides = choose_lists(metric, first, second)
    data = Dataset(arguments.data, metric, arguments.period, arguments.where)
    console = Console(stderr=True)
    reading = read_parts(data, console, cache_of(arguments))
    found = estimate_joint(metric, reading.state, *sides).at_level(arguments.level)
    found = replace(found, notes=(*found.notes, *data.notes, *reading.notes))
    if arguments.format in ("csv", *BINARY):
        lines.print_line(console, render.header(found))
    to_stdout(lambda: _print(found, arguments, data, reading))
    if arguments.format != "json":  # which has them inside
        for note in found.notes:
            lines.print_line(console, f"note: {note}")
    return 0


def _print(found: JointEstimates, arguments: argparse.Namespace, data: Dataset, reading: Reading) -> None:
    options = {"alpha": arguments.alpha, "correction": arguments.correction, "top": arguments.top}
    if arguments.format == "json":
        sys.stdout.write(render.as_json(found, **options, periods=data.periods, suspects=reading.suspects))
    elif arguments.format == "csv":
        sys.stdout.write(render.as_csv(found, **options))
    elif arguments.format in BINARY:
        table = render.arrow(found, **options, periods=data.periods, suspects=reading.suspects)
        write_binary(table, arguments.format)
    else:
        console = Console()
        lines.print_line(console, render.header(found))
        lines.print_whole(console, render.table(found, **options))
