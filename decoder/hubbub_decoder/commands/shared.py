"""Arguments and steps that the decoder's commands share."""

from __future__ import annotations

import argparse
import datetime
import io
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import pyarrow as pa
from rich.console import Console
from rich.progress import track

from hubbub_decoder.cache import StateCache
from hubbub_decoder.errors import CandidateError, EstimateError, OutputError
from hubbub_decoder.output.arrow import Binary, write
from hubbub_decoder.reading import Reading, read
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_registry.lists import ListError, read_list

T = TypeVar("T")
_BESIDE = Path("states")
"""Where states are kept in a data directory, unless another folder is named."""


def add_data(parser: argparse.ArgumentParser) -> None:
    """What is decoded."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path, help="the registry that devices ran")
    parser.add_argument("metric", metavar="METRIC", help="the name of one of its metrics")
    parser.add_argument("--data", metavar="DIR", type=Path, required=True, help="the collector's data directory")


def add_candidates(parser: argparse.ArgumentParser) -> None:
    """Against which list."""
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


def read_parts(data: Dataset, console: Console, cache: StateCache | None) -> Reading:
    """All parts, with a progress bar where someone is there to see it."""
    return read(data, watched(data.parts, "reading sealed parts", console), cache)


def watched(sequence: Sequence[T], what: str, console: Console) -> Iterable[T]:
    """``sequence`` with a progress bar where someone is there to see it."""
    return track(sequence, what, console=console, transient=True, disable=not console.is_terminal)


def check_open_unit(arguments: argparse.Namespace, *names: str) -> None:
    """Raises EstimateError for one of these arguments that is not strictly between 0 and 1."""
    for name in names:
        if not 0 < getattr(arguments, name) < 1:
            raise EstimateError(f"--{name} {getattr(arguments, name)} is not strictly between 0 and 1")


def to_stdout(write_all: Callable[[], None]) -> None:
    """Runs what prints the result. Raises OutputError where it cannot be written."""
    if sys.stdout is None:  # as Python has it where it was closed from the start
        raise OutputError("standard output: is closed; send it to a file with > FILE, or nowhere with > /dev/null")
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
    number = integer(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def integer(text: str) -> int:
    """An integer in digits. Raises ValueError for what Python also takes for one, such as 1_000."""
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise ValueError
    return int(text)


def parse_period(text: str) -> int | datetime.date:
    """An argument that names a period, by number or by a date in it."""
    try:
        return integer(text)
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
