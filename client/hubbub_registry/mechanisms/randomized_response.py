"""Calibrates k-ary randomized response: p/q = e^epsilon over d values (Kairouz, Oh, Viswanath 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.randomized_response import worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, field_of, largest_signal
from hubbub_registry.mechanisms import Key, Settings

KEYS: Mapping[str, Key] = {}
# A uniform index is drawn from this many bits more than it needs; the bias that is left is in the exact epsilon.
EXTRA_BITS = 64


def closed(_keys: Mapping[str, Any]) -> bool:
    """Values always come from a list."""
    return True


def calibrate(settings: Settings) -> Calibrated:
    """The largest probability of the truth that epsilon allows."""
    domain = settings.domain
    fixed = {"domain": domain, "uniform_bits": bits_for(domain) + EXTRA_BITS}

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({**fixed, "threshold": threshold, "precision": precision}))

    threshold, precision = largest_signal(settings.epsilon, ratio)
    return Calibrated({**fixed, "threshold": threshold, "precision": precision}, (field_of("index", domain),))
