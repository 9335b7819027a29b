"""``hubbub decode --by``: what each cell of a public dimension looks like."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import track

from hubbub_decoder import render as lines
from hubbub_decoder.arrow import BINARY, arrow_table
from hubbub_decoder.commands.shared import cache_of, to_stdout, write_binary
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.over_time.render import as_csv
from hubbub_decoder.split import render
from hubbub_decoder.split.cell import dimension_of
from hubbub_decoder.split.decode_by import decode_by
from hubbub_decoder.split.result import Split
from hubbub_registry import Metric


def run_by(arguments: argparse.Namespace, metric: Metric, candidates: tuple[str, ...] | None) -> int:
    """Prints the split on stdout. Raises HubbubError for whatever keeps it from doing so."""
    dimension_of(metric, arguments.by)
    data = Dataset(arguments.data, metric, arguments.period)
    console = Console(stderr=True)
    hidden = not console.is_terminal
    parts = track(data.parts, "reading sealed parts", console=console, transient=True, disable=hidden)
    split = decode_by(metric, data, candidates, cache=cache_of(arguments), parts=parts).at_level(arguments.level)
    if arguments.format in ("csv", *BINARY):
        lines.print_line(console, render.split_header(split))
    to_stdout(lambda: _print(split, arguments, data))
    if arguments.format != "json":  # which has them inside
        for note in split.notes:
            lines.print_line(console, f"note: {note}")
    return 0


def _print(split: Split, arguments: argparse.Namespace, data: Dataset) -> None:
    top = arguments.top or (render.TOP if arguments.format == "table" else None)
    columns = split.columns(
        alpha=arguments.alpha, correction=arguments.correction, consistent=arguments.consistent, top=top
    )
    tested = {} if "p_value" not in columns else {"alpha": arguments.alpha, "correction": arguments.correction}
    described = {**split.described(), "periods": list(data.periods), **tested}
    if arguments.format == "json":
        sys.stdout.write(render.as_json(described, columns))
    elif arguments.format == "csv":
        sys.stdout.write(as_csv(columns))
    elif arguments.format in BINARY:
        write_binary(arrow_table(columns, described), arguments.format)
    else:
        console = Console()
        lines.print_line(console, render.split_header(split))
        lines.print_whole(console, render.table(split, columns))
