"""How much a metric lets a device spend."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from hubbub_registry.accounting import reports, spending
from hubbub_registry.exact import float_up
from hubbub_registry.lints.finding import Finding, warning
from hubbub_registry.metric import Metric

# e^8 is 2981: one report then moves any prior above 1 in 2982 past even odds.
HIGH_EPSILON = 8
# e^23 is 9.7e9, more than there are people: past it, what is sent in a lifetime could single out anybody of all.
HIGH_LIFETIME = 23


def budget(metric: Metric, today: date) -> Iterator[Finding]:
    """``epsilon-high``, ``lifetime-unbounded``, ``lifetime-high`` and ``lifetime-short``."""
    spent = spending(metric)
    if spent.per_report > HIGH_EPSILON:
        yield warning(
            metric,
            "epsilon-high",
            "epsilon",
            f"one report costs {float_up(spent.per_report):.4g}: it can make a value over 2981 (e^{HIGH_EPSILON}) "
            "times as likely, against another, as it was before",
            "lower epsilon and let more devices report",
        )
    if spent.lifetime is None:
        yield warning(
            metric,
            "lifetime-unbounded",
            "lifetime_epsilon",
            "a device may spend without end",
            "give it a lifetime_epsilon",
        )
        return
    if spent.lifetime > HIGH_LIFETIME:
        yield warning(
            metric,
            "lifetime-high",
            "lifetime_epsilon",
            f"a device may spend {float_up(spent.lifetime):.6g} in its life; past {HIGH_LIFETIME} the sum alone rules "
            "nothing out, and protection rests on the figures per report and per period",
            "lower lifetime_epsilon or epsilon, or lengthen the period",
        )
    yield from _short(metric, today)


def _short(metric: Metric, today: date) -> Iterator[Finding]:
    lifetime = reports(metric).lifetime
    left = (metric.expires - today).days * 86400
    if lifetime is None or lifetime >= -(-left // metric.period) * metric.reports_per_period:
        return
    # Fewer periods are paid for than are left, so the sum is a day before ``expires``.
    end = today + timedelta(seconds=lifetime // metric.reports_per_period * metric.period)
    yield warning(
        metric,
        "lifetime-short",
        "lifetime_epsilon",
        f"a device that reports all it may from today has spent it by {end}, before {metric.expires}",
        "raise lifetime_epsilon, lengthen the period, or let the metric expire earlier",
    )
