"""``hubbub discover``: strings that nobody named, with counts and error bars."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from hubbub_decoder import render
from hubbub_decoder.arrow import BINARY
from hubbub_decoder.commands.shared import (
    add_cache,
    add_where,
    cache_of,
    check_open_unit,
    parse_period,
    positive,
    read_parts,
    to_stdout,
    write_binary,
)  # fmt: skip
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import with_notes
from hubbub_decoder.discovery import Options, check_discovers, discover
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.reading import Reading
from hubbub_decoder.result_table import result_table
from hubbub_decoder.significance import CORRECTIONS
from hubbub_registry import Metric, load_registry

SUMMARY = "find values that nobody named, with counts and errors, in a sealed data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub discover``."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path, help="the registry that devices ran")
    parser.add_argument("metric", metavar="METRIC", help="the name of one of its metrics")
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the collector's data directory")
    parser.add_argument("--format", choices=("table", "csv", "json", *BINARY), default="table", help="default: table")
    parser.add_argument("--alpha", type=float, default=0.05, help="level at which a value is listed; default: 0.05")
    parser.add_argument(
        "--correction", choices=CORRECTIONS, default="holm", help="for testing many values at once; default: holm"
    )
    parser.add_argument("--all", action="store_true", help="list what was found and is not significant, too")
    parser.add_argument("--top", metavar="N", type=positive, help="print the N most frequent only")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of low and high; default: 0.95")
    parser.add_argument("--consistent", action="store_true", help="add counts that are not negative, beside the rest")
    parser.add_argument(
        "--keep", metavar="N", type=positive, default=Options.kept,
        help="follow so many beginnings at a time, at most; more finds more, and takes longer; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--alphabet", metavar="CHARACTERS",
        help="what values are made of; fewer characters find more; default: any, and for sequence-fragment-puzzle "
        "a to z, 0 to 9, \" '-._\"",
    )  # fmt: skip
    parser.add_argument(
        "--period", metavar="P", type=parse_period, nargs="+",
        help="periods to read, by number or by a date in them (2026-11-30, UTC); default: all",
    )  # fmt: skip
    add_where(parser)
    add_cache(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the list on stdout. Raises HubbubError for whatever keeps it from doing so."""
    check_open_unit(arguments, "level", "alpha")
    metric = load_registry(arguments.registry, candidates=False).metric(arguments.metric)
    check_discovers(metric)
    Options(arguments.keep, alphabet=arguments.alphabet)  # before hours of reading
    data = Dataset(arguments.data, metric, arguments.period, arguments.where)
    console = Console(stderr=True)
    reading = read_parts(data, console, cache_of(arguments))
    found = with_notes(_found(metric, reading, arguments, console), data, reading).at_level(arguments.level)
    if arguments.format in ("csv", *BINARY):
        # The header line goes to stderr, so that stdout is data and nothing else.
        render.print_line(console, render.header(found))
    to_stdout(lambda: _print(found, arguments, data, reading))
    if arguments.format != "json":  # which has them inside
        for note in found.notes:
            render.print_line(console, f"note: {note}")
    return 0


def _found(metric: Metric, reading: Reading, arguments: argparse.Namespace, console: Console) -> Estimates:
    """The list, with a progress bar where someone is there to see it."""
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("looking for values", total=1.0)
        options = Options(arguments.keep, lambda share: bar.update(task, completed=share), arguments.alphabet)
        return discover(
            metric, reading.state, alpha=arguments.alpha, correction=arguments.correction,
            insignificant=arguments.all, options=options,
        )  # fmt: skip


def _print(found: Estimates, arguments: argparse.Namespace, data: Dataset, reading: Reading) -> None:
    options = {
        "alpha": arguments.alpha,
        "correction": arguments.correction,
        "consistent": arguments.consistent,
        "top": arguments.top,
    }
    if arguments.format == "json":
        sys.stdout.write(render.as_json(found, **options, periods=data.periods, suspects=reading.suspects))
    elif arguments.format == "csv":
        sys.stdout.write(render.as_csv(found, **options))
    elif arguments.format in BINARY:
        write_binary(result_table(found, **options, periods=data.periods, suspects=reading.suspects), arguments.format)
    else:
        console = Console()
        render.print_line(console, render.header(found))
        render.print_whole(console, render.table(found, **options))
