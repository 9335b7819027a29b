"""Estimates, or a mean, as text: a table for people, CSV and JSON for programs.

``docs/decoding.md`` documents the formats.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.numbers.result import RangeResult
from hubbub_decoder.output.columns import LABELS, Columns, csv_of, grid_of, json_of, top_rows
from hubbub_decoder.output.identity import identity
from hubbub_decoder.output.visible import visible, visible_value
from hubbub_decoder.screen.suspect import Suspect
from hubbub_decoder.statistics.significance import Correction

Result = Estimates | Mean | RangeResult
"""All have ``columns``, and what the header shows."""

TABLE_ROWS = 200
"""Rows of a table where nobody says how many: a table for people, of 20,000 rows, would take a minute to lay out."""
_ROWS_PRINTED = 20  # by print(estimates)
_READABLE = 24  # characters of a fraction
_WIDEST = 1000
_SHARES = frozenset({"frequency", "given_first", "given_low", "given_high"})


def header(estimates: Result) -> str:
    """What the figures are of, on one line: metric, n, mechanism, epsilon."""
    return (
        f"{estimates.metric}: n = {estimates.n:,} reports, {estimates.mechanism}, "
        f"{epsilon_text(estimates.epsilon, estimates.ratio)}"
    )


def epsilon_text(epsilon: float, ratio: Fraction) -> str:
    """Epsilon of one report; with the fraction whose logarithm it is where that is short. JSON has it always."""
    exactly = f"{ratio.numerator}/{ratio.denominator}"
    return f"epsilon = {epsilon:.6g} a report" + (f" (exactly ln {exactly})" if len(exactly) <= _READABLE else "")


def as_text(estimates: Result) -> str:
    """The header and the first rows, as ``print(estimates)`` shows them."""
    rows = table(estimates, top=_ROWS_PRINTED)
    return text_of(header(estimates), rows, len(estimates) - _ROWS_PRINTED, estimates.notes)


def text_of(head: str, rows: Table, more: int, notes: Iterable[str]) -> str:
    """A result as text: its header's lines, the rows shown, how many more there are, and its notes."""
    out = io.StringIO()
    console = Console(file=out, width=120, color_system=None)
    print_header(console, head)
    print_whole(console, rows)
    if more > 0:
        console.print(f"... and {more} more", highlight=False)
    for note in notes:
        print_line(console, f"note: {note}")
    return out.getvalue().rstrip("\n")


def print_header(console: Console, head: str) -> None:
    """Prints each line of ``head``."""
    for line in head.split("\n"):
        print_line(console, line)


def print_line(console: Console, line: str) -> None:
    """Prints ``line`` as it is, on one line however long; control characters in it as escapes."""
    console.print(Text(visible(line)), soft_wrap=True)


def print_whole(console: Console, whole: Table) -> None:
    """Prints ``whole`` as wide as it is: a figure that is cut or wrapped to fit a terminal is a wrong figure."""
    width = Measurement.get(console, console.options.update(max_width=_WIDEST), whole).maximum
    console.width = max(width, console.width)
    console.print(whole)


def table(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None,
) -> Table:  # fmt: skip
    """A rich table with one row a value; one row for a mean."""
    shown = columns(estimates, alpha=alpha, correction=correction, consistent=consistent, top=top)
    return grid(estimates, shown)


def grid(estimates: Result, rows: Columns) -> Table:
    """A rich table of ``rows``, columns of ``estimates``."""
    return grid_of(rows, partial(cell_text, mean=isinstance(estimates, Mean)))


def as_csv(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None,
) -> str:  # fmt: skip
    """RFC 4180 CSV with a header row and ``\\n`` line ends; numbers as the shortest text that reads back the same."""
    return csv_of(columns(estimates, alpha=alpha, correction=correction, consistent=consistent, top=top))


def as_json(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None, periods: Sequence[int] = (), suspects: Sequence[Suspect] = (),
) -> str:  # fmt: skip
    """One JSON object: what ``described`` gives, and ``rows`` with an object a value."""
    about = described(estimates, alpha=alpha, correction=correction, periods=periods, suspects=suspects)
    return json_of(about, columns(estimates, alpha=alpha, correction=correction, consistent=consistent, top=top))


def described(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", periods: Sequence[int] = (),
    suspects: Sequence[Suspect] = (),
) -> dict[str, Any]:  # fmt: skip
    """All that a JSON object holds beside its rows: the header's figures, ``notes`` and ``suspicious`` parts.

    ``alpha`` and ``correction`` are left out for a mean, quantiles and ranges, which are not tested.
    """
    tested = {"alpha": alpha, "correction": correction} if isinstance(estimates, Estimates) else {}
    diagnostics = getattr(estimates, "diagnostics", {})
    return {
        **identity(estimates),
        "periods": list(periods),
        "level": estimates.level,
        **tested,
        **({"diagnostics": dict(diagnostics)} if diagnostics else {}),
        "notes": list(estimates.notes),
        "suspicious": [suspect._asdict() for suspect in suspects],
    }


def columns(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None,
) -> Columns:  # fmt: skip
    """The first ``top`` rows (None: all) of the columns that every output shows."""
    if isinstance(estimates, Estimates):
        return top_rows(estimates.columns(alpha=alpha, correction=correction, consistent=consistent), top)
    return top_rows(estimates.columns(consistent=consistent), top)


def cell_text(name: str, value: Any, *, mean: bool = False) -> str:
    """A figure of column ``name`` as a table for people shows it."""
    if name in LABELS:
        return visible_value(str(value))
    if name == "significant":
        return "yes" if value else "no"
    if name == "p_value":
        return f"{value:.2g}"
    if name in _SHARES:
        return f"{value:z.3%}"
    if name == "probability":
        return probability_text(value)
    if isinstance(value, int):
        return f"{value:,}"
    if mean:
        return f"{value:z,.6g}" if abs(value) < 100_000 else f"{value:,.0f}"
    return f"{value:z,.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def probability_text(value: float) -> str:
    """A probability that was asked for: never rounded to another, such as 1."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
