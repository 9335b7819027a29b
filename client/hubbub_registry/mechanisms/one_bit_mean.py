"""Calibrates the one-bit mean: the least permanent flip within epsilon (Ding, Kulkarni, Yekhanin 2017, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.one_bit_mean import permanent_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, CalibrationError, Field, KeyProblem
from hubbub_registry.mechanisms import Key, Settings
from hubbub_registry.mechanisms.ranges import (
    EXTRA_BITS,
    PERTURBATION_KEYS,
    RANGE_KEYS,
    flip_parameters,
    range_parameters,
    range_problems,
)

KEYS: Mapping[str, Key] = {
    **RANGE_KEYS,
    "points": Key("integer", 2, 1 << 16, required=False, default=2),
    **PERTURBATION_KEYS,
}


def closed(_keys: Mapping[str, Any]) -> bool:
    """The integers of the range are no list."""
    return False


def labels(_keys: Mapping[str, Any]) -> tuple[str, ...]:
    """Nothing is counted: the result is one mean."""
    return ()


def calibrate(settings: Settings) -> Calibrated:
    """One bit differs between two values at most."""
    keys = settings.keys
    problems = range_problems(keys)
    if not problems and keys["points"] > keys["high"] - keys["low"] + 1:
        problems.append(
            KeyProblem("points", f"{keys['points']} are more than the range has integers", "use fewer, such as 2")
        )
    if problems:
        raise CalibrationError(*problems)
    bounds = range_parameters(keys)
    parameters = {
        **bounds,
        "points": keys["points"],
        "alpha_bits": bits_for(bounds["span"]) + EXTRA_BITS,
        "end_bits": EXTRA_BITS,
        **flip_parameters(settings, differing=1),
    }
    return Calibrated(parameters, (Field("bit", 1),), Fraction(*permanent_ratio(parameters)))
