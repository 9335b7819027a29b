"""Estimates, or a mean, as text: a table for people, CSV and JSON for programs.

``docs/decoding.md`` documents the formats.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.numbers.result import RangeResult
from hubbub_decoder.reading import Suspect
from hubbub_decoder.significance import Correction
from hubbub_decoder.visible import visible

Result = Estimates | Mean | RangeResult
"""All have ``columns``, and what the header shows."""

_ROWS_PRINTED = 20  # by print(estimates)
_VALUE_WIDTH = 60  # longer values go on in the next line
_WIDEST = 1000


def header(estimates: Result) -> str:
    """What the figures are of, on one line: metric, n, mechanism, exact epsilon."""
    return (
        f"{estimates.metric}: n = {estimates.n:,} reports, {estimates.mechanism}, epsilon = {estimates.epsilon:.6g} a "
        f"report (exactly ln {estimates.ratio.numerator}/{estimates.ratio.denominator})"
    )


def as_text(estimates: Result) -> str:
    """The header and the first rows, as ``print(estimates)`` shows them."""
    rows = table(estimates, top=_ROWS_PRINTED)
    return text_of(header(estimates), rows, len(estimates) - _ROWS_PRINTED, estimates.notes)


def text_of(head: str, rows: Table, more: int, notes: Iterable[str]) -> str:
    """A result as text: its header, the rows shown, how many more there are, and its notes."""
    out = io.StringIO()
    console = Console(file=out, width=120, color_system=None)
    print_line(console, head)
    print_whole(console, rows)
    if more > 0:
        console.print(f"... and {more} more", highlight=False)
    for note in notes:
        print_line(console, f"note: {note}")
    return out.getvalue().rstrip("\n")


def print_line(console: Console, line: str) -> None:
    """Prints ``line`` as it is, on one line however long; control characters in it as escapes."""
    console.print(Text(visible(line)), soft_wrap=True)


def print_whole(console: Console, grid: Table) -> None:
    """Prints ``grid`` as wide as it is: a figure that is cut or wrapped to fit a terminal is a wrong figure."""
    width = Measurement.get(console, console.options.update(max_width=_WIDEST), grid).maximum
    console.width = max(width, console.width)
    console.print(grid)


def table(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None,
) -> Table:  # fmt: skip
    """A rich table with one row a value; one row for a mean."""
    columns = _columns(estimates, alpha, correction, consistent)
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        if name in ("value", "range"):
            grid.add_column(name, overflow="fold", max_width=_VALUE_WIDTH)
        else:
            grid.add_column(name, justify="right", no_wrap=True)
    mean = isinstance(estimates, Mean)
    for row in list(zip(*columns.values(), strict=True))[:top]:
        # As Text, which is printed as it is: in a str rich reads markup, and codes such as :smile:.
        grid.add_row(*(Text(cell_text(name, value, mean=mean)) for name, value in zip(columns, row, strict=True)))
    return grid


def as_csv(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None,
) -> str:  # fmt: skip
    """RFC 4180 CSV with a header row and ``\\n`` line ends; numbers as the shortest text that reads back the same."""
    columns = _columns(estimates, alpha, correction, consistent)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in list(zip(*columns.values(), strict=True))[:top]:
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    return out.getvalue()


def as_json(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None, periods: Sequence[int] = (), suspects: Sequence[Suspect] = (),
) -> str:  # fmt: skip
    """One JSON object: the header's figures, ``notes``, ``suspicious`` parts, and ``rows`` with an object a value.

    ``alpha`` and ``correction`` are left out for a mean, quantiles and ranges, which are not tested.
    """
    columns = _columns(estimates, alpha, correction, consistent)
    tested = {"alpha": alpha, "correction": correction} if isinstance(estimates, Estimates) else {}
    diagnostics = getattr(estimates, "diagnostics", {})
    document = {
        "metric": estimates.metric,
        "mechanism": estimates.mechanism,
        "n": estimates.n,
        "epsilon": estimates.epsilon,
        "exact": [estimates.ratio.numerator, estimates.ratio.denominator],
        "periods": list(periods),
        "level": estimates.level,
        **tested,
        **({"diagnostics": dict(diagnostics)} if diagnostics else {}),
        "notes": list(estimates.notes),
        "suspicious": [suspect._asdict() for suspect in suspects],
        "rows": [dict(zip(columns, row, strict=True)) for row in list(zip(*columns.values(), strict=True))[:top]],
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _columns(
    estimates: Result, alpha: float, correction: Correction, consistent: bool
) -> dict[str, list[str | float | bool]]:
    if not isinstance(estimates, Estimates):
        return {name: list(column) for name, column in estimates.columns(consistent=consistent).items()}
    columns = estimates.columns(alpha=alpha, correction=correction, consistent=consistent)
    # tolist() turns numpy scalars into Python's own, which csv and json know.
    return {name: column.tolist() if hasattr(column, "tolist") else list(column) for name, column in columns.items()}


def cell_text(name: str, value: Any, *, mean: bool) -> str:
    """A figure of column ``name`` as a table for people shows it."""
    if name in ("value", "range"):
        return visible(str(value))
    if name == "significant":
        return "yes" if value else "no"
    if name == "p_value":
        return f"{value:.2g}"
    if name == "frequency":
        return f"{value:.3%}"
    if name == "probability":
        return f"{value:g}"
    if isinstance(value, int):
        return f"{value:,}"
    if mean:
        return f"{value:,.6g}" if abs(value) < 100_000 else f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
