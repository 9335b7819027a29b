"""Joint estimates as text, CSV, JSON and Arrow; ``docs/joint.md`` documents the columns."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hubbub_decoder.arrow import arrow_table
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.reading import Suspect
from hubbub_decoder.render import text_of
from hubbub_decoder.significance import Correction
from hubbub_decoder.visible import visible

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_PRINTED = 20
_VALUE_WIDTH = 40
_LABELS = ("first", "second")
_SHARES = ("frequency", "given_first", "given_low", "given_high")


def header(estimates: JointEstimates) -> str:
    """What the figures are of, on one line: metric, n, parts, exact epsilon, and the test of independence."""
    test = estimates.independence
    return (
        f"{estimates.metric}: n = {estimates.n:,} reports of pairs, epsilon = {estimates.epsilon:.6g} a report "
        f"(exactly ln {estimates.ratio.numerator}/{estimates.ratio.denominator}); independent: p = {test.p_value:.2g} "
        f"(chi-squared {test.statistic:.4g}, {test.degrees} degrees)"
    )


def as_text(estimates: JointEstimates) -> str:
    """The header and the first rows, as ``print(estimates)`` shows them."""
    rows = table(estimates, top=_ROWS_PRINTED)
    return text_of(header(estimates), rows, len(estimates) - _ROWS_PRINTED, estimates.notes)


def table(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None
) -> Table:
    """A rich table with one row a pair."""
    columns = _columns(estimates, alpha, correction)
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        if name in _LABELS:
            grid.add_column(name, overflow="fold", max_width=_VALUE_WIDTH)
        else:
            grid.add_column(name, justify="right", no_wrap=True)
    for row in list(zip(*columns.values(), strict=True))[:top]:
        grid.add_row(*(Text(_cell(name, value)) for name, value in zip(columns, row, strict=True)))
    return grid


def as_csv(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None
) -> str:
    """RFC 4180 CSV with a header row and ``\\n`` line ends; a share of nobody is empty."""
    columns = _columns(estimates, alpha, correction)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in list(zip(*columns.values(), strict=True))[:top]:
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    return out.getvalue()


def as_json(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None,
    periods: Sequence[int] = (), suspects: Sequence[Suspect] = (),
) -> str:  # fmt: skip
    """One JSON object: the header's figures, marginals, ``notes``, ``suspicious`` parts, and ``rows``, a pair each."""
    columns = _columns(estimates, alpha, correction)
    document = {
        **described(estimates, alpha=alpha, correction=correction, periods=periods, suspects=suspects),
        "rows": [dict(zip(columns, row, strict=True)) for row in list(zip(*columns.values(), strict=True))[:top]],
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def described(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", periods: Sequence[int] = (),
    suspects: Sequence[Suspect] = (),
) -> dict[str, Any]:  # fmt: skip
    """All that a JSON object holds beside its rows."""
    return {
        "metric": estimates.metric,
        "mechanism": estimates.mechanism,
        "n": estimates.n,
        "epsilon": estimates.epsilon,
        "exact": [estimates.ratio.numerator, estimates.ratio.denominator],
        "periods": list(periods),
        "level": estimates.level,
        "alpha": alpha,
        "correction": correction,
        "independence": estimates.independence._asdict(),
        "marginals": {side: _marginal(estimates, side) for side in _LABELS},
        "notes": list(estimates.notes),
        "suspicious": [suspect._asdict() for suspect in suspects],
    }


def arrow(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None,
    periods: Sequence[int] = (), suspects: Sequence[Suspect] = (),
) -> pa.Table:  # fmt: skip
    """One row a pair; the schema's metadata holds under ``hubbub`` what ``described`` gives."""
    about = described(estimates, alpha=alpha, correction=correction, periods=periods, suspects=suspects)
    columns = estimates.columns(alpha=alpha, correction=correction)
    return arrow_table({name: column[:top] for name, column in columns.items()}, about)


def _marginal(estimates: JointEstimates, side: str) -> list[dict[str, Any]]:
    marginal = estimates.marginal(side)
    columns = {
        "value": list(marginal.value), "count": marginal.count.tolist(), "std_error": marginal.std_error.tolist(),
        "low": marginal.low.tolist(), "high": marginal.high.tolist(),
    }  # fmt: skip
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _columns(estimates: JointEstimates, alpha: float, correction: Correction) -> dict[str, list[Any]]:
    columns = estimates.columns(alpha=alpha, correction=correction)
    plain = {name: column.tolist() if hasattr(column, "tolist") else list(column) for name, column in columns.items()}
    # JSON knows no NaN: a share of a row that nobody is in is no number.
    return {name: [None if _is_nan(value) else value for value in column] for name, column in plain.items()}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in _LABELS:
        return visible(str(value))
    if name == "significant":
        return "yes" if value else "no"
    if name == "p_value":
        return f"{value:.2g}"
    if name in _SHARES:
        return f"{value:.2%}"
    return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
