"""What one sensor loses to curated metrics: a period, a year, a life; one metric and all of them.

Epsilons of discrete Laplace releases add up (basic composition), and so do the rhos of discrete Gaussian ones (Bun and
Steinke 2016, lemma 1.7). A sum of rhos is converted to (epsilon, delta) once, after adding, and then added to the
sum of the epsilons.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from hubbub_registry.accounting import SECONDS_PER_YEAR
from hubbub_registry.curator.concentrated import epsilon_of
from hubbub_registry.curator.curated import Curated

SPANS = ("per_period", "per_year", "lifetime")


@dataclass(frozen=True)
class Loss:
    """Pure epsilon, and rho of zCDP beside it, with the delta at which rho is shown (None where there is no rho)."""

    pure: Fraction
    rho: Fraction
    delta: Fraction | None

    @property
    def epsilon(self) -> Fraction:
        """Epsilon of all of it, at ``delta``; pure where there is none."""
        return self.pure if self.delta is None else self.pure + epsilon_of(self.rho, self.delta)


def releases_paid(curated: Curated) -> int:
    """How many releases the gateway's ledger pays for in the life of the metric."""
    return curated.lifetime_nano // curated.charge_nano


def releases(curated: Curated) -> dict[str, int]:
    """The most releases in a period, in the periods that a year begins, and in the life of the metric."""
    paid = releases_paid(curated)
    return {"per_period": 1, "per_year": min(paid, -(-SECONDS_PER_YEAR // curated.period)), "lifetime": paid}


def loss(curated: Curated, span: str) -> Loss:
    """What ``curated`` costs one sensor over ``span``, one of ``SPANS``."""
    spent = releases(curated)[span] * curated.loss
    nothing = Fraction(0)
    return Loss(nothing, spent, curated.delta) if curated.gaussian else Loss(spent, nothing, None)


def total(metrics: Iterable[Curated], span: str) -> Loss:
    """What all of them cost one sensor. Delta is the least of theirs, which gives the larger epsilon."""
    parts = [loss(curated, span) for curated in metrics]
    deltas = [part.delta for part in parts if part.delta is not None]
    return Loss(
        sum((part.pure for part in parts), Fraction(0)),
        sum((part.rho for part in parts), Fraction(0)),
        min(deltas, default=None),
    )
