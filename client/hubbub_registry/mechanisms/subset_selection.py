"""Calibrates subset selection, and chooses how many values are sent (Ye, Barg, IEEE Trans. Inf. Theory 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.subset_selection import MOST_VALUES, worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, CalibrationError, Field, KeyProblem, largest_signal
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Key, Settings

KEYS: Mapping[str, Key] = {}
# A value is drawn from this many bits more than it needs; the bias that is left is in the exact epsilon.
EXTRA_BITS = 64


def closed(_keys: Mapping[str, Any]) -> bool:
    """Values always come from a list."""
    return True


def support_rates(share: Fraction, size: int, domain: int) -> tuple[Fraction, Fraction]:
    """The probabilities that a report's set holds the device's value, which is ``share``, and that it holds another.

    Either way it holds ``size`` values.
    """
    return share, (size - share) / (domain - 1)


def best_size(ratio: Fraction, domain: int) -> int:
    """The size with the least variance of a rare value's estimate: one of the two integers around d / (E + 1)."""

    def variance(size: int) -> Fraction:
        p, q = support_rates(ratio * size / (ratio * size + domain - size), size, domain)
        return q * (1 - q) / (p - q) ** 2

    about = int(domain / (ratio + 1))
    return min({max(1, about), min(about + 1, domain - 1)}, key=variance)


def calibrate(settings: Settings) -> Calibrated:
    """The best size, and the largest share of sets with the device's value that epsilon allows for it."""
    domain = settings.domain
    if domain > MOST_VALUES:
        what = f"subset selection sends a bit for each value, at most {MOST_VALUES}; here are {domain}"
        raise CalibrationError(KeyProblem("values", what, "choose projective-geometry-response: two bytes, as exact"))
    size = best_size(exp_lower(settings.epsilon), domain)
    fixed = {"domain": domain, "size": size, "draw_bits": bits_for(domain - 1) + EXTRA_BITS}

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({**fixed, "threshold": threshold, "precision": precision}))

    threshold, precision = largest_signal(settings.epsilon, ratio)
    return Calibrated({**fixed, "threshold": threshold, "precision": precision}, (Field("bits", domain),))
