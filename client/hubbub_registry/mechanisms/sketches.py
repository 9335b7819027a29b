"""What the two sketches share: their TOML keys, and the calibration of a flip probability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from hubbub_client.records import bits_for
from hubbub_registry.calibration import smallest_noise
from hubbub_registry.mechanisms import Key, Settings

MAX_HASHES = 1 << 20


def sketch_keys(max_width: int) -> Mapping[str, Key]:
    """``hashes`` (k) and ``width`` (m)."""
    return {"hashes": Key("power-of-two", 1, MAX_HASHES), "width": Key("power-of-two", 2, max_width)}


def sketch_parameters(
    settings: Settings, worst_ratio: Callable[[dict[str, int]], tuple[int, int]]
) -> Mapping[str, int]:
    """The plan's integers, with the smallest flip probability that epsilon allows. Raises CalibrationError."""

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({"threshold": threshold, "precision": precision}))

    threshold, precision = smallest_noise(settings.epsilon, ratio)
    return {
        "hashes_bits": bits_for(settings.keys["hashes"]),
        "width_bits": bits_for(settings.keys["width"]),
        "threshold": threshold,
        "precision": precision,
        "salt": settings.salt,
    }
