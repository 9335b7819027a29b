"""Estimates, or a mean, as an Arrow table: the columns of ``hubbub decode``, and the rest of its JSON as metadata."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hubbub_decoder.arrow import arrow_table
from hubbub_decoder.significance import Correction

if TYPE_CHECKING:
    import pyarrow as pa

    from hubbub_decoder.reading import Suspect
    from hubbub_decoder.render import Result


def result_table(
    estimates: Result, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False,
    top: int | None = None, periods: Sequence[int] = (), suspects: Sequence[Suspect] = (),
) -> pa.Table:  # fmt: skip
    """One row a value; the schema's metadata holds under ``hubbub`` what ``--format json`` says beside its rows."""
    from hubbub_decoder.estimates import Estimates
    from hubbub_decoder.render import as_json

    options: dict[str, Any] = {"alpha": alpha, "correction": correction, "consistent": consistent}
    described = json.loads(as_json(estimates, **options, top=0, periods=periods, suspects=suspects))
    del described["rows"]
    if not isinstance(estimates, Estimates):
        return arrow_table(estimates.columns(consistent=consistent), described)
    columns = estimates.columns(**options)
    return arrow_table({name: column[:top] for name, column in columns.items()}, described)
