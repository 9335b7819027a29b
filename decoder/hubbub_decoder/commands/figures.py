"""From sealed reports to figures that are printed, of all together or of each cell: for decode, and for discover."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from rich.console import Console

from hubbub_decoder.asking import Ask, Result
from hubbub_decoder.commands.output import FORMATS, Output, show
from hubbub_decoder.commands.shared import add_cache, add_where, cache_of, parse_period, positive, read_parts, watched
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.joint import JointEstimates
from hubbub_decoder.joint import render as joint_render
from hubbub_decoder.output import render
from hubbub_decoder.reading import Reading
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.split.cell import dimension_of
from hubbub_decoder.split.decode_by import split_by
from hubbub_decoder.split.render import TOP, split_header
from hubbub_decoder.split.render import table as split_table
from hubbub_decoder.split.result import Split
from hubbub_decoder.statistics.significance import CORRECTIONS
from hubbub_registry import Metric


def add_figures(parser: argparse.ArgumentParser) -> None:
    """How figures are tested, cut and printed, and of which reports they are."""
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of low and high; default: 0.95")
    parser.add_argument("--consistent", action="store_true", help="add counts that are not negative, beside the rest")
    parser.add_argument(
        "--top", metavar="N", type=positive,
        help="print the N most frequent only; default: all, but 200 in a table, and with --by 10 of each cell",
    )  # fmt: skip
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
    add_cache(parser)


def show_figures(arguments: argparse.Namespace, metric: Metric, ask: Ask, console: Console) -> None:
    """Reads, asks and prints. Raises HubbubError for whatever keeps it from doing so."""
    if arguments.by is not None:
        dimension_of(metric, arguments.by)
        data = Dataset(arguments.data, metric, arguments.period)
        parts = watched(data.parts, "reading sealed parts", console)
        show_split(split_by(metric, data, ask, cache=cache_of(arguments), parts=parts), arguments, data, console)
        return
    data = Dataset(arguments.data, metric, arguments.period, arguments.where)
    reading = read_parts(data, console, cache_of(arguments))
    found = ask(reading.state).at_level(arguments.level)
    found = replace(found, notes=(*found.notes, *data.notes, *reading.notes))
    show(_of_result(found, arguments, data, reading), arguments.format, console)


def show_split(split: Split, arguments: argparse.Namespace, data: Dataset, console: Console) -> None:
    """Prints each cell. Raises OutputError."""
    split = split.at_level(arguments.level)
    tests = isinstance(split.whole, Estimates | JointEstimates)
    top = arguments.top or (TOP if arguments.format == "table" and tests else None)
    tested = {"alpha": arguments.alpha, "correction": arguments.correction}
    columns = split.columns(**tested, consistent=arguments.consistent, top=top)
    more = {"periods": list(data.periods), **(tested if tests else {})}
    output = Output(
        split_header(split), lambda: {**split.described(), **more}, columns, lambda rows: split_table(split, rows),
        split.notes,
    )  # fmt: skip
    show(output, arguments.format, console)


def _of_result(found: Result, arguments: argparse.Namespace, data: Dataset, reading: Reading) -> Output:
    tested: dict[str, Any] = {"alpha": arguments.alpha, "correction": arguments.correction}
    of: dict[str, Any] = {**tested, "periods": data.periods, "suspects": reading.suspects}
    most = render.TABLE_ROWS if arguments.top is None else None
    if isinstance(found, JointEstimates):
        return Output(
            joint_render.header(found), lambda: joint_render.described(found, **of),
            joint_render.columns(found, **tested, top=arguments.top), joint_render.grid, found.notes, most,
        )  # fmt: skip
    columns = render.columns(found, **tested, consistent=arguments.consistent, top=arguments.top)
    return Output(
        render.header(found), lambda: render.described(found, **of), columns, lambda rows: render.grid(found, rows),
        found.notes, most,
    )  # fmt: skip
