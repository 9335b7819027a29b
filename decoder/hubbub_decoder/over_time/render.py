"""Trends and changes as text for people. ``docs/decoding.md`` has the formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rich.table import Table

from hubbub_decoder.joint.render import header_of
from hubbub_decoder.output.columns import LABELS, Columns, grid_of, top_rows
from hubbub_decoder.output.render import probability_text, text_of
from hubbub_decoder.output.visible import visible_value
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.trend import Trend
from hubbub_decoder.statistics.significance import Correction

TOP = 10
"""Values in a table or a picture, where nobody says how many."""

_SHARES = frozenset({"frequency", "before", "after", "difference", "std_error", "low", "high"})


def trend_header(trend: Trend) -> str:
    """What the figures are of: a header of all periods together, whose first line says how many there are."""
    first, *more = header_of(trend.pooled).split("\n")
    return "\n".join((f"{first}, {len(trend)} period{'' if len(trend) == 1 else 's'}", *more))


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
    return text_of(trend_header(trend), table(columns, shares="frequency" in columns), 0, trend.notes)


def change_text(change: Change) -> str:
    """The header and the least likely changes, as ``print(change)`` shows them."""
    grid = table(rows_of(change, top=TOP), shares=change.what == "frequency")
    return text_of(change_header(change), grid, 0, change.notes)


def rows_of(change: Change, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None) -> Columns:
    """The columns of the first ``top`` rows."""
    return top_rows(change.columns(alpha=alpha, correction=correction), top)


def table(columns: Columns, *, shares: bool) -> Table:
    """A rich table; where figures are ``shares`` they are shown in per cent."""
    return grid_of(columns, partial(_cell, shares=shares))


def _cell(name: str, value: Any, *, shares: bool) -> str:
    if name in LABELS or name == "begins":
        return visible_value(str(value))
    if name == "significant":
        return "yes" if value else "no"
    if name in _SPECS:
        return _SPECS[name](value)
    if shares and name in _SHARES:
        return f"{value:z.3%}"
    return f"{value:z,.6g}" if abs(value) < 100_000 else f"{value:,.0f}"


_SPECS: dict[str, Callable[[Any], str]] = {
    "p_value": "{:.2g}".format, "n": "{:,}".format, "period": str, "probability": probability_text
}  # fmt: skip
