"""Named columns as text: CSV and JSON for programs, a table for people. What every result of the decoder prints as."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

Columns = Mapping[str, Sequence[Any] | Any]
"""Name -> column, a sequence or an array of one dimension; all of one length."""
LABELS = frozenset({"cell", "value", "range", "first", "second"})
"""Columns of texts that may be long: folded in a table, and never cut."""
_WIDTH = 60


def top_rows(columns: Columns, top: int | None) -> dict[str, Any]:
    """The first ``top`` rows (None: all)."""
    return {name: column[:top] for name, column in columns.items()}


def csv_of(columns: Columns) -> str:
    """RFC 4180 CSV with a header row and ``\\n`` line ends; numbers as the shortest text that reads back the same.

    What is no number is empty.
    """
    out = _Lines(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in _rows(columns):
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    return out.getvalue()


class _Lines(io.StringIO):
    """Ends each row in ``\\n``, for a writer that ends it in ``\\r\\n`` and so puts a value with either in quotes."""

    def write(self, row: str, /) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def json_of(described: Mapping[str, Any], columns: Columns) -> str:
    """One JSON object: what the figures are of, and ``rows`` with an object each. What is no number is null."""
    rows = [dict(zip(columns, row, strict=True)) for row in _rows(columns)]
    return json.dumps({**described, "rows": rows}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def grid_of(columns: Columns, text: Callable[[str, Any], str], titles: Mapping[str, str] | None = None) -> Table:
    """A rich table; ``text`` makes a cell's text of its column's name and its value. ``titles`` rename columns."""
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        title = (titles or {}).get(name, name)
        if name in LABELS:
            grid.add_column(title, overflow="fold", max_width=_WIDTH)
        else:
            grid.add_column(title, justify="right", no_wrap=True)
    for row in _rows(columns):
        # As Text, which is printed as it is: in a str rich reads markup, and codes such as :smile:.
        shown = ("" if value is None else text(name, value) for name, value in zip(columns, row, strict=True))
        grid.add_row(*map(Text, shown))
    return grid


def _rows(columns: Columns) -> list[tuple[Any, ...]]:
    return list(zip(*map(_plain, columns.values()), strict=True))


def _plain(column: Any) -> list[Any]:
    # tolist() turns numpy scalars into Python's own, which csv and json know; JSON knows no NaN.
    values = column.tolist() if hasattr(column, "tolist") else column
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values]
