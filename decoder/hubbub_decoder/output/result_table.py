"""Estimates, or a mean, as an Arrow table: the columns of ``hubbub decode``, and the rest of its JSON as metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub_decoder.output.arrow import arrow_table
from hubbub_decoder.statistics.significance import Correction

if TYPE_CHECKING:
    import pyarrow as pa

    from hubbub_decoder.output.render import Result


def result_table(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False
) -> pa.Table:
    """One row a value; the schema's metadata holds under ``hubbub`` what ``--format json`` says beside its rows."""
    from hubbub_decoder.output import render  # it imports the results

    columns = render.columns(estimates, alpha=alpha, correction=correction, consistent=consistent)
    return arrow_table(columns, render.described(estimates, alpha=alpha, correction=correction))
