"""What a device spends: one report, a period, a year, its life; one metric and the whole namespace.

Basic composition (Dwork, McSherry, Nissim, Smith 2006): the epsilons of a device's reports add up. All sums are exact;
only the logarithm in a report's epsilon is rounded, up, by less than one part in 1e50.
"""

from __future__ import annotations

from bisect import bisect_right
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

    The lifetime is what the device's own ledger pays for: ``lifetime_nano // epsilon_nano`` reports; with permanent
    noise the reports of ONE value that it pays for, which may be without end, since they never cost more than their
    bound. A year is the number of periods that 365 days begin, counted from the start of a period.
    """
    within_year = reports_within(metric, SECONDS_PER_YEAR)
    return Reports(min(metric.reports_per_period, within_year), within_year, _lifetime(metric))


def reports_within(metric: Metric, seconds: int) -> int:
    """The most reports in ``seconds``, counted from the start of a period; every period that is begun counts."""
    allowed = -(-seconds // metric.period) * metric.reports_per_period
    lifetime = _lifetime(metric)
    return allowed if lifetime is None else min(allowed, lifetime)


def spending(metric: Metric) -> Spending:
    """What one device spends on ``metric`` at most.

    With permanent noise this is between two histories of values that change at the same reports, as any figure is.
    """
    count = reports(metric)
    one, period, year = (epsilon_of(metric, number) for number in (1, count.per_period, count.per_year))
    lifetime = _budget(metric) if count.lifetime is None else epsilon_of(metric, count.lifetime)
    return Spending(one, period, year, lifetime)


def epsilon_of(metric: Metric, number: int) -> Fraction:
    """What ``number`` reports of any values cost at most: their sum, and never over what the device's ledger pays."""
    everything, budget = number * metric.exact_epsilon, _budget(metric)
    return everything if budget is None else min(everything, budget)


def _budget(metric: Metric) -> Fraction | None:
    """The lifetime's epsilon as the ledger holds it; None where it is unbounded."""
    nano = metric.device.lifetime_nano
    return None if nano is None else Fraction(nano, 10**9)


def _lifetime(metric: Metric) -> int | None:
    budget = metric.device.lifetime_nano
    if budget is None:
        return None
    charges: list[int] | None = metric.entry.get("charges")
    if charges is None:
        return budget // metric.device.epsilon_nano
    # Cumulative; past the last, which bounds any number of reports of the value, they cost no more.
    return None if charges[-1] <= budget else bisect_right(charges, budget)


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
