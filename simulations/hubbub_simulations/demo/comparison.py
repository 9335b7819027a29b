"""The truth, which only a demonstration has, beside the estimates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One name: how many devices have it, and what was estimated, in devices."""

    value: str
    truth: int
    count: float
    low: float
    high: float

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class Comparison:
    """One metric's rows, the truly most common names first, with what the decoder says of itself."""

    metric: str
    mechanism: str
    epsilon: float
    n: int
    rows: tuple[Row, ...]

    @property
    def coverage(self) -> float:
        """The share of all candidates whose interval holds the truth."""
        return sum(row.covered for row in self.rows) / len(self.rows)


def compare(document: Mapping[str, Any], truth: Counter[str]) -> Comparison:
    """Joins a decoder's JSON document with the true counts."""
    rows = [
        Row(entry["value"], truth[entry["value"]], entry["count"], entry["low"], entry["high"])
        for entry in document["rows"]
    ]
    rows.sort(key=lambda row: (-row.truth, row.value))
    return Comparison(document["metric"], document["mechanism"], document["epsilon"], document["n"], tuple(rows))


def print_table(
    console: Console, comparisons: Sequence[Comparison], top: int, what: str = "devices by name", column: str = "name"
) -> None:
    """True against estimated, with 95 % intervals, for the ``top`` most common values."""
    table = Table(title=f"{what}: the truth, and each mechanism's estimate with its 95 % interval")
    table.add_column(column, no_wrap=True)
    table.add_column("true", justify="right", no_wrap=True)
    for comparison in comparisons:
        name = comparison.metric.removeprefix("name_by_").upper()
        table.add_column(f"{name}, epsilon {comparison.epsilon:.4g}", justify="right")
    for place in range(top):
        cells = []
        for comparison in comparisons:
            row = comparison.rows[place]
            colour = "green" if row.covered else "red"
            cells.append(f"{row.count:,.0f} [{colour}]{row.low:,.0f} .. {row.high:,.0f}[/]")
        first = comparisons[0].rows[place]
        table.add_row(first.value, f"{first.truth:,}", *cells)
    console.print(table)
    for comparison in comparisons:
        console.print(
            f"{comparison.mechanism}: {comparison.n:,} reports; {comparison.coverage:.1%} of the 95 % intervals of "
            f"{len(comparison.rows)} candidates hold the truth",
            highlight=False,
        )
