"""The public dimension of a metric: what is sent in the clear beside it, so that figures can be split by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub_client.dimension import MOST_VALUES
from hubbub_registry.lists import ListError, read_list, tidy
from hubbub_registry.table import Table, shown

MIN_CELL = 100
_MOST_MIN_CELL = 1 << 30
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_KEYS = ("name", "values", "other", "min_cell")


@dataclass(frozen=True)
class Dimension:
    """``[metrics.NAME.dimension]``: a name and a closed list of values.

    ``other`` is the value that stands for whatever the list leaves out; None where that is refused. A cell, the reports
    of one value, is shown from ``min_cell`` reports on; that is the decoder's and the sealer's, and in no plan.
    """

    name: str
    values: tuple[str, ...]
    other: str | None = None
    min_cell: int = MIN_CELL

    def entry(self) -> dict[str, Any]:
        """What a device must know of it."""
        known: dict[str, Any] = {"name": self.name, "values": list(self.values)}
        if self.other is not None:
            known["other"] = self.values.index(self.other)
        return known


def read_dimension(metric: Table, folder: Path) -> Dimension | None:
    """The dimension of a metric's table; None where it has none, or a wrong one, which ``metric`` then notes."""
    if not metric.has("dimension"):
        return None
    raw = metric.take("dimension")
    table = Table(f"{metric.where}.dimension", raw, metric.problems)
    if not isinstance(raw, Mapping):
        return None
    name = table.text("name")
    if name and not _NAME.fullmatch(name):
        table.problem("name", f"{shown(name)} is not a name", "write small letters, digits and _, such as app_version")
    values = _read_values(table, folder)
    other = table.text("other") if table.has("other") else None
    if other and values and other not in values:
        table.problem("other", f"{shown(other)} is not among the values", "add it to values, or name one of them")
    least = table.integer("min_cell", 1, _MOST_MIN_CELL) if table.has("min_cell") else MIN_CELL
    table.finish(", ".join(_KEYS))
    return Dimension(name, values, other, least or MIN_CELL)


def _read_values(table: Table, folder: Path) -> tuple[str, ...]:
    raw = table.take("values")
    if raw is None:
        return ()
    try:
        if not isinstance(raw, (str, list)):
            raise ListError(f"{shown(raw)} is neither a list of texts nor a file name", "write one of the two")
        values = read_list(folder / raw) if isinstance(raw, str) else tidy(raw)
        if not 2 <= len(values) <= MOST_VALUES:
            raise ListError(f"{len(values)} values", f"list 2 to {MOST_VALUES}, as few as the question needs")
    except ListError as error:
        table.problem("values", error.what, error.remedy)
        return ()
    return values
