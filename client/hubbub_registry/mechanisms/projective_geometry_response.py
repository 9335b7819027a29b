"""Calibrates projective geometry response, and chooses its geometry (Feldman, Nelson, Nguyen, Talwar, ICML 2022,
section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.projective_geometry_response import MOST_ORDER, points_in, worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, CalibrationError, KeyProblem, field_of, largest_signal
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Key, Settings

KEYS: Mapping[str, Key] = {}
# A uniform point is drawn from this many bits more than it needs; the bias that is left is in the exact epsilon.
EXTRA_BITS = 64
# A decoder holds a table of order**dimension counts, order - 1 for each point.
MOST_POINTS = 1 << 18
_PRIMES = [n for n in range(2, MOST_ORDER) if all(n % i for i in range(2, int(n**0.5) + 1))]


def closed(_keys: Mapping[str, Any]) -> bool:
    """Values always come from a list."""
    return True


def geometries(domain: int) -> Iterator[tuple[int, int]]:
    """Every (order, dimension) with a point for each value, the smallest dimension of each order."""
    for order in _PRIMES:
        dimension = 2
        while points_in(order, dimension) < domain:
            dimension += 1
        if points_in(order, dimension) <= MOST_POINTS:
            yield order, dimension


def support_rates(share: Fraction, order: int, dimension: int) -> tuple[Fraction, Fraction]:
    """The probabilities that a report supports the device's value, and that it supports another.

    ``share`` is the probability of an owned draw. A value owns (q**(t-1) - 1)/(q - 1) of the points, and shares
    (q**(t-2) - 1)/(q - 1) of them with any other.
    """
    points, owned = points_in(order, dimension), points_in(order, dimension - 1)
    common = points_in(order, dimension - 2)
    anywhere = (1 - share) * Fraction(owned, points)
    return anywhere + share, anywhere + share * Fraction(common, owned)


def best_geometry(ratio: Fraction, domain: int) -> tuple[int, int]:
    """The geometry with the least variance of a rare value's estimate; the order is about E + 1."""

    def variance(geometry: tuple[int, int]) -> Fraction:
        points, owned = points_in(*geometry), points_in(geometry[0], geometry[1] - 1)
        share = (ratio - 1) * owned / ((ratio - 1) * owned + points)
        p, q = support_rates(share, *geometry)
        return q * (1 - q) / (p - q) ** 2

    return min(geometries(domain), key=variance)


def calibrate(settings: Settings) -> Calibrated:
    """The best geometry, and the largest share of owned points that epsilon allows in it."""
    domain = settings.domain
    if domain > MOST_POINTS // 2:
        raise CalibrationError(
            KeyProblem("values", f"{domain} values are more than {MOST_POINTS // 2}", "choose a sketch")
        )
    order, dimension = best_geometry(exp_lower(settings.epsilon), domain)
    points = points_in(order, dimension)
    fixed = {"order": order, "dimension": dimension, "uniform_bits": bits_for(points) + EXTRA_BITS}

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({**fixed, "threshold": threshold, "precision": precision}))

    threshold, precision = largest_signal(settings.epsilon, ratio)
    parameters = {"domain": domain, **fixed, "threshold": threshold, "precision": precision}
    return Calibrated(parameters, (field_of("point", points),))
