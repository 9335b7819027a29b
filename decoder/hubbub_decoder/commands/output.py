"""A command's result in the format that is asked for: what every one of the decoder's commands prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from hubbub_decoder.commands.shared import to_stdout, write_binary
from hubbub_decoder.output.arrow import BINARY, arrow_table
from hubbub_decoder.output.columns import Columns, csv_of, json_of, top_rows
from hubbub_decoder.output.render import print_header, print_line, print_whole

FORMATS = ("table", "csv", "json", *BINARY)


class Output(NamedTuple):
    """A result: its header's lines, what JSON says beside the rows, the rows, how people see them, and notes.

    ``most`` rows are in a table (None: all).
    """

    header: str
    described: Callable[[], Mapping[str, Any]]
    columns: Columns
    table: Callable[[Columns], Table]
    notes: Sequence[str]
    most: int | None = None


def show(output: Output, form: str, console: Console, beside: Sequence[str] = ()) -> None:
    """Prints ``output`` on stdout; on ``console``, which is stderr, what is said ``beside`` it. Raises OutputError.

    The header of CSV, Parquet and Arrow goes there, so that stdout is data and nothing else; JSON has all inside.
    """
    if form in ("csv", *BINARY):
        print_header(console, output.header)
    to_stdout(lambda: _print(output, form))
    if form != "json":
        for line in (*beside, *(f"note: {note}" for note in output.notes)):
            print_line(console, line)


def _print(output: Output, form: str) -> None:
    if form == "json":
        sys.stdout.write(json_of(output.described(), output.columns))
    elif form == "csv":
        sys.stdout.write(csv_of(output.columns))
    elif form in BINARY:
        write_binary(arrow_table(output.columns, output.described()), form)
    else:
        console = Console()
        print_header(console, output.header)
        print_whole(console, output.table(top_rows(output.columns, output.most)))
        rows = len(next(iter(output.columns.values())))
        if output.most is not None and rows > output.most:
            print_line(console, f"... and {rows - output.most:,} more (--top N shows N rows, --format csv all)")
