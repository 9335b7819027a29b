"""``hubbub decode``: what the population looks like, with error bars."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from hubbub_decoder import render
from hubbub_decoder.arrow import BINARY
from hubbub_decoder.commands.decode_by import run_by
from hubbub_decoder.commands.decode_joint import add_joint, run_joint
from hubbub_decoder.commands.numbers import add_numbers, numbers_question
from hubbub_decoder.commands.shared import (
    add_cache,
    add_data,
    add_where,
    cache_of,
    candidates_of,
    check_open_unit,
    parse_period,
    positive,
    read_parts,
    to_stdout,
    write_binary,
)  # fmt: skip
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import estimate, estimate_mean, gives_mean, with_notes
from hubbub_decoder.errors import CandidateError, EstimateError
from hubbub_decoder.reading import Reading
from hubbub_decoder.result_table import result_table
from hubbub_decoder.significance import CORRECTIONS

SUMMARY = "estimate counts, a mean, quantiles, or pairs, with errors, from a sealed data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub decode``."""
    add_data(parser)
    parser.add_argument("--format", choices=("table", "csv", "json", *BINARY), default="table", help="default: table")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of low and high; default: 0.95")
    parser.add_argument("--consistent", action="store_true", help="add counts that are not negative, beside the rest")
    parser.add_argument("--top", metavar="N", type=positive, help="print the N most frequent only")
    parser.add_argument("--alpha", type=float, default=0.05, help="level of the column significant; default: 0.05")
    parser.add_argument(
        "--correction", choices=CORRECTIONS, default="holm", help="for testing many values at once; default: holm"
    )
    parser.add_argument(
        "--period", metavar="P", type=parse_period, nargs="+",
        help="periods to read, by number or by a date in them (2026-11-30, UTC); default: all",
    )  # fmt: skip
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--by", metavar="NAME", help="figures of each cell of the metric's public dimension, by its name"
    )
    add_where(which)
    add_numbers(parser)
    add_joint(parser)
    add_cache(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the estimates on stdout. Raises HubbubError for whatever keeps it from doing so."""
    check_open_unit(arguments, "level", "alpha")
    metric, candidates = candidates_of(arguments)
    question = numbers_question(arguments, metric)
    if metric.parts:
        if arguments.by is not None:
            raise EstimateError(f"--by: metric {metric.name} gives a table of pairs; read one cell of it with --where")
        return run_joint(arguments, metric)
    if arguments.second_candidates is not None:
        raise CandidateError(f"--second-candidates: metric {metric.name} reports one value, not two; leave it out")
    if arguments.by is not None:
        return run_by(arguments, metric, candidates)
    data = Dataset(arguments.data, metric, arguments.period, arguments.where)
    console = Console(stderr=True)
    reading = read_parts(data, console, cache_of(arguments))
    estimates: render.Result
    if question is not None:
        estimates = with_notes(question(reading.state), data, reading).at_level(arguments.level)
    elif gives_mean(metric):
        estimates = with_notes(estimate_mean(metric, reading.state), data, reading).at_level(arguments.level)
    else:
        estimates = with_notes(estimate(metric, reading.state, candidates), data, reading).at_level(arguments.level)
    if arguments.format in ("csv", *BINARY):
        # The header line goes to stderr, so that stdout is data and nothing else.
        render.print_line(console, render.header(estimates))
    to_stdout(lambda: _print(estimates, arguments, data, reading))
    if arguments.format != "json":  # which has them inside
        for note in estimates.notes:
            render.print_line(console, f"note: {note}")
    return 0


def _print(estimates: render.Result, arguments: argparse.Namespace, data: Dataset, reading: Reading) -> None:
    options = {
        "alpha": arguments.alpha,
        "correction": arguments.correction,
        "consistent": arguments.consistent,
        "top": arguments.top,
    }
    if arguments.format == "json":
        sys.stdout.write(render.as_json(estimates, **options, periods=data.periods, suspects=reading.suspects))
    elif arguments.format == "csv":
        sys.stdout.write(render.as_csv(estimates, **options))
    elif arguments.format in BINARY:
        write_binary(
            result_table(estimates, **options, periods=data.periods, suspects=reading.suspects), arguments.format
        )
    else:
        console = Console()
        render.print_line(console, render.header(estimates))
        render.print_whole(console, render.table(estimates, **options))
