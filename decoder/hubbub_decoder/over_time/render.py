"""Trends and changes as text: tables for people, CSV and JSON for programs. ``docs/decoding.md`` has the formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.trend import Trend
from hubbub_decoder.render import header, print_line, print_whole
from hubbub_decoder.significance import Correction
from hubbub_decoder.visible import visible

Columns = Mapping[str, Sequence[Any] | FloatArray | BoolArray]
TOP = 10
"""Values in a table or a picture, where nobody says how many."""

_SHARES = frozenset({"frequency", "before", "after", "difference", "std_error", "low", "high"})
_WIDTH = 60


def trend_header(trend: Trend) -> str:
    """What the figures are of, on one line."""
    return f"{header(trend.pooled)}, {len(trend)} period{'' if len(trend) == 1 else 's'}"


def change_header(change: Change) -> str:
    """What is compared, and whether anything changed at all."""
    first, second = (f"{name} (n = {n:,})" for name, n in zip(change.names, change.n, strict=True))
    return (
        f"{change.metric}: change of {change.what} from {first} to {second}; differences as large as these where "
        f"nothing changed: p = {change.any_p_value:.2g} at most"
    )


def trend_text(trend: Trend) -> str:
    """The header and the most frequent values, as ``print(trend)`` shows them."""
    columns = trend.columns(top=TOP)
    return _text(trend_header(trend), table(columns, shares="frequency" in columns), trend.notes)


def change_text(change: Change) -> str:
    """The header and the least likely changes, as ``print(change)`` shows them."""
    grid = table(rows_of(change, top=TOP), shares=change.what == "frequency")
    return _text(change_header(change), grid, change.notes)


def rows_of(change: Change, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None) -> Columns:
    """The columns of the first ``top`` rows."""
    return {name: column[:top] for name, column in change.columns(alpha=alpha, correction=correction).items()}


def table(columns: Columns, *, shares: bool) -> Table:
    """A rich table; where figures are ``shares`` they are shown in per cent."""
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        if name == "value":
            grid.add_column(name, overflow="fold", max_width=_WIDTH)
        else:
            grid.add_column(name, justify="right", no_wrap=True)
    for row in zip(*columns.values(), strict=True):
        grid.add_row(*(Text(_cell(name, value, shares)) for name, value in zip(columns, row, strict=True)))
    return grid


def as_csv(columns: Columns) -> str:
    """RFC 4180 CSV with a header row; numbers as the shortest text that reads back the same."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*map(_plain, columns.values()), strict=True):
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    return out.getvalue()


def as_json(described: Mapping[str, Any], columns: Columns) -> str:
    """One JSON object: what the figures are of, and ``rows`` with an object each."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*map(_plain, columns.values()), strict=True)]
    return json.dumps({**described, "rows": rows}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plain(column: Any) -> list[Any]:
    # tolist() turns numpy scalars into Python's own, which csv and json know.
    return list(column.tolist()) if hasattr(column, "tolist") else list(column)


def _text(first: str, grid: Table, notes: Sequence[str]) -> str:
    out = io.StringIO()
    console = Console(file=out, width=120, color_system=None)
    print_line(console, first)
    print_whole(console, grid)
    for note in notes:
        print_line(console, f"note: {note}")
    return out.getvalue().rstrip("\n")


def _cell(name: str, value: Any, shares: bool) -> str:
    if name in ("value", "begins"):
        return visible(str(value))
    if name == "significant":
        return "yes" if value else "no"
    if name == "p_value":
        return f"{value:.2g}"
    if name == "n":
        return f"{value:,}"
    if name == "period":
        return str(value)
    if shares and name in _SHARES:
        return f"{value:.3%}"
    return f"{value:,.6g}" if abs(value) < 100_000 else f"{value:,.0f}"
