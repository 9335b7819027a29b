"""``hubbub trend``: each period's estimates with bands, and whether two periods differ."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from hubbub_decoder.asking import Ask
from hubbub_decoder.caveats import repeated_reports
from hubbub_decoder.commands.output import FORMATS, Output, show
from hubbub_decoder.commands.question import add_question, question_of
from hubbub_decoder.commands.shared import (
    add_cache,
    add_candidates,
    add_data,
    add_where,
    cache_of,
    check_open_unit,
    parse_period,
    positive,
    read_parts,
    watched,
)  # fmt: skip
from hubbub_decoder.decode import gives_mean
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.output.render import TABLE_ROWS
from hubbub_decoder.over_time import Change, Trend, bounded, compare_asked, most_reports, render, trend_of
from hubbub_decoder.over_time.picture import check_picture, draw
from hubbub_decoder.reading import Reading
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.sealed.periods import named
from hubbub_decoder.split.cell import cell_name
from hubbub_decoder.statistics.significance import CORRECTIONS
from hubbub_registry import Metric

SUMMARY = "estimate every period with bands, or test whether two periods differ"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub trend``."""
    add_data(parser)
    add_candidates(parser)
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of the bands; default: 0.95")
    parser.add_argument("--simultaneous", action="store_true", help="bands that cover all values and periods together")
    parser.add_argument(
        "--top",
        metavar="N",
        type=positive,
        help="the N most frequent values; default: 10 in a table or picture (200 with --compare), or all",
    )
    parser.add_argument("--plot", metavar="FILE.png", type=Path, help="also draw the trend (.png, .svg, .pdf)")
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
    parser.add_argument("--by", metavar="NAME", help=argparse.SUPPRESS)  # to say what to do in its place
    add_question(parser)
    add_cache(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the trend, or the change, on stdout. Raises HubbubError for whatever keeps it from doing so."""
    check_open_unit(arguments, "level", "alpha")
    if arguments.by is not None:
        raise EstimateError(
            "--by splits what hubbub decode and hubbub discover print; a trend is of all reports, or with --where "
            "NAME=VALUE of one cell: run it once for each"
        )
    if arguments.plot:
        check_picture(arguments.plot)
    metric, ask = question_of(arguments, quantiles=False)
    console = Console(stderr=True)
    if arguments.compare:
        if arguments.plot:
            raise EstimateError("--plot draws a trend, and --compare tests two periods of it; leave one of them out")
        output = _of_change(_compared(arguments, metric, ask, console), arguments)
    else:
        data = Dataset(arguments.data, metric, arguments.period, arguments.where)
        periods = watched(data.periods, "reading sealed periods", console)
        found = trend_of(metric, data, ask, cache=cache_of(arguments), periods=periods).at_level(arguments.level)
        if arguments.plot:
            said = draw(
                found, arguments.plot, top=arguments.top or render.TOP, simultaneous=arguments.simultaneous,
                cell=None if data.cell is None else cell_name(metric, data.cell),
            )  # fmt: skip
            found = replace(found, notes=(*found.notes, *said))
        output = _of_trend(found, arguments)
    show(output, arguments.format, console)
    return 0


def _compared(arguments: argparse.Namespace, metric: Metric, ask: Ask, console: Console) -> Change:
    """A date may stand for several periods, which are then merged."""
    first, second = (Dataset(arguments.data, metric, [each], arguments.where) for each in arguments.compare)
    if set(first.periods) & set(second.periods):
        raise EstimateError("--compare: both name the same period; name two that differ")
    cache = cache_of(arguments)
    before, after = (read_parts(data, console, cache) for data in (first, second))
    change = compare_asked(
        metric, before.state, after.state, ask, level=arguments.level, simultaneous=arguments.simultaneous,
        sampled=arguments.sampled, names=(_called(first, arguments.compare[0]), _called(second, arguments.compare[1])),
        reports=(most_reports(metric, first.periods), most_reports(metric, second.periods)),
    )  # fmt: skip
    notes = [note for data, reading in ((first, before), (second, after)) for note in _notes(metric, data, reading)]
    both = (first.periods, second.periods)
    return replace(change, periods=both, notes=tuple(dict.fromkeys((*change.notes, *notes))))


def _called(data: Dataset, asked: int | datetime.date) -> str:
    """A date as it is; a number with when its period begins, which nobody knows by heart."""
    return named([asked], data.metric.period) if isinstance(asked, int) else str(asked)


def _notes(metric: Metric, data: Dataset, reading: Reading) -> Iterator[str]:
    """What is said of the data; where noise repeats, that the errors hold it, which those of a mean do not."""
    repeated = repeated_reports(metric, data.periods)
    if repeated and not gives_mean(metric):
        yield bounded(most_reports(metric, data.periods))
    yield from (note for note in data.notes if gives_mean(metric) or note not in repeated)
    yield from reading.notes


def _of_trend(found: Trend, arguments: argparse.Namespace) -> Output:
    top = arguments.top or (render.TOP if arguments.format == "table" else None)
    columns = found.columns(simultaneous=arguments.simultaneous, top=top)
    shares = "frequency" in columns
    return Output(
        render.trend_header(found), found.described, columns, lambda rows: render.table(rows, shares=shares),
        found.notes,
    )  # fmt: skip


def _of_change(change: Change, arguments: argparse.Namespace) -> Output:
    columns = render.rows_of(change, alpha=arguments.alpha, correction=arguments.correction, top=arguments.top)
    shares = change.what == "frequency"
    tested = {"alpha": arguments.alpha, "correction": arguments.correction}
    return Output(
        render.change_header(change), lambda: {**change.described(), **tested}, columns,
        lambda rows: render.table(rows, shares=shares), change.notes, TABLE_ROWS if arguments.top is None else None,
    )  # fmt: skip
