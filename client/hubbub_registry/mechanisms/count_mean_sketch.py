"""Calibrates the count mean sketch: each bit flipped with 1/(1 + e^(epsilon/2)) (Apple 2017, algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hubbub_client.mechanisms.count_mean_sketch import worst_ratio
from hubbub_registry.calibration import Calibrated, Field, field_of
from hubbub_registry.mechanisms import Settings
from hubbub_registry.mechanisms.sketches import sketch_keys, sketch_parameters

KEYS = sketch_keys(max_width=1 << 14)


def closed(_keys: Mapping[str, Any]) -> bool:
    """Any value can be reported; candidates are named when decoding."""
    return False


def calibrate(settings: Settings) -> Calibrated:
    """The smallest flip probability that epsilon allows; a whole row is sent."""
    hashes, width = settings.keys["hashes"], settings.keys["width"]
    return Calibrated(sketch_parameters(settings, worst_ratio), (field_of("hash", hashes), Field("row", width)))
