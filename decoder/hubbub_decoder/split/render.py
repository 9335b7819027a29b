"""A split as text: a table for people, CSV and JSON for programs. ``docs/decoding.md`` documents the formats."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hubbub_decoder.mean import Mean
from hubbub_decoder.render import cell_text, header, print_line, print_whole
from hubbub_decoder.split.result import Split
from hubbub_decoder.visible import visible

TOP = 10
"""Values of each cell in a table, where nobody says how many."""
_WIDTH = 60


def split_header(split: Split) -> str:
    """What the figures are of, on one line."""
    shown, held = len(split), len(split.held_back)
    return f"{header(split.whole)}, by {split.dimension}: {shown} shown, {held} held back"


def as_text(split: Split) -> str:
    """The header and the most frequent values of each cell, as ``print(split)`` shows them."""
    out = io.StringIO()
    console = Console(file=out, width=120, color_system=None)
    print_line(console, split_header(split))
    print_whole(console, table(split, split.columns(top=TOP)))
    for note in split.notes:
        print_line(console, f"note: {note}")
    return out.getvalue().rstrip("\n")


def table(split: Split, columns: Mapping[str, Sequence[Any]]) -> Table:
    """A rich table with a row for each cell and value."""
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        if name in ("cell", "value"):
            grid.add_column(split.dimension if name == "cell" else name, overflow="fold", max_width=_WIDTH)
        else:
            grid.add_column(name, justify="right", no_wrap=True)
    mean = isinstance(split.whole, Mean)
    for row in zip(*columns.values(), strict=True):
        grid.add_row(*(Text(_shown(name, value, mean)) for name, value in zip(columns, row, strict=True)))
    return grid


def as_json(described: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]) -> str:
    """One JSON object: what the figures are of, and ``rows`` with an object for each cell and value."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return json.dumps({**described, "rows": rows}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _shown(name: str, value: Any, mean: bool) -> str:
    if name == "cell":
        return visible(str(value))
    return f"{value:,}" if name == "n" else cell_text(name, value, mean=mean)
