"""``hubbub trend``: each period's estimates with bands, and whether two periods differ."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import track

from hubbub_decoder import render as lines
from hubbub_decoder.arrow import BINARY, arrow_table
from hubbub_decoder.caveats import repeated_reports
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
from hubbub_decoder.decode import gives_mean
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.over_time import Change, Trend, bounded, compare_states, most_reports, render, trend
from hubbub_decoder.over_time.picture import draw
from hubbub_decoder.reading import Reading
from hubbub_decoder.significance import CORRECTIONS
from hubbub_registry import Metric

Periods = list[int | datetime.date] | None
SUMMARY = "estimate every period with bands, or test whether two periods differ"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub trend``."""
    add_data(parser)
    parser.add_argument("--format", choices=("table", "csv", "json", *BINARY), default="table", help="default: table")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of the bands; default: 0.95")
    parser.add_argument("--simultaneous", action="store_true", help="bands that cover all values and periods together")
    parser.add_argument(
        "--top",
        metavar="N",
        type=positive,
        help="the N most frequent values; default: 10 in a table or picture, or all",
    )
    parser.add_argument("--plot", metavar="FILE.png", type=Path, help="also draw the trend")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--period", metavar="P", type=parse_period, nargs="+",
        help="periods to read, by number or by a date in them (2026-11-30, UTC); default: all",
    )  # fmt: skip
    which.add_argument(
        "--compare", metavar=("P", "Q"), type=parse_period, nargs=2, help="test what changed from one to the other"
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="with --compare: level of significant; default: 0.05")
    parser.add_argument(
        "--correction", choices=CORRECTIONS, default="holm", help="with --compare: for many values; default: holm"
    )
    parser.add_argument(
        "--sampled", action="store_true", help="with --compare: each period's devices are a fresh sample of all"
    )
    add_where(parser)
    add_cache(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the trend, or the change, on stdout. Raises HubbubError for whatever keeps it from doing so."""
    check_open_unit(arguments, "level", "alpha")
    metric, candidates = candidates_of(arguments)
    console = Console(stderr=True)
    if arguments.compare:
        if arguments.plot:
            raise EstimateError("--plot draws a trend, and --compare tests two periods of it; leave one of them out")
        change = _compared(arguments, metric, candidates, console)
        to_stdout(lambda: _print_change(change, arguments, console))
        notes = change.notes
    else:
        found = _trend(arguments, metric, candidates, arguments.period, console).at_level(arguments.level)
        if arguments.plot:
            draw(found, arguments.plot, top=arguments.top or render.TOP, simultaneous=arguments.simultaneous)
        to_stdout(lambda: _print_trend(found, arguments, console))
        notes = found.notes
    if arguments.format != "json":  # which has them inside
        for note in notes:
            lines.print_line(console, f"note: {note}")
    return 0


def _trend(
    arguments: argparse.Namespace, metric: Metric, candidates: tuple[str, ...] | None, periods: Periods,
    console: Console,
) -> Trend:  # fmt: skip
    data = Dataset(arguments.data, metric, periods, arguments.where)
    hidden = not console.is_terminal
    watched = track(data.periods, "reading sealed periods", console=console, transient=True, disable=hidden)
    return trend(metric, data, candidates, cache=cache_of(arguments), periods=watched)


def _compared(
    arguments: argparse.Namespace, metric: Metric, candidates: tuple[str, ...] | None, console: Console
) -> Change:
    """A date may stand for several periods, which are then merged."""
    first, second = (Dataset(arguments.data, metric, [each], arguments.where) for each in arguments.compare)
    if set(first.periods) & set(second.periods):
        raise EstimateError("--compare: both name the same period; name two that differ")
    cache = cache_of(arguments)
    before, after = (read_parts(data, console, cache) for data in (first, second))
    change = compare_states(
        metric, before.state, after.state, candidates, level=arguments.level, simultaneous=arguments.simultaneous,
        sampled=arguments.sampled, names=(str(arguments.compare[0]), str(arguments.compare[1])),
        reports=(most_reports(metric, first.periods), most_reports(metric, second.periods)),
    )  # fmt: skip
    notes = [note for data, reading in ((first, before), (second, after)) for note in _notes(metric, data, reading)]
    return replace(change, notes=tuple(dict.fromkeys((*change.notes, *notes))))


def _notes(metric: Metric, data: Dataset, reading: Reading) -> Iterator[str]:
    """What is said of the data; where noise repeats, that the errors hold it, which those of a mean do not."""
    repeated = repeated_reports(metric, data.periods)
    if repeated and not gives_mean(metric):
        yield bounded(most_reports(metric, data.periods))
    yield from (note for note in data.notes if gives_mean(metric) or note not in repeated)
    yield from reading.notes


def _print_trend(found: Trend, arguments: argparse.Namespace, console: Console) -> None:
    top = arguments.top or (render.TOP if arguments.format == "table" else None)
    columns = found.columns(simultaneous=arguments.simultaneous, top=top)
    _print(render.trend_header(found), found.described(), columns, arguments.format, "frequency" in columns, console)


def _print_change(change: Change, arguments: argparse.Namespace, console: Console) -> None:
    columns = render.rows_of(change, alpha=arguments.alpha, correction=arguments.correction, top=arguments.top)
    described = {**change.described(), "alpha": arguments.alpha, "correction": arguments.correction}
    _print(render.change_header(change), described, columns, arguments.format, change.what == "frequency", console)


def _print(
    header: str, described: dict[str, object], columns: render.Columns, form: str, shares: bool, console: Console
) -> None:
    if form == "json":
        sys.stdout.write(render.as_json(described, columns))
    elif form == "csv":
        lines.print_line(console, header)
        sys.stdout.write(render.as_csv(columns))
    elif form in BINARY:
        lines.print_line(console, header)
        write_binary(arrow_table(columns, described), form)
    else:
        out = Console()
        lines.print_line(out, header)
        lines.print_whole(out, render.table(columns, shares=shares))
