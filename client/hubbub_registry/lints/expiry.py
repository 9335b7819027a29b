"""A metric has an end, so that somebody decides again whether it is still needed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from hubbub_registry.lints.finding import Finding, warning
from hubbub_registry.metric import Metric

FAR_DAYS = 2 * 365 + 1


def expiry(metric: Metric, today: date) -> Iterator[Finding]:
    """``expired``: devices refuse it already. ``expires-far``: nobody will look at it again for two years."""
    if metric.expires <= today:
        yield Finding(
            "expired",
            "error",
            f"metrics.{metric.name}.expires",
            f"{metric.expires} has come: devices no longer report",
            "remove the metric, or decide on a new date",
        )
    elif (metric.expires - today).days > FAR_DAYS:
        yield warning(
            metric,
            "expires-far",
            "expires",
            f"{metric.expires} is more than two years away",
            "choose a date by which somebody will decide again",
        )
