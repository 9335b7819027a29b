"""Calibrates optimized unary encoding: p = 1/2, q = 1/(e^epsilon + 1) (Wang et al. 2017, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.unary_encoding import worst_ratio
from hubbub_registry.calibration import Calibrated, CalibrationError, Field, KeyProblem, smallest_noise
from hubbub_registry.mechanisms import Key, Settings

KEYS: Mapping[str, Key] = {}
MAX_DOMAIN = 1 << 16


def closed(_keys: Mapping[str, Any]) -> bool:
    """Values always come from a list."""
    return True


def calibrate(settings: Settings) -> Calibrated:
    """The smallest q that epsilon allows."""
    domain = settings.domain
    if domain > MAX_DOMAIN:
        raise CalibrationError(
            KeyProblem(
                "values",
                f"unary encoding sends a bit for each value, at most {MAX_DOMAIN}; here are {domain}",
                "choose a sketch or hadamard-response",
            )
        )

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({"threshold": threshold, "precision": precision}))

    threshold, precision = smallest_noise(settings.epsilon, ratio)
    return Calibrated({"domain": domain, "threshold": threshold, "precision": precision}, (Field("bits", domain),))
