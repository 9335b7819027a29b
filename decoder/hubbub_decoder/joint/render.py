"""Joint estimates as text, CSV, JSON and Arrow; ``docs/joint.md`` documents the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from hubbub_decoder.asking import Result
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.output import render
from hubbub_decoder.output.arrow import arrow_table
from hubbub_decoder.output.columns import Columns, csv_of, grid_of, json_of, top_rows
from hubbub_decoder.output.identity import identity
from hubbub_decoder.output.render import cell_text, text_of
from hubbub_decoder.screen.suspect import Suspect
from hubbub_decoder.statistics.significance import Correction

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_PRINTED = 20
_SIDES = ("first", "second")


def header(estimates: JointEstimates) -> str:
    """What the figures are of: metric, n and epsilon on one line, the test of independence on another."""
    return (
        f"{estimates.metric}: n = {estimates.n:,} reports of pairs, "
        f"{render.epsilon_text(estimates.epsilon, estimates.ratio)}\n"
        f"test of independence: {independence_text(estimates)}"
    )


def independence_text(estimates: JointEstimates) -> str:
    """The p-value, and what it is of."""
    test = estimates.independence
    degrees = f"{test.degrees} degree{'' if test.degrees == 1 else 's'} of freedom"
    return f"p = {test.p_value:.2g} (chi-squared {test.statistic:.4g}, {degrees})"


def header_of(result: Result) -> str:
    """The header of any result, a line or two."""
    return header(result) if isinstance(result, JointEstimates) else render.header(result)


def as_text(estimates: JointEstimates) -> str:
    """The header and the first rows, as ``print(estimates)`` shows them."""
    rows = table(estimates, top=_ROWS_PRINTED)
    return text_of(header(estimates), rows, len(estimates) - _ROWS_PRINTED, estimates.notes)


def table(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None
) -> Table:
    """A rich table with one row a pair."""
    return grid(columns(estimates, alpha=alpha, correction=correction, top=top))


def grid(rows: Columns) -> Table:
    """A rich table of ``rows``, columns of joint estimates."""
    return grid_of(rows, cell_text)


def as_csv(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None
) -> str:
    """RFC 4180 CSV with a header row and ``\\n`` line ends; a share of nobody is empty."""
    return csv_of(columns(estimates, alpha=alpha, correction=correction, top=top))


def as_json(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None,
    periods: Sequence[int] = (), suspects: Sequence[Suspect] = (),
) -> str:  # fmt: skip
    """One JSON object: the header's figures, marginals, ``notes``, ``suspicious`` parts, and ``rows``, a pair each."""
    about = described(estimates, alpha=alpha, correction=correction, periods=periods, suspects=suspects)
    return json_of(about, columns(estimates, alpha=alpha, correction=correction, top=top))


def described(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", periods: Sequence[int] = (),
    suspects: Sequence[Suspect] = (),
) -> dict[str, Any]:  # fmt: skip
    """All that a JSON object holds beside its rows."""
    return {
        **identity(estimates),
        "periods": list(periods),
        "level": estimates.level,
        "alpha": alpha,
        "correction": correction,
        "independence": estimates.independence._asdict(),
        "marginals": {side: _marginal(estimates, side) for side in _SIDES},
        "notes": list(estimates.notes),
        "suspicious": [suspect._asdict() for suspect in suspects],
    }


def columns(
    estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm", top: int | None = None
) -> Columns:
    """The first ``top`` rows (None: all) of the columns that every output shows; a share of nobody is NaN."""
    return top_rows(estimates.columns(alpha=alpha, correction=correction), top)


def arrow(estimates: JointEstimates, *, alpha: float = 0.05, correction: Correction = "holm") -> pa.Table:
    """One row a pair; the schema's metadata holds under ``hubbub`` what ``described`` gives."""
    about = described(estimates, alpha=alpha, correction=correction)
    return arrow_table(columns(estimates, alpha=alpha, correction=correction), about)


def _marginal(estimates: JointEstimates, side: str) -> list[dict[str, Any]]:
    marginal = estimates.marginal(side)
    columns = {
        "value": list(marginal.value), "count": marginal.count.tolist(), "std_error": marginal.std_error.tolist(),
        "low": marginal.low.tolist(), "high": marginal.high.tolist(),
    }  # fmt: skip
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
