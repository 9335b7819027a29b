"""What a device spends: one report, a period, a year, its life; one metric and the whole namespace.

Basic composition (Dwork, McSherry, Nissim, Smith 2006): the epsilons of a device's reports add up. All sums are exact;
only the logarithm in a report's epsilon is rounded, up, by less than one part in 1e50.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from hubbub_registry.metric import Metric

SECONDS_PER_YEAR = 365 * 86400


@dataclass(frozen=True)
class Reports:
    """How many reports a device may send: in a period, in a year of periods, in its life (None: without end)."""

    per_period: int
    per_year: int
    lifetime: int | None


@dataclass(frozen=True)
class Spending:
    """Epsilon of one report, of a period, of a year and of a lifetime (None where it has no bound)."""

    per_report: Fraction
    per_period: Fraction
    per_year: Fraction
    lifetime: Fraction | None


def reports(metric: Metric) -> Reports:
    """The reports that the plan's integers let a device send.

    The lifetime is what the device's own ledger pays for: ``lifetime_nano // epsilon_nano`` reports. A year is the
    number of periods that 365 days begin, counted from the start of a period.
    """
    per_period = metric.reports_per_period
    per_year = -(-SECONDS_PER_YEAR // metric.period) * per_period
    if metric.device.lifetime_nano is None:
        return Reports(per_period, per_year, None)
    lifetime = metric.device.lifetime_nano // metric.device.epsilon_nano
    return Reports(min(per_period, lifetime), min(per_year, lifetime), lifetime)


def spending(metric: Metric) -> Spending:
    """What one device spends on ``metric`` at most."""
    count, one = reports(metric), metric.exact_epsilon
    lifetime = None if count.lifetime is None else count.lifetime * one
    return Spending(one, count.per_period * one, count.per_year * one, lifetime)


def total(parts: Iterable[Spending]) -> Spending:
    """What one device spends over several metrics: the figure for the whole system, not for one mechanism.

    Each column is summed by itself: ``per_report`` is one report of each metric, ``per_period`` one period of each
    (periods may differ). One lifetime without a bound leaves the sum without one.
    """
    parts = list(parts)
    lifetimes = [part.lifetime for part in parts if part.lifetime is not None]
    return Spending(
        sum((part.per_report for part in parts), Fraction()),
        sum((part.per_period for part in parts), Fraction()),
        sum((part.per_year for part in parts), Fraction()),
        sum(lifetimes, Fraction()) if len(lifetimes) == len(parts) else None,
    )
