"""``hubbub decode``: what the population looks like, with error bars."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track

from hubbub_decoder import render
from hubbub_decoder.dataset import Dataset, part_batches
from hubbub_decoder.decode import aggregate, choose_candidates, estimate, merge
from hubbub_decoder.errors import CandidateError, EstimateError
from hubbub_decoder.significance import CORRECTIONS
from hubbub_decoder.state import State
from hubbub_registry import load_registry
from hubbub_registry.lists import ListError, read_list

SUMMARY = "estimate counts, with errors, from a sealed data set"


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
    parser.add_argument("--period", metavar="P", type=int, nargs="+", help="period numbers to read; default: all")


def run(arguments: argparse.Namespace) -> int:
    """Prints the estimates on stdout. Raises HubbubError for whatever keeps it from doing so."""
    for name in ("level", "alpha"):
        if not 0 < getattr(arguments, name) < 1:
            raise EstimateError(f"--{name} {getattr(arguments, name)} is not strictly between 0 and 1")
    named = None if arguments.candidates is None else _read_candidates(arguments.candidates)
    registry = load_registry(arguments.registry, candidates=named is None)
    metric = registry.metric(arguments.metric)
    candidates = choose_candidates(metric, named)
    data = Dataset(arguments.data, metric, arguments.period)
    console = Console(stderr=True)
    state: State | None = None
    for part in track(data.parts, "reading sealed parts", console=console, transient=True):
        found = aggregate(metric, part_batches(part))
        if found is not None:
            state = found if state is None else merge(state, found)
    if state is None:
        raise EstimateError(f"{data}: the sealed parts hold no reports; seal a batch with reports first")
    estimates = estimate(metric, state, candidates).at_level(arguments.level)
    options = {
        "alpha": arguments.alpha,
        "correction": arguments.correction,
        "consistent": arguments.consistent,
        "top": arguments.top,
    }
    if arguments.format == "json":
        sys.stdout.write(render.as_json(estimates, **options, periods=data.periods))
        return 0
    # In CSV the header line goes to stderr, so that stdout is CSV and nothing else.
    is_csv = arguments.format == "csv"
    about = console if is_csv else Console()
    about.print(render.header(estimates), highlight=False, soft_wrap=True, markup=False)
    if is_csv:
        sys.stdout.write(render.as_csv(estimates, **options))
    else:
        render.print_whole(about, render.table(estimates, **options))
    for note in estimates.notes:
        console.print(f"note: {note}", highlight=False, soft_wrap=True, markup=False)
    return 0


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
