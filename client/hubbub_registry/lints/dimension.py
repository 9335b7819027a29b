"""What a public dimension costs: the crowd is cut up, and what is in the clear may say what is reported."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date

from hubbub_registry.lints.finding import Finding, error, warning
from hubbub_registry.metric import Metric

# Beyond it an average cell has errors four times those of the whole.
MOST_CELLS = 16


def dimension(metric: Metric, _today: date) -> Iterator[Finding]:
    """``dimension-thin`` and ``dimension-of-values``.

    With k cells of equal size a cell holds n / k of the n reports, so the standard error of a share in it is sqrt(k)
    times that of the same share in the whole.
    """
    split = metric.dimension
    if split is None:
        return
    cells = len(split.values)
    if cells > MOST_CELLS:
        yield warning(
            metric,
            "dimension-thin",
            "dimension.values",
            f"{cells} cells: in one of average size the standard error of a share is {math.sqrt(cells):.2g} times that "
            f"of the whole, and smaller ones are worse; a {split.name} that few devices have says who reported",
            f"list at most {MOST_CELLS}, and let one stand for the rest (other)",
        )
    shared = [value for value in split.values if value != split.other and _may_be_reported(metric, value)]
    if shared:
        yield error(
            metric,
            "dimension-of-values",
            "dimension.values",
            f"{len(shared)} of the metric's own values can be sent in the clear as its {split.name}, the first is "
            f"{shared[0]!r}",
            "let the dimension be what the app knows of itself, and never the value that is reported",
        )


def _may_be_reported(metric: Metric, value: str) -> bool:
    """Whether ``value`` is known to be one that an app reports: listed, a candidate, or an integer of the range."""
    if any(_may_be_reported(part, value) for part in metric.parts):
        return True
    if not metric.numeric:
        return value in metric.values or value in metric.candidates
    try:
        return metric.settings["low"] <= int(value) <= metric.settings["high"] and str(int(value)) == value
    except ValueError:
        return False
