"""How the collector's commands print tables: no figure is ever cut or wrapped, and a name is folded rather than cut."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

_WORDS = ("metric", "fingerprint", "period begins (UTC)", "status")


def grid(*columns: str) -> Table:
    """An empty table with these columns; all that are not words are numbers, set to the right."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False)
    for name in columns:
        if name == "metric":
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="left" if name in _WORDS else "right", no_wrap=True)
    return table


def counted(number: int, noun: str, plural: str = "s") -> str:
    """``1 batch``, ``2,000 batches``."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"
