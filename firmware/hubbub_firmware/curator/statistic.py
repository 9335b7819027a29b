"""What one reading adds to a statistic. Tests hold this against the sensitivities, over all small data sets."""

from __future__ import annotations

from hubbub_registry.curator import Curated


def add_reading(curated: Curated, cells: list[int], value: int) -> None:
    """Adds one reading to the cells: 1 to a count, the clamped value to a sum, 1 to a histogram's bucket."""
    clamped = min(max(value, curated.low), curated.high)
    if curated.statistic == "count":
        cells[0] += 1
    elif curated.statistic == "sum":
        cells[0] += clamped
    else:
        cells[(clamped - curated.low) * curated.buckets // (curated.high - curated.low + 1)] += 1
