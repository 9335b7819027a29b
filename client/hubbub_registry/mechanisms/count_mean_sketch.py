"""Calibrates the count mean sketch: each bit flipped with 1/(1 + e^(epsilon/2)) (Apple 2017, algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.count_mean_sketch import worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, Field, field_of, smallest_noise
from hubbub_registry.mechanisms import Key, Settings

KEYS: Mapping[str, Key] = {
    "hashes": Key("power-of-two", 1, 1 << 20),
    "width": Key("power-of-two", 2, 1 << 14),
}


def closed(_keys: Mapping[str, Any]) -> bool:
    """Any value can be reported; candidates are named when decoding."""
    return False


def calibrate(settings: Settings) -> Calibrated:
    """The smallest flip probability that epsilon allows."""
    hashes, width = settings.keys["hashes"], settings.keys["width"]

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({"threshold": threshold, "precision": precision}))

    threshold, precision = smallest_noise(settings.epsilon, ratio)
    parameters = {
        "hashes_bits": bits_for(hashes),
        "width_bits": bits_for(width),
        "threshold": threshold,
        "precision": precision,
        "salt": settings.salt,
    }
    return Calibrated(parameters, (field_of("hash", hashes), Field("row", width)))
