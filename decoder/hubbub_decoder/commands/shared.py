"""Arguments and steps that the decoder's commands share."""

from __future__ import annotations

import argparse
import datetime
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pyarrow as pa
from rich.console import Console
from rich.progress import track

from hubbub_decoder.arrow import Binary, write
from hubbub_decoder.cache import StateCache
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import choose_candidates, gives_mean
from hubbub_decoder.errors import CandidateError, EstimateError, OutputError
from hubbub_decoder.reading import Reading, read
from hubbub_registry import Metric, load_registry
from hubbub_registry.lists import ListError, read_list

_BESIDE = Path("states")
"""Where states are kept in a data directory, unless another folder is named."""


def add_data(parser: argparse.ArgumentParser) -> None:
    """What is decoded, and against which list."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path, help="the registry that devices ran")
    parser.add_argument("metric", metavar="METRIC", help="the name of one of its metrics")
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the collector's data directory")
    parser.add_argument("--candidates", metavar="FILE", type=Path, help="values to look for, one a line, UTF-8")


def add_where(parser: argparse.ArgumentParser | argparse._MutuallyExclusiveGroup) -> None:
    """One cell of a public dimension."""
    parser.add_argument(
        "--where", metavar="NAME=VALUE", type=_parse_where,
        help="read one cell of the metric's public dimension only, such as version=1.1",
    )  # fmt: skip


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Whether what is counted is kept."""
    parser.add_argument(
        "--cache", metavar="DIR", type=Path, nargs="?", const=_BESIDE,
        help="keep what is counted of each sealed part in DIR, and read no part twice; without DIR in the folder "
        "states of --data",
    )  # fmt: skip


def cache_of(arguments: argparse.Namespace) -> StateCache | None:
    """The cache that was asked for, if one was."""
    if arguments.cache is None:
        return None
    return StateCache(arguments.data / _BESIDE if arguments.cache is _BESIDE else arguments.cache)


def candidates_of(arguments: argparse.Namespace) -> tuple[Metric, tuple[str, ...] | None]:
    """The metric, and the values to look for: None for one that gives a mean. Raises RegistryError, CandidateError."""
    named = None if arguments.candidates is None else read_candidates(arguments.candidates)
    metric = load_registry(arguments.registry, candidates=named is None).metric(arguments.metric)
    if metric.parts:  # two lists, which decode_joint reads; whoever wants one says so
        return metric, None
    if not gives_mean(metric):
        return metric, choose_candidates(metric, named)
    if named is not None:
        raise CandidateError(f"--candidates: metric {metric.name} gives a mean, and looks for no values; leave it out")
    return metric, None


def read_parts(data: Dataset, console: Console, cache: StateCache | None) -> Reading:
    """All parts, with a progress bar where someone is there to see it."""
    hidden = not console.is_terminal
    parts = track(data.parts, "reading sealed parts", console=console, transient=True, disable=hidden)
    return read(data, parts, cache)


def check_open_unit(arguments: argparse.Namespace, *names: str) -> None:
    """Raises EstimateError for one of these arguments that is not strictly between 0 and 1."""
    for name in names:
        if not 0 < getattr(arguments, name) < 1:
            raise EstimateError(f"--{name} {getattr(arguments, name)} is not strictly between 0 and 1")


def to_stdout(write_all: Callable[[], None]) -> None:
    """Runs what prints the result. Raises OutputError where it cannot be written."""
    try:
        write_all()
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror or error}; write where there is room") from None


def write_binary(table: pa.Table, form: str) -> None:
    """``table`` on stdout as Parquet or an Arrow stream. Raises OutputError where stdout is a terminal."""
    if sys.stdout.isatty():
        raise OutputError(f"standard output: --format {form} is no text for a terminal; send it to a file with > FILE")
    whole = io.BytesIO()  # Parquet's writer wants to know where it is, which a pipe does not
    write(table, whole, cast(Binary, form))
    sys.stdout.flush()
    sys.stdout.buffer.write(whole.getbuffer())
    sys.stdout.buffer.flush()


def positive(text: str) -> int:
    """An argument that is at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def parse_period(text: str) -> int | datetime.date:
    """An argument that names a period, by number or by a date in it."""
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


def _parse_where(text: str) -> dict[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no name and value such as version=1.1")
    return {name: value}


def read_candidates(path: Path, option: str = "--candidates") -> tuple[str, ...]:
    """The list that ``option`` names. Raises CandidateError."""
    try:
        return read_list(path)
    except ListError as error:
        raise CandidateError(f"{option}: {error}") from None
