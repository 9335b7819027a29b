"""A split as text, for people and for programs. ``docs/decoding.md`` documents the formats."""

from __future__ import annotations

from functools import partial

from rich.table import Table

from hubbub_decoder.joint import JointEstimates
from hubbub_decoder.joint.render import header_of, independence_text
from hubbub_decoder.mean import Mean
from hubbub_decoder.output.columns import Columns, grid_of
from hubbub_decoder.output.render import cell_text, text_of
from hubbub_decoder.output.visible import visible
from hubbub_decoder.split.result import Split

TOP = 10
"""Values of each cell in a table, where nobody says how many."""


def split_header(split: Split) -> str:
    """What the figures are of, and how many cells are shown; of pairs the test of independence in each."""
    tests = (
        f"test of independence, {split.dimension} {visible(cell)}: {independence_text(found)}"
        for cell, found in split.cells.items()
        if isinstance(found, JointEstimates)
    )
    cells = f"by {split.dimension}: {len(split)} shown, {len(split.held_back)} held back"
    return "\n".join((header_of(split.whole), cells, *tests))


def as_text(split: Split) -> str:
    """The header and the most frequent values of each cell, as ``print(split)`` shows them."""
    return text_of(split_header(split), table(split, split.columns(top=TOP)), 0, split.notes)


def table(split: Split, columns: Columns) -> Table:
    """A rich table with a row for each cell and value."""
    text = partial(cell_text, mean=isinstance(split.whole, Mean))
    return grid_of(columns, text, {"cell": split.dimension})
