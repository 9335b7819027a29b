"""Named checks over curated metrics, in the manner of ``hubbub_registry.lints``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction

from hubbub_registry.curator.accounting import loss, releases_paid
from hubbub_registry.curator.curated import Curated
from hubbub_registry.lints.budget import HIGH_EPSILON, HIGH_LIFETIME
from hubbub_registry.lints.expiry import FAR_DAYS
from hubbub_registry.lints.finding import Finding, Level

LINTS = frozenset(
    {"expired", "expires-far", "epsilon-high", "lifetime-high", "lifetime-short", "delta-high", "noise-high"}
)
# With 1000 sensors a delta of 1e-6 is already one chance in a thousand that one of them loses everything.
HIGH_DELTA = Fraction(1, 10**6)


def lint_curated(metrics: Iterable[Curated], today: date) -> list[Finding]:
    """Everything that the checks find in curated metrics on the day ``today`` (UTC)."""
    return [
        replace(finding, silenced=curated.silenced.get(finding.lint))
        for curated in metrics
        for check in (_expiry, _budget, _noise)
        for finding in check(curated, today)
    ]


def _expiry(curated: Curated, today: date) -> Iterator[Finding]:
    """``expired`` (an error) and ``expires-far``."""
    if curated.expires <= today:
        what = f"{curated.expires} has come: the gateway releases no more"
        yield _found(curated, "expired", "expires", what, "remove it, or decide on a new date", "error")
    elif (curated.expires - today).days > FAR_DAYS:
        what = f"{curated.expires} is more than two years away"
        yield _found(curated, "expires-far", "expires", what, "choose a date by which somebody will decide again")


def _budget(curated: Curated, today: date) -> Iterator[Finding]:
    """``epsilon-high``, ``lifetime-high``, ``lifetime-short`` and ``delta-high``."""
    period, life = loss(curated, "per_period").epsilon, loss(curated, "lifetime").epsilon
    if period > HIGH_EPSILON:
        what = f"one period costs a sensor epsilon {float(period):.4g}"
        yield _found(curated, "epsilon-high", curated.unit, what, "lower it and let more sensors report")
    if life > HIGH_LIFETIME:
        what = (
            f"a sensor may lose epsilon {float(life):.6g} in its life; past {HIGH_LIFETIME} the sum rules nothing out"
        )
        yield _found(curated, "lifetime-high", f"lifetime_{curated.unit}", what, "lower it, or lengthen the period")
    paid, left = releases_paid(curated), (curated.expires - today).days * 86400
    if left > 0 and paid < -(-left // curated.period):
        what = f"{paid} releases are paid for, fewer than the periods until {curated.expires}"
        yield _found(curated, "lifetime-short", f"lifetime_{curated.unit}", what, "raise it, or lengthen the period")
    if curated.delta is not None and curated.delta > HIGH_DELTA:
        what = f"{float(curated.delta):g} is the chance that a sensor is not protected at all"
        yield _found(curated, "delta-high", "delta", what, f"write at most {float(HIGH_DELTA):g}")


def _noise(curated: Curated, _today: date) -> Iterator[Finding]:
    """``noise-high``: the interval is wider than all that the fewest sensors could add up to."""
    largest = max(abs(curated.low), abs(curated.high)) if curated.statistic == "sum" else 1
    wide, most = curated.half_width, curated.sensors_minimum * curated.contributions * largest
    if wide > most:
        what = f"a 95 % interval reaches {wide} to each side, and the fewest sensors add up to {most} at most"
        yield _found(curated, "noise-high", curated.unit, what, "raise it, or ask for more sensors")


def _found(curated: Curated, lint: str, key: str, what: str, remedy: str, level: Level = "warning") -> Finding:
    return Finding(lint, level, f"curated.{curated.name}.{key}", what, remedy)
