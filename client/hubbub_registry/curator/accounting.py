"""What one sensor loses to curated metrics: a period, a year, a life; one metric and all of them.

Epsilons of discrete Laplace releases add up (basic composition), and so do the rhos of discrete Gaussian ones (Bun and
Steinke 2016, lemma 1.7). A sum of rhos is converted to (epsilon, delta) once, after adding, and then added to the
sum of the epsilons. Neighbours of the sum are those of the metrics; where these differ, they are those of ``replace``,
which hold the others, and what an ``add-remove`` metric costs under them follows from its sensitivity and its scale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
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


def loss(curated: Curated, span: str, adjacency: str | None = None) -> Loss:
    """What ``curated`` costs one sensor over ``span``, one of ``SPANS``, under its own ``adjacency`` or another."""
    one = curated if adjacency is None else replace(curated, adjacency=adjacency)
    spent = releases(curated)[span] * one.loss
    nothing = Fraction(0)
    return Loss(nothing, spent, curated.delta) if curated.gaussian else Loss(spent, nothing, None)


def mixed(metrics: Iterable[Curated]) -> bool:
    """Whether metrics differ in their neighbours, so that ``total`` is for those of ``replace``."""
    return len({each.adjacency for each in metrics}) > 1


def total(metrics: Iterable[Curated], span: str) -> Loss:
    """What all of them cost one sensor. Delta is the least of theirs, which gives the larger epsilon.

    Where neighbours differ, all are taken at ``replace``: an ``add-remove`` epsilon then counts for up to twice as
    much, and a rho for up to four times.
    """
    metrics = list(metrics)
    adjacency = "replace" if mixed(metrics) else None
    parts = [loss(curated, span, adjacency) for curated in metrics]
    deltas = [part.delta for part in parts if part.delta is not None]
    return Loss(
        sum((part.pure for part in parts), Fraction(0)),
        sum((part.rho for part in parts), Fraction(0)),
        min(deltas, default=None),
    )
