"""``hubbub decode``: what the population looks like, with error bars."""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track

from hubbub_decoder import render
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import choose_candidates, estimate, estimate_mean, gives_mean, with_notes
from hubbub_decoder.errors import CandidateError, EstimateError, OutputError
from hubbub_decoder.reading import Reading, read
from hubbub_decoder.significance import CORRECTIONS
from hubbub_registry import Metric, load_registry
from hubbub_registry.lists import ListError, read_list

SUMMARY = "estimate counts, or a mean, with errors, from a sealed data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub decode``."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("metric", metavar="METRIC")
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the collector's data directory")
    parser.add_argument("--candidates", metavar="FILE", type=Path, help="values to look for, one a line, UTF-8")
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table", help="default: table")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of low and high; default: 0.95")
    parser.add_argument("--consistent", action="store_true", help="add counts that are not negative, beside the rest")
    parser.add_argument("--top", metavar="N", type=_positive, help="print the N most frequent only")
    parser.add_argument("--alpha", type=float, default=0.05, help="level of the column significant; default: 0.05")
    parser.add_argument(
        "--correction", choices=CORRECTIONS, default="holm", help="for testing many values at once; default: holm"
    )
    parser.add_argument(
        "--period", metavar="P", type=_period, nargs="+",
        help="periods to read, by number or by a date in them (2026-11-30, UTC); default: all",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Prints the estimates on stdout. Raises HubbubError for whatever keeps it from doing so."""
    for name in ("level", "alpha"):
        if not 0 < getattr(arguments, name) < 1:
            raise EstimateError(f"--{name} {getattr(arguments, name)} is not strictly between 0 and 1")
    named = None if arguments.candidates is None else _read_candidates(arguments.candidates)
    registry = load_registry(arguments.registry, candidates=named is None)
    metric = registry.metric(arguments.metric)
    candidates = _no_candidates(metric, named) if gives_mean(metric) else choose_candidates(metric, named)
    data = Dataset(arguments.data, metric, arguments.period)
    console = Console(stderr=True)
    reading = _read(data, console)
    estimates: render.Result
    if gives_mean(metric):
        estimates = with_notes(estimate_mean(metric, reading.state), data, reading).at_level(arguments.level)
    else:
        estimates = with_notes(estimate(metric, reading.state, candidates), data, reading).at_level(arguments.level)
    if arguments.format == "csv":
        # The header line goes to stderr, so that stdout is CSV and nothing else.
        render.print_line(console, render.header(estimates))
    try:
        _print(estimates, arguments, data, reading)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror or error}; write where there is room") from None
    if arguments.format != "json":  # which has them inside
        for note in estimates.notes:
            render.print_line(console, f"note: {note}")
    return 0


def _read(data: Dataset, console: Console) -> Reading:
    """All parts, with a progress bar where someone is there to see it."""
    hidden = not console.is_terminal
    return read(data, track(data.parts, "reading sealed parts", console=console, transient=True, disable=hidden))


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
    else:
        console = Console()
        render.print_line(console, render.header(estimates))
        render.print_whole(console, render.table(estimates, **options))


def _no_candidates(metric: Metric, named: tuple[str, ...] | None) -> tuple[str, ...]:
    if named is not None:
        raise CandidateError(f"--candidates: metric {metric.name} gives a mean, and looks for no values; leave it out")
    return ()


def _read_candidates(path: Path) -> tuple[str, ...]:
    try:
        return read_list(path)
    except ListError as error:
        raise CandidateError(f"--candidates: {error}") from None


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _period(text: str) -> int | datetime.date:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a period's number nor a date such as 2026-11-30"
        ) from None
